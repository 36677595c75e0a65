import type { Endpoint } from "../contract/endpoint.ts";
import type { Usage } from "../contract/outcome.ts";
import type { ReplicaConnection } from "../data-plane.ts";
import type { ResponseWriter } from "../intake/response-writer.ts";
import { Claim } from "../state/claim.ts";
import { EventBoundary } from "../stream/event-boundary.ts";
import type { CutEvent } from "../stream/open-event.ts";
import { type Generated, NOTHING_GENERATED, UsageTap } from "../stream/usage-tap.ts";
import { responseLines, responseLinesWithoutCors } from "../wire/forwarded-headers.ts";
import type { Framing } from "../wire/framing.ts";
import type { Head } from "../wire/head.ts";
import { HEADER } from "../wire/header-names.ts";
import { traceLine } from "../wire/trace-lines.ts";
import type { ResponseReader, UpstreamFailure } from "../wire/upstream-connection.ts";
import { type ExpectedLatency, expectedLatency } from "./expected-latency.ts";
import { KeepAlive } from "./keep-alive.ts";
import { pauseMs } from "./overload-pause.ts";
import { ownResponseLines } from "./response-lines.ts";
import { isOverload } from "./retry-policy.ts";
import { requestHead } from "./rewrite.ts";
import type { Sending } from "./sending.ts";
import { tellChosen } from "./tell-chosen.ts";
import { tellEnded } from "./tell-ended.ts";
import { UnlistedTry } from "./unlisted-try.ts";

/** The maker of an exchange: it decides what happens next. */
export interface ExchangeOwner {
  /** A response's head came. Returns true to pass the response on; false when it has dropped the exchange instead. */
  responded(status: number): boolean;
  /** A 404 came for the target, which the endpoint does not list. Returns as `responded` does. */
  missedTarget(): boolean;
  /**
   * The response is passed on, and the replica has the whole request: the connection does not need its body any more. Returns true
   * if the body is freed; else it is asked again with the next bytes.
   */
  delivered(): boolean;
  /** The whole response was passed on. */
  completed(): void;
  failed(failure: UpstreamFailure, isDelivered: boolean): void;
}

/**
 * One try at one endpoint: sends the request, passes the response on as its bytes come, and reads the usage from it. It counts
 * in the endpoint's load from its creation to its end, however it ends.
 */
export class Exchange implements ResponseReader {
  readonly endpoint: Endpoint;
  /** Status of the response that is passed on; 0 before. */
  status = 0;
  responseBytes = 0;
  /** When the first body byte came, in milliseconds on the router's clock; NaN before. */
  firstByteAtMs = Number.NaN;
  /** What its response says of the generation; set when it has ended. */
  generated: Generated = NOTHING_GENERATED;
  /** True once it has ended. */
  isOver = false;

  readonly #sending: Sending;
  readonly #connection: ReplicaConnection;
  readonly #response: ResponseWriter;
  readonly #owner: ExchangeOwner;
  readonly #claim: Claim;
  /** Set only if the endpoint does not list the target. */
  readonly #unlisted: UnlistedTry | undefined;
  /** Set only if the response is an event stream. */
  #boundary: EventBoundary | undefined;
  #keepAlive: KeepAlive | undefined;
  #tap: UsageTap | undefined;
  #isPromptWorkedOff = false;
  #hasSentAll = false;
  #isBodyFreed = false;
  /** Its response is not read, because the client takes nothing. */
  #isHeld = false;
  #wasHeld = false;
  /** When it began, in milliseconds on the router's clock. */
  readonly beganAtMs: number;
  /** When it ended, on the same clock; NaN before. */
  endedAtMs = Number.NaN;
  /** When the request was handed to the connection; NaN before. */
  dispatchedAtMs = Number.NaN;
  readonly expected: ExpectedLatency;
  /** Milliseconds from its beginning to the first token of a stream; NaN before. */
  #firstTokenMs = Number.NaN;
  /** Prompt tokens that the endpoint works off before this request's first token, its own included. */
  readonly #tokensAhead: number;

