import type { Leg } from "../../core/contract/decision.ts";
import type { Draft } from "../../core/contract/draft.ts";
import type { RequestRun } from "../../core/contract/slots/request-run.ts";
import type { ForwardOwner, Sending } from "../../core/contract/slots/send.ts";
import { addressOf, type Gateway, type Picked } from "../../core/pool/gateway.ts";
import type { Run } from "../../core/run.ts";
import type { Facts } from "../../core/state/facts.ts";
import { type Framing, NO_BODY } from "../../core/wire/framing.ts";
import type { Head } from "../../core/wire/head.ts";
import { HeadParser } from "../../core/wire/head-parser.ts";
import type { ResponseReader, UpstreamFailure } from "../../core/wire/response-reader.ts";
import type { TryWatch, WatchedTry } from "../../core/wire/watched-try.ts";
import type { EppShared } from "./epp-shared.ts";
import type { HeaderMap, HeaderMutation, HttpBody, HttpHeaders, ProcessingRequest, Struct } from "./ext-proc.ts";
import { DESTINATION, destinationMetadata, factsWithin, responseDetails, SERVED_HEADER, servedAddress } from "./gateway-facts.ts";
import type { GatewayResponse } from "./gateway-response.ts";
import type { Call } from "./grpc/call.ts";
import { Handover } from "./handover.ts";
import { responseHeadText } from "./head-text.ts";
import { headerChanges, setHeader } from "./header-changes.ts";
import { PIECE_BYTES, pieceMessage, responseMessage } from "./messages.ts";
import { MODE } from "./modes.ts";

const NO_BYTES = Buffer.alloc(0);
const STREAM: Framing = { kind: "chunked", length: 0 };
const HEAD_LIMITS = { headBytes: 64 * 1024, headerCount: 256 };

interface PassedRequestOptions {
  readonly call: Call;
  readonly shared: EppShared;
  readonly response: GatewayResponse;
  /** As the gateway has it. */
  readonly head: Head;
  /** How the request's body comes. */
  readonly mode: number;
  /** Addresses that it may go to; undefined for all. */
  readonly subset: ReadonlySet<string> | undefined;
}

/** A request that the gateway sends on, and the response that comes back through it. */
export class PassedRequest implements Gateway, WatchedTry {
  readonly hasSentAll = true;
  hasBody = false;
  hasTrailers = false;
  readonly #options: PassedRequestOptions;
  readonly #spans = new Int32Array(2);
  #picked: Picked | undefined;
  #watch: TryWatch | undefined;
  #silentSinceMs = 0;
  #longestGapMs = 0;
  #isPaused = false;
  #isBodyChanged = false;
  /** When the response must go on; infinite before the request is passed, and while nobody reads. */
  #deadlineMs = Number.POSITIVE_INFINITY;

  constructor(options: PassedRequestOptions) {
    this.#options = options;
  }

  reachable(facts: Facts): Facts {
    return factsWithin(facts, this.#options.subset);
  }

  bodyChanged(): void {
    this.#isBodyChanged = true;
  }

  handOver(run: RequestRun, leg: Leg, draft: Draft, owner: ForwardOwner): Sending {
    return new Handover(run as Run, this, leg, draft, owner);
  }

  pass(picked: Picked): void {
    const { head, mode, shared } = this.#options;
    this.#picked = picked;
    this.#watchOver(picked);
    this.#deadlineMs = shared.deadlines.nowMs + shared.limits.responseTimeoutMs;
    const destination = picked.order.map(addressOf).join(",");
    const { set_headers, remove_headers } = headerChanges(head, linesOf(picked.head));
    set_headers.push(setHeader(DESTINATION, destination));
    // Gateways that stream a body forget its length, which some replicas want to know.
    if (this.hasBody && !this.hasTrailers) set_headers.push(setHeader("content-length", String(bytesOf(picked.body))));
    const change = { set_headers, remove_headers };
    const metadata = destinationMetadata(destination);
    if (mode === MODE.buffered) this.#passWhole(picked.body, change, metadata);
    else this.#passStream(picked.body, change, metadata);
  }

  /** The gateway sends no body before it is told to go on. */
  awaitBody(): void {
    this.#options.call.send(responseMessage({ request_headers: { response: {} } }));
  }

  pause(): void {
    this.#isPaused = true;
    this.#options.call.hold(true);
  }

  resume(): void {
    this.#isPaused = false;
    this.#restart();
    this.#options.call.hold(false);
  }

  destroy(): void {
    this.over();
  }

  over(): void {
    this.#picked = undefined;
    this.#watch?.ends(this);
    this.#watch = undefined;
  }

  get watchState(): WatchedTry["watchState"] {
    if (this.#picked === undefined || this.#isPaused) return "idle";
    return this.#picked.reader.hasTokens ? "streaming" : "waiting";
  }

  get isStream(): boolean {
    return this.#picked?.reader.isStream === true;
  }

  get silenceMs(): number {
    return this.#options.shared.deadlines.awakeMs - this.#silentSinceMs;
  }

  get longestGapMs(): number {
    return this.#longestGapMs;
  }

  cut(): void {
    this.#fail("wedged", true);
  }

  sweep(nowMs: number): void {
    if (nowMs >= this.#deadlineMs && !this.#isPaused) this.#fail("timeout", true);
  }

  // From the gateway.

  responseHead(request: ProcessingRequest, { headers = {}, end_of_stream = false }: HttpHeaders): void {
    const { response, call } = this.#options;
    const picked = this.#picked;
    if (picked === undefined) return void call.send(responseMessage({ response_headers: { response: {} } }));
    this.#restart();
    const head = responseHeadOf(headers);
    if (head === undefined) return this.#fail("invalid", true);
    const failure = failureIn(responseDetails(request));
    const served = servedAddress(request, head.get(SERVED_HEADER));
    if (served !== undefined) picked.served(served);
    this.#watchOver(picked);
    if (failure === "passed-over") return this.#unserved(picked);
    if (failure !== undefined) return this.#fail(failure, failure === "timeout" || failure === "reset");
    response.headCame(head);
    const reader = picked.reader;
    reader.head(head, end_of_stream ? NO_BODY : framingOf(head));
    if (end_of_stream) this.#end(reader);
    else if (response.mode === MODE.none) picked.unread();
    reader.readDone();
    response.headSeen();
  }

  responseBody({ body = NO_BYTES, end_of_stream = false }: HttpBody): void {
    const { response, shared } = this.#options;
    const reader = this.#picked?.reader;
    if (reader === undefined) return;
    if (reader.hasTokens && this.silenceMs > this.#longestGapMs) this.#longestGapMs = this.silenceMs;
    this.#restart();
    const piece = body as Buffer;
    response.pieceCame(piece);
    if (piece.length > 0) {
      this.#spans[1] = piece.length;
      reader.body(piece, this.#spans, 1, false);
      if (reader.hasTokens) this.#watch?.heard(shared.deadlines.clockMs);
    }
    if (end_of_stream) this.#end(reader);
    reader.readDone();
    response.pieceSeen();
  }

  responseTrailers(): void {
    const reader = this.#picked?.reader;
    this.#options.response.hasTrailers = true;
    if (reader !== undefined) this.#end(reader);
  }

  #watchOver(picked: Picked): void {
    const { shared } = this.#options;
    this.#watch?.ends(this);
    this.#watch = shared.watchOf(picked.endpoint);
    this.#watch.begins(this);
    this.#silentSinceMs = shared.deadlines.awakeMs;
  }

  #end(reader: ResponseReader): void {
    this.over();
    reader.end(false);
  }

  #fail(failure: UpstreamFailure, isDelivered: boolean): void {
    const reader = this.#picked?.reader;
    this.over();
    reader?.failed(failure, isDelivered);
  }

  #unserved(picked: Picked): void {
    this.over();
    picked.unserved();
  }

  #restart(): void {
    const { deadlines, limits } = this.#options.shared;
    this.#deadlineMs = deadlines.nowMs + limits.streamIdleTimeoutMs;
    this.#silentSinceMs = deadlines.awakeMs;
  }

