import type { Endpoint } from "../contract/endpoint.ts";
import type { Usage } from "../contract/outcome.ts";
import type { BodyForm, ReportTap } from "../contract/slots/inflate.ts";
import type { Tap } from "../contract/slots/tap.ts";
import type { ReadConnection } from "../pool/connections.ts";
import type { Run } from "../run.ts";
import type { Content } from "../state/traffic.ts";
import { hasGenerated } from "../stream/generated-text.ts";
import { type Flaw, isAnswer, type ResponseCheck } from "../stream/response-check.ts";
import { UsageTap } from "../stream/usage-tap.ts";
import { WholeEvents } from "../stream/whole-events.ts";
import type { Framing } from "../wire/framing.ts";
import type { Head } from "../wire/head.ts";
import { isCoded, isEventStream, saysEventStream } from "../wire/media-type.ts";
import type { UpstreamFailure } from "../wire/response-reader.ts";
import { PassingResponse, tapsOf } from "./passing-response.ts";
import { linesOf, responseLinesFor } from "./response-lines.ts";
import { checkFor, shapeFor } from "./response-shape.ts";
import type { ReaderOwner, TryReader } from "./try-reader.ts";

const NO_BYTES = Buffer.alloc(0);
const NO_TAPS: readonly Tap[] = [];
/** The status of a response that was stopped by another call. */
const CANCELLED = "cancelled";

/**
 * Passes one response on, from a replica's connection to the client, as its bytes come, and notes in the ticket what came: status, bytes,
 * usage. It knows nothing of load.
 */
export class Relay implements TryReader {
  readonly connection: ReadConnection;
  readonly #endpoint: Endpoint;
  readonly #run: Run;
  #owner!: ReaderOwner;
  #state: "waiting" | "opening" | "generating" | "over" = "waiting";
  /** Set only if the response is an event stream. */
  #events: WholeEvents | undefined;
  #tap: ReportTap | undefined;
  /** Of features. */
  #taps = NO_TAPS;
  /** Set only if it is known what the response must have. */
  #check: ResponseCheck | undefined;
  /** Whether anything was generated, by what came so far. */
  #content: Content = "unread";
  /** The response has a declared length, which is passed on: nothing can be put behind it. */
  #hasLength = false;
  /** The head, until it is passed on: with the bytes that came in the same read, which may say that the replica refuses the request. */
  #head: Head | undefined;
  /** The last chunk of the replica's framing was not passed on. */
  #isEndHeld = false;
  /** Of the body, as the client is told; -1 if it is not known. */
  #length = -1;
  #isBodyFreed = false;

  constructor(endpoint: Endpoint, connection: ReadConnection, run: Run) {
    this.#endpoint = endpoint;
    this.connection = connection;
    this.#run = run;
  }

  reportTo(owner: ReaderOwner): void {
    this.#owner = owner;
  }

  get takesErrorEvent(): boolean {
    return this.#events?.isBetween === true;
  }

  get isStream(): boolean {
    return this.#run.ticket.request?.isStream === true;
  }

  get hasTokens(): boolean {
    return this.#state === "generating";
  }

  get awaitsToken(): boolean {
    return this.#state === "waiting" || (this.#state === "opening" && isAnswer(this.#run.ticket.status));
  }