  constructor(
    endpoint: Endpoint,
    connection: ReplicaConnection,
    sending: Sending,
    response: ResponseWriter,
    owner: ExchangeOwner,
    nowMs: number,
  ) {
    const { request, config, plane } = sending;
    this.endpoint = endpoint;
    this.#connection = connection;
    this.#sending = sending;
    this.#response = response;
    this.#owner = owner;
    this.beganAtMs = nowMs;
    const before = plane.load.at(nowMs);
    this.#tokensAhead = before.remainingPrefill(endpoint.slot);
    this.expected = expectedLatency(config.profile, request, endpoint, before, plane.pluginFaults);
    tellChosen(config.profile, request, endpoint, before, plane.log);
    this.#claim = new Claim(request, endpoint, plane.load, plane.prefixIndex, nowMs);
    this.#tokensAhead += this.#claim.uncachedTokens;
    this.#unlisted = UnlistedTry.of(request, endpoint, plane, this, () => owner.missedTarget());
    plane.traffic.sent(request, endpoint, nowMs);
  }

  /** Sends the request; `tries` were made before. The exchange may end synchronously, so store it first. */
  begin(tries = 0): void {
    const { draft, config, plane, trace } = this.#sending;
    const head = requestHead(draft, this.endpoint, config.settings.credentials, trace && traceLine(trace, tries));
    this.dispatchedAtMs = plane.clock.now();
    this.#connection.send(draft.method, head, draft.body, this.#unlisted ?? this);
  }

  /** Prompt tokens believed cached at the endpoint; undefined without a prefix index. */
  get predictedTokens(): number | undefined {
    return this.#sending.plane.prefixIndex && this.#claim.predictedTokens;
  }

  /** True when it is certain that the connection does not need the request's body any more. */
  get hasSentAll(): boolean {
    // Once true it stays so: the connection may carry another request by now.
    this.#hasSentAll ||= this.#connection.hasSentAll;
    return this.#hasSentAll;
  }

  /** Where its event stream stands now; undefined if the response is none. */
  get cut(): CutEvent | undefined {
    return this.#boundary?.cut();
  }

