import type { Endpoint } from "../contract/endpoint.ts";
import type { KeptStream } from "../features/feature.ts";
import type { ReadConnection } from "../pool/pool.ts";
import { ResponseCheck } from "../stream/response-check.ts";
import { UsageTap } from "../stream/usage-tap.ts";
import { WholeEvents } from "../stream/whole-events.ts";
import type { Framing } from "../wire/framing.ts";
import type { Head } from "../wire/head.ts";
import { isEventStream, isText } from "../wire/media-type.ts";
import type { ResponseReader, UpstreamFailure } from "../wire/response-reader.ts";
import type { ForwardRun } from "./forward-run.ts";
import { responseLinesFor } from "./response-lines.ts";

const NO_BYTES = Buffer.alloc(0);
const NONE: readonly string[] = [];

/** Who sent the request: it knows what the endpoint is, and what follows from what happens on the connection. */
export interface RelayOwner {
  /** A response's head came. Returns whether it is passed on; if not, the try is over. */
  responded(head: Head): boolean;
  /** The prompt is processed: a body byte came, of a stream one behind its opening events; and it is no error's. */
  promptProcessed(nowMs: number): void;
  /** The client takes no more bytes for now. */
  held(): void;
  /**
   * The response is passed on, and the replica has the whole request: the connection does not need its body any more. Returns true
   * if the body is freed; else it is asked again with the next bytes.
   */
  delivered(): boolean;
  /** The whole response was read; the owner lets the relay end it. */
  completed(isVerbatimEnd: boolean): void;
  failed(failure: UpstreamFailure, isDelivered: boolean): void;
}

/**
 * Passes one response on, from a replica's connection to the client, as its bytes come, and notes in the ticket what came: status, bytes,
 * usage. It knows nothing of load.
 */
export class Relay implements ResponseReader {
  readonly endpoint: Endpoint;
  readonly connection: ReadConnection;
  readonly #run: ForwardRun;
  readonly #owner: RelayOwner;
  #state: "waiting" | "opening" | "generating" | "over" = "waiting";
  /** Set only if the response is an event stream. */
  #events: WholeEvents | undefined;
  #tap: UsageTap | undefined;
  #keepAlive: KeptStream | undefined;
  /** Set only if it is known what the response must have. */
  #check: ResponseCheck | undefined;
  #isBodyFreed = false;

  constructor(endpoint: Endpoint, connection: ReadConnection, run: ForwardRun, owner: RelayOwner) {
    this.endpoint = endpoint;
    this.connection = connection;
    this.#run = run;
    this.#owner = owner;
  }

  /** Whether an error event can follow what was passed on: it is an event stream, and the client is between two events. */
  get takesErrorEvent(): boolean {
    return this.#events?.isBetween === true;
  }

  get hasTokens(): boolean {
    return this.#state === "generating";
  }

  /** The client can take more bytes. */
  resume(): void {
    this.#keepAlive?.resume();
    this.connection.resume();
  }

  /** Ends the client's response. `isVerbatimEnd`: see ResponseWriter.end. */
  endResponse(isVerbatimEnd: boolean): void {
    (this.#events ?? this.#run.response).end(isVerbatimEnd);
  }

  /** What a complete response lacks, in a few words; "" if it is what its API says. Asked before `close`. */
  lack(): string {
    return this.#check?.lack(this.#tap?.tail() ?? NO_BYTES, this.#run.ticket.responseBytes) ?? "";
  }

  /**
   * No more is passed on. What the response says of its generation goes into the ticket; its usage only with `isSound`: it came whole,
   * and lacks nothing.
   */
  close(isSound: boolean): void {
    this.#state = "over";
    this.#keepAlive?.close();
    if (this.#tap === undefined) return;
    const { ticket } = this.#run;
    const { usage, outputTokens, isOutputEstimated, finishReason } = this.#tap.finish(
      isSound,
      ticket.responseBytes,
      this.#events?.stream.ended,
    );
    ticket.usage = usage;
    ticket.outputTokens = outputTokens;
    ticket.isOutputEstimated = isOutputEstimated;
    ticket.finishReason = finishReason;
  }

  // Called by the connection while it reads the response.

  head(head: Head, framing: Framing): void {
    if (!this.#owner.responded(head)) return;
    this.#state = "opening";
    const { ticket, config, parts, incoming, response } = this.#run;
    const request = ticket.request!;
    ticket.status = head.status;
    if (isEventStream(head)) this.#events = new WholeEvents(incoming.parser.plugin.openingEvents ?? 0, response);
    const isGenerated = head.status < 300 && request.promptSpans.length > 0;
    const shape = head.status < 300 ? incoming.parser.plugin.responses?.[incoming.path] : undefined;
    // The replica was asked for no coding; where it has one all the same, nobody can say what the response is.
    if (shape !== undefined && isText(head, shape.unread ?? NONE))
      this.#check = new ResponseCheck(shape, this.#events !== undefined);
    if (isGenerated || this.#check !== undefined) this.#tap = new UsageTap(request.dialect);
    const length = framing.kind === "length" ? framing.length : -1;
    const limits = parts.features.access?.lines(ticket, request.dialect) ?? "";
    const lines = responseLinesFor(head, request, this.endpoint, config, parts.services.log, limits);
    response.start(head.status, head.reason, lines, length);
    // A body of a declared length has no room for more.
    if (length < 0 && this.#events !== undefined)
      this.#keepAlive = parts.features.streams?.keep(incoming, config, this.#events, response);
  }

  body(chunk: Buffer, spans: ArrayLike<number>, spanCount: number, isVerbatim: boolean): void {
    const { ticket, parts, response } = this.#run;
    const events = this.#events;
    for (let i = 0; i < spanCount; i++) ticket.responseBytes += spans[2 * i + 1]! - spans[2 * i]!;
    events?.stream.read(chunk, spans, spanCount);
    this.#check?.read(chunk, spans, spanCount);
    if (this.#state === "opening") this.#opened(parts.services.clock.now());
    this.#tap?.read(chunk, spans, spanCount);
    this.#keepAlive?.restart();
    if (!(events ?? response).write(chunk, spans, spanCount, isVerbatim)) this.#pause();
  }

  readDone(): void {
    if (this.#state === "over") return;
    this.#tap?.readDone();
    this.#run.response.flush();
    // Not before: a response that came whole frees the body in a moment anyway.
    if (this.#state !== "waiting" && !this.#isBodyFreed && this.connection.hasSentAll)
      this.#isBodyFreed = this.#owner.delivered();
  }

  end(isVerbatimEnd: boolean): void {
    this.#owner.completed(isVerbatimEnd);
  }

  failed(failure: UpstreamFailure, isDelivered: boolean): void {
    this.#owner.failed(failure, isDelivered);
  }

  /** Bytes came before the opening events were over, or before it was seen that they are no error. */
  #opened(nowMs: number): void {
    const { times } = this.#run.ticket;
    if (Number.isNaN(times.firstByteAtMs)) times.firstByteAtMs = nowMs;
    if (this.#events?.stream.isOpeningOver === false || this.#check?.hasShown === false) return;
    this.#state = "generating";
    this.#owner.promptProcessed(nowMs);
  }

  /** The client can't take more bytes now. */
  #pause(): void {
    this.#owner.held();
    this.#keepAlive?.pause();
    this.connection.pause();
  }
}