  resume(): void {
    for (const tap of this.#taps) tap.resumed?.();
    this.connection.resume();
  }

  endResponse(isVerbatimEnd: boolean): void {
    (this.#events ?? this.#run.response).end(isVerbatimEnd && !this.#isEndHeld);
  }

  flaw(): Flaw | undefined {
    const flaw = this.#check?.flaw(this.#tap?.tail() ?? NO_BYTES, this.#run.ticket.responseBytes, this.#events?.stream);
    return flaw?.isCut && this.#hasLength ? { ...flaw, isCut: false } : flaw;
  }

  get usage(): Usage | undefined {
    return this.#run.ticket.usage;
  }

  get content(): Content {
    return this.#content;
  }

  hasEnd(): boolean {
    const stream = this.#events?.stream;
    if (stream?.isBetween !== true || this.#check === undefined || this.#state === "over") return false;
    return this.#check.hasEnd(this.#tap?.tail() ?? NO_BYTES, this.#run.ticket.responseBytes, stream);
  }

  /** What the response says of its generation goes into the ticket; its usage only with `isSound`. */
  close(isSound: boolean): void {
    this.#state = "over";
    for (const tap of this.#taps) tap.end(isSound);
    if (this.#tap === undefined) return;
    // A read may have cut what was looked for.
    if (!isSound) this.#content = "unread";
    else if (this.#content === "none") this.#lookAt(bufferOf(this.#tap.tail() ?? NO_BYTES));
    const { ticket } = this.#run;
    const { usage, outputTokens, isOutputEstimated, finishReason } = this.#tap.finish(
      isSound,
      ticket.responseBytes,
      this.#events?.stream.ended,
      // What an error says is no token.
      this.#check?.hasShown === false ? 0 : ticket.request!.maxOutputTokens || Number.POSITIVE_INFINITY,
    );
    ticket.usage = usage;
    ticket.outputTokens = outputTokens;
    ticket.isOutputEstimated = isOutputEstimated;
    ticket.finishReason = finishReason;
    // That it is empty says nothing of the replica.
    if (finishReason === CANCELLED) this.#content = "unread";
  }

  // Called by the connection while it reads the response.

  head(head: Head, framing: Framing): void {
    if (!this.#owner.responded(head)) return;
    this.#state = "opening";
    const { ticket, response } = this.#run;
    const { openingEvents = 0, responses } = this.#run.parser!.plugin;
    const request = ticket.request!;
    ticket.status = head.status;
    const isGenerated = head.status < 300 && request.promptSpans.length > 0;
    const shape = shapeFor(head, request, responses?.[ticket.path]);
    if (isEventStream(head)) this.#events = new WholeEvents(openingEvents, response, shape?.hasTypes);
    this.#check = checkFor(head, shape, this.#events !== undefined);
    if (isGenerated || this.#check !== undefined) {
      const hasText = isGenerated && responses?.[ticket.path]?.events !== undefined;
      const form = formOf(head, hasText);
      this.#tap = isCoded(head)
        ? this.#run.config.slots.inflate[0]?.plugin.inflate(this.#run, head, form)
        : new UsageTap(request.dialect, form);
      if (hasText && this.#check !== undefined) this.#content = "none";
    }
    // A stream whose end is judged must have room for an error event.
    const isOpen = this.#check !== undefined && this.#events !== undefined;
    this.#hasLength = framing.kind === "length" && !isOpen;
    this.#length = this.#hasLength ? framing.length : -1;
    this.#head = head;
  }

  /** Passes the head on. */
  #start(head: Head): void {
    const { ticket, config, parts, response } = this.#run;
    this.#head = undefined;
    const lines = responseLinesFor(head, ticket.request!, this.#endpoint, config, parts.services.log, linesOf(this.#run));
    response.start(head.status, head.reason, lines, this.#length);
    if (config.slots.tap.length > 0)
      this.#taps = tapsOf(this.#run, new PassingResponse(head, this.#length, response, this.#events));
  }

  body(chunk: Buffer, spans: ArrayLike<number>, spanCount: number, isVerbatim: boolean): void {
    const { ticket, parts, response } = this.#run;
    const events = this.#events;
    this.#check?.read(chunk, spans, spanCount);
    if (this.#head !== undefined) {
      if (this.#check?.hasShown === false && spanCount > 0) {
        const status = this.#check.statusAtOnce(chunk.subarray(spans[0], spans[1]));
        if (status > 0 && !this.#owner.refused(status)) return;
      }
      this.#start(this.#head);
    }
    for (let i = 0; i < spanCount; i++) ticket.responseBytes += spans[2 * i + 1]! - spans[2 * i]!;
    events?.stream.read(chunk, spans, spanCount);
    if (this.#content === "none") this.#look(chunk, spans, spanCount);
    if (this.#state === "opening") this.#opened(parts.services.clock.now());
    this.#tap?.read(chunk, spans, spanCount);
    for (const tap of this.#taps) tap.read(chunk, spans, spanCount);
    // As long as it is not known that nothing is missing, the client must not get the end.
    if (isVerbatim && this.#check !== undefined && hasLastChunk(chunk, spans, spanCount)) this.#isEndHeld = true;
    if (!(events ?? response).write(chunk, spans, spanCount, isVerbatim && !this.#isEndHeld)) this.#pause();
  }

  readDone(): void {
    if (this.#state === "over") return;
    if (this.#head !== undefined) this.#start(this.#head);
    this.#tap?.readDone();
    this.#run.response.flush();
    // Not before: a response that came whole frees the body in a moment anyway.
    if (this.#state !== "waiting" && !this.#isBodyFreed && this.connection.hasSentAll)
      this.#isBodyFreed = this.#owner.delivered();
  }

  end(isVerbatimEnd: boolean): void {
    if (this.#head !== undefined) this.#start(this.#head);
    this.#owner.completed(isVerbatimEnd);
  }

  failed(failure: UpstreamFailure, isDelivered: boolean): void {
    if (this.#head !== undefined) this.#start(this.#head);
    this.#owner.failed(failure, isDelivered);
  }

  /** Bytes came before the opening events were over, or before it was seen that they are no error. */
  #opened(nowMs: number): void {
    const { times } = this.#run.ticket;
    if (Number.isNaN(times.firstByteAtMs)) times.firstByteAtMs = nowMs;
    if (this.#events?.stream.isOpeningOver === false || this.#check?.hasShown === false) return;
    this.#state = "generating";
    this.#owner.promptProcessed(nowMs, this.#content !== "none");
  }

  /** The first text of most responses is in their first or second event. */
  #look(chunk: Buffer, spans: ArrayLike<number>, spanCount: number): void {
    for (let i = 0; i < spanCount && this.#content === "none"; i++) this.#lookAt(chunk, spans[2 * i]!, spans[2 * i + 1]!);
  }

  #lookAt(bytes: Buffer, start = 0, end = bytes.length): void {
    if (hasGenerated(bytes, start, end)) this.#content = "some";
  }

  /** The client can't take more bytes now. */
  #pause(): void {
    this.#owner.held();
    for (const tap of this.#taps) tap.paused?.();
    this.connection.pause();
  }
}

/** The same bytes. */
function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

/** Whether the end of the chunked framing stands behind the data: more than the two bytes that end a chunk. */
function hasLastChunk(chunk: Buffer, spans: ArrayLike<number>, spanCount: number): boolean {
  return spanCount === 0 || chunk.length - spans[2 * spanCount - 1]! > 2;
}

/** `hasText`: it is a response of an API that generates text, which are those that have streams. */
function formOf(head: Head, hasText: boolean): BodyForm {
  if (saysEventStream(head)) return "events";
  return hasText ? "document" : "no text";
}