  /** The client can take more bytes. */
  resume(): void {
    if (this.#isHeld) this.#release(this.#sending.plane.clock.now());
    this.#keepAlive?.resume();
    this.#connection.resume();
  }

  /** Ends it without a call to its owner: no client waits for the response any more. */
  close(): void {
    if (this.isOver) return;
    const { request, plane } = this.#sending;
    this.#claim.abandoned(plane.clock.now());
    this.#settle();
    plane.traffic.abandoned(request, this.endpoint, this.beganAtMs);
    this.#connection.destroy();
  }

  /** The replica says that it has not worked on the request: the response is not passed on. */
  drop(status: number): void {
    this.#claim.withdraw();
    this.#settle();
    const { request, plane } = this.#sending;
    plane.traffic.responded(request, this.endpoint, status, this.beganAtMs, this.endedAtMs);
    if (!this.#unlisted?.hasWhole) this.#connection.destroy();
  }

  // Called by the connection while it reads the response.

  head(head: Head, framing: Framing): void {
    if (isOverload(head.status)) this.#pauseEndpoint(head);
    if (!this.#owner.responded(head.status)) return;
    if (head.status >= 400) this.#claim.withdraw();
    const { request, openingEvents, config, plane } = this.#sending;
    this.status = head.status;
    if (head.status === 404 && this.endpoint.models.has(request.target)) plane.checkModels(this.endpoint);
    if (isEventStream(head)) this.#boundary = new EventBoundary(openingEvents);
    const isGenerated = head.status < 300 && request.promptSpans.length > 0;
    if (isGenerated) this.#tap = new UsageTap(this.#boundary !== undefined, request.dialect);
    const length = framing.kind === "length" ? framing.length : -1;
    const kept = config.settings.cors === undefined ? responseLines(head) : responseLinesWithoutCors(head);
    const lines = kept + ownResponseLines(request, this.endpoint, config, plane.log);
    this.#response.start(head.status, head.reason, lines, length);
    this.#tellDelivered();
    // A body of a declared length has no room for more.
    if (length < 0) this.#startKeepAlive();
  }

  body(chunk: Buffer, spans: ArrayLike<number>, spanCount: number, isVerbatim: boolean): void {
    if (Number.isNaN(this.firstByteAtMs)) this.firstByteAtMs = this.#sending.plane.clock.now();
    for (let i = 0; i < spanCount; i++) this.responseBytes += spans[2 * i + 1]! - spans[2 * i]!;
    this.#boundary?.read(chunk, spans, spanCount);
    if (!this.#isPromptWorkedOff && this.#boundary?.isOpeningOver !== false) {
      this.#isPromptWorkedOff = true;
      this.#promptWorkedOff(this.#sending.plane.clock.now());
    }
    if (!this.#isBodyFreed) this.#tellDelivered();
    this.#tap?.read(chunk, spans, spanCount);
    this.#keepAlive?.restart();
    if (!this.#response.write(chunk, spans, spanCount, isVerbatim)) this.#pause();
  }

  readDone(): void {
    if (!this.isOver) this.#response.flush();
  }

  end(isVerbatimEnd: boolean): void {
    if (this.isOver) return;
    this.#hasSentAll = this.#connection.hasSentAll;
    this.#settle(true);
    const { request, plane } = this.#sending;
    plane.traffic.responded(request, this.endpoint, this.status, this.beganAtMs, this.endedAtMs);
    this.#response.end(isVerbatimEnd);
    this.#owner.completed();
  }

  failed(failure: UpstreamFailure, isDelivered: boolean): void {
    if (this.isOver) return;
    if (this.status === 0) this.#claim.withdraw();
    this.#settle();
    const { request, plane } = this.#sending;
    plane.traffic.failed(request, this.endpoint, failure, this.beganAtMs, this.endedAtMs);
    this.#owner.failed(failure, isDelivered);
  }

  /** For a while it is not the first pick. */
  #pauseEndpoint(head: Head): void {
    const { load, clock } = this.#sending.plane;
    if (load.isCurrent(this.endpoint)) load.pause(this.endpoint.slot, clock.now() + pauseMs(head));
  }

  #startKeepAlive(): void {
    const { keepAlive, plane } = this.#sending;
    if (keepAlive === undefined || plane.silences === undefined || this.#boundary === undefined) return;
    this.#keepAlive = new KeepAlive(keepAlive, plane.silences, this.#boundary, this.#response);
  }

  /** The client can't take more bytes now. */
  #pause(): void {
    this.#hold();
    this.#keepAlive?.pause();
    this.#connection.pause();
  }

  #hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    this.#wasHeld = true;
    this.#sending.plane.traffic.held(this.#sending.request, this.endpoint);
  }

  #release(nowMs: number): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#sending.plane.traffic.released(this.#sending.request, this.endpoint, nowMs);
  }

  #promptWorkedOff(nowMs: number): void {
    const { request, plane } = this.#sending;
    this.#claim.firstByte(nowMs);
    if (!request.isStream || this.status >= 300) return;
    this.#firstTokenMs = nowMs - this.beganAtMs;
    plane.traffic.firstToken(this.endpoint, this.#firstTokenMs, this.#tokensAhead);
  }

  #tellDelivered(): void {
    if (!this.isOver && this.hasSentAll) this.#isBodyFreed = this.#owner.delivered();
  }

  #settle(isComplete = false): void {
    this.isOver = true;
    this.endedAtMs = this.#sending.plane.clock.now();
    this.#unlisted?.close();
    this.#release(this.endedAtMs);
    if (this.#tap !== undefined) this.generated = this.#tap.finish(isComplete);
    this.#learn(this.generated.usage);
    this.#keepAlive?.close();
    this.#claim.release(this.endedAtMs);
    this.#tellEnded(isComplete);
  }

  #tellEnded(isComplete: boolean): void {
    const { request, config, plane } = this.#sending;
    const { ended = [] } = config.profile;
    if (ended.length === 0) return;
    const { outputTokens } = this.generated;
    const endMs = this.endedAtMs - this.beganAtMs;
    const times = { firstTokenMs: this.#firstTokenMs, endMs, wasHeld: this.#wasHeld };
    const result = { status: this.status, isComplete, ...times, outputTokens };
    tellEnded(ended, request, this.endpoint, result, plane.log);
  }

  #learn(usage: Usage | undefined): void {
    if (usage === undefined) return;
    const { request, plane } = this.#sending;
    plane.tokenScale.reported(request, usage);
    this.#claim.report(usage);
  }
}

/** Whether the response comes as server-sent events. */
export function isEventStream(head: Head): boolean {
  return head.begins(HEADER["content-type"], "text/event-stream");
}