  /** The gateway waits for what becomes of the body that it has sent. */
  #passWhole(body: readonly Uint8Array[], header_mutation: HeaderMutation, dynamic_metadata: Struct): void {
    const isSame = body.length === 1 && !this.#isBodyChanged;
    const body_mutation = isSame ? undefined : { body: Buffer.concat(body) };
    const response = { header_mutation, body_mutation, clear_route_cache: true };
    this.#options.call.send(responseMessage({ request_body: { response }, dynamic_metadata }, bytesOf(body) + 1024));
  }

  #passStream(body: readonly Uint8Array[], header_mutation: HeaderMutation, dynamic_metadata: Struct): void {
    const { call } = this.#options;
    const response = { header_mutation, clear_route_cache: true };
    call.send(responseMessage({ request_headers: { response }, dynamic_metadata }, 1024));
    if (!this.hasBody) return;
    const pieces = piecesOf(body);
    pieces.forEach((piece, index) => {
      call.send(pieceMessage("request_body", piece, index === pieces.length - 1 && !this.hasTrailers));
    });
    if (this.hasTrailers) call.send(responseMessage({ request_trailers: {} }));
  }
}

/** Undefined for one that a connection to a replica would refuse, too. */
function responseHeadOf(headers: HeaderMap): Head | undefined {
  const parser = new HeadParser("response", HEAD_LIMITS);
  try {
    parser.push(Buffer.from(responseHeadText(headers), "latin1"), 0);
    return parser.head;
  } catch {
    return undefined;
  }
}

/** The header lines of a head. */
function linesOf(head: string): string {
  return head.slice(head.indexOf("\r\n") + 2);
}

function bytesOf(parts: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const part of parts) bytes += part.length;
  return bytes;
}

/** At least one, which may be empty. Small parts go together. */
function piecesOf(parts: readonly Uint8Array[]): readonly Uint8Array[] {
  const whole = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  if (whole.length <= PIECE_BYTES) return [whole];
  return Array.from({ length: Math.ceil(whole.length / PIECE_BYTES) }, (_, index) =>
    whole.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES),
  );
}

function framingOf(head: Head): Framing {
  const declared = head.get("content-length") ?? "";
  return /^\d{1,15}$/.test(declared) ? { kind: "length", length: Number(declared) } : STREAM;
}

/**
 * Why the gateway responds itself, where it says that it does; undefined for a replica's response. Without a word of a replica's
 * connection or of a time that passed it is the gateway's own affair: no host that it calls healthy, a full cluster, a refused request.
 */
function failureIn(details: string | undefined): UpstreamFailure | "passed-over" | undefined {
  if (details === undefined || details === "via_upstream") return undefined;
  if (/connection_failure/.test(details)) return "connect-failed";
  if (/connection_timeout/.test(details)) return "connect-timeout";
  if (/timeout/.test(details)) return "timeout";
  return /reset/.test(details) && !/overflow/.test(details) ? "reset" : "passed-over";
}
