import type { Snapshot } from "../active-config.ts";
import type { Attempt, Decision, Usage } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { RouterError } from "../contract/errors.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { DataPlane } from "../data-plane.ts";
import { errorEvent } from "../errors/dialects.ts";
import { allSaturated, stopping, upstreamError } from "../errors/upstream-errors.ts";
import type { ResponseWriter } from "../intake/response-writer.ts";
import { Claim } from "../state/claim.ts";
import { EventBoundary } from "../stream/event-boundary.ts";
import { UsageTap } from "../stream/usage-tap.ts";
import { responseLines } from "../wire/forwarded-headers.ts";
import type { Framing } from "../wire/framing.ts";
import type { Head } from "../wire/head.ts";
import { HEADER } from "../wire/header-names.ts";
import type { ResponseReader, UpstreamConnection, UpstreamFailure } from "../wire/upstream-connection.ts";
import { ownResponseLines } from "./response-lines.ts";
import type { Draft } from "./rewrite.ts";
import { tellChosen } from "./tell-chosen.ts";

/** How an answer ended: as a whole, without its client, broken off after its head, or with an error before it. */
export type Ending = "complete" | "client-left" | "broken" | RouterError;

/**
 * Carries one request to a replica and its answer back, bytes as they come. It tries the picks in order as long as it is
 * certain that no replica has worked on the request.
 */
export class Forwarding implements ResponseReader {
  readonly attempts: Attempt[] = [];
  /** Status the client got; 0 before. */
  status = 0;
  responseBytes = 0;
  /** When the first body byte came, on the router's clock; NaN before. */
  firstByteAtMs = Number.NaN;
  /** What the replica reported once its answer was complete. */
  usage: Usage | undefined;
  /** True once it is certain that no socket holds bytes of the request's body any more. */
  isBodyFree = false;

  readonly #request: InferenceRequest;
  readonly #draft: Draft;
  readonly #decision: Decision;
  readonly #snapshot: Snapshot;
  readonly #plane: DataPlane;
  readonly #response: ResponseWriter;
  readonly #ended: (ending: Ending) => void;
  readonly #openingEvents: number;
  /** Only where the answer is an event stream. */
  #boundary: EventBoundary | undefined;
  readonly #tap: UsageTap | undefined;
  #next = 0;
  #retriesLeft: number;
  #claim: Claim | undefined;
  #connection: UpstreamConnection | undefined;
  #isPromptWorkedOff = false;
  #isOver = false;
  #isNoted = false;
  /** Why the first try came to nothing: what the client is told when no other can be made. */
  #firstFailure: RouterError | undefined;

  constructor(
    routed: { request: InferenceRequest; draft: Draft; decision: Decision; snapshot: Snapshot; openingEvents: number },
    plane: DataPlane,
    response: ResponseWriter,
    ended: (ending: Ending) => void,
  ) {
    this.#request = routed.request;
    this.#draft = routed.draft;
    this.#decision = routed.decision;
    this.#snapshot = routed.snapshot;
    this.#plane = plane;
    this.#response = response;
    this.#ended = ended;
    this.#openingEvents = routed.openingEvents;
    if (routed.request.promptSpans.length > 0) this.#tap = new UsageTap();
    this.#retriesLeft = routed.snapshot.settings.limits.retries;
  }

  begin(): void {
    this.#tryNext();
  }

  /** Sends to the next pick that has a connection to spare. */
  #tryNext(): void {
    const { order } = this.#decision;
    while (this.#next < order.length) {
      const endpoint = order[this.#next]!;
      this.#next += 1;
      // What must not be delivered twice never goes out on a connection that the replica may just be closing.
      if (this.#sendTo(endpoint, !this.#request.isRepeatable)) return;
      this.attempts.push({ endpoint: endpoint.name, result: "saturated" });
    }
    this.#refuse(this.#firstFailure ?? allSaturated());
  }

  #sendTo(endpoint: Endpoint, isFresh: boolean): boolean {
    const connection = this.#plane.poolOf(endpoint).take(isFresh);
    if (connection === undefined) return false;
    this.#connection = connection;
    this.#claim = new Claim(this.#request, endpoint, this.#plane.load, this.#plane.prefixIndex);
    this.#isNoted = false;
    tellChosen(this.#snapshot.profile, this.#request, endpoint, this.#plane.log);
    connection.send(this.#draft.method, requestHead(this.#draft, endpoint), this.#draft.body, this);
    return true;
  }

  /** Prompt tokens believed cached where it was last sent; undefined without a prefix index. */
  get predictedTokens(): number | undefined {
    return this.#plane.prefixIndex && this.#claim?.predictedTokens;
  }

  // The answer, as the replica's connection reads it.

  head(head: Head, framing: Framing): void {
    this.#note(head.status);
    if (isOverload(head.status) && this.#hasSpare()) {
      this.#connection?.destroy();
      return this.#retry();
    }
    if (head.status >= 400) this.#claim?.withdraw();
    this.status = head.status;
    if (isEventStream(head)) this.#boundary = new EventBoundary(this.#openingEvents);
    const length = framing.kind === "length" ? framing.length : -1;
    const lines =
      responseLines(head) +
      (this.#claim ? ownResponseLines(this.#request, this.#claim.endpoint, this.#snapshot, this.#plane.log) : "");
    this.#response.start(head.status, head.reason, lines, length);
  }

  body(chunk: Buffer, spans: ArrayLike<number>, spanCount: number, isVerbatim: boolean): void {
    if (Number.isNaN(this.firstByteAtMs)) this.firstByteAtMs = this.#plane.clock.now();
    for (let i = 0; i < spanCount; i++) this.responseBytes += spans[2 * i + 1]! - spans[2 * i]!;
    this.#boundary?.read(chunk, spans, spanCount);
    if (!this.#isPromptWorkedOff && this.#boundary?.isOpeningOver !== false) {
      this.#isPromptWorkedOff = true;
      this.#claim?.firstByte();
    }
    this.#tap?.read(chunk, spans, spanCount);
    if (!this.#response.write(chunk, spans, spanCount, isVerbatim)) this.#connection?.pause();
  }

  readDone(): void {
    if (!this.#isOver) this.#response.flush();
  }

  end(isVerbatimEnd: boolean): void {
    this.isBodyFree = this.attempts.length === 1 && this.#connection?.hasSentAll === true;
    if (this.status < 300) this.#report(this.#tap?.finish());
    this.#finish("complete", () => this.#response.end(isVerbatimEnd));
  }

  failed(failure: UpstreamFailure): void {
    this.#note(failure);
    this.#connection = undefined;
    if (this.#response.hasStarted) return this.#breakOff(upstreamError(failure));
    if (failure === "stale") return this.#retryStale();
    const isUnsent = failure === "connect-failed" || failure === "connect-timeout";
    if (isUnsent && this.#claim !== undefined) this.#plane.connectFailed(this.#claim.endpoint);
    this.#firstFailure ??= upstreamError(failure);
    if (isUnsent && this.#hasSpare()) return this.#retry();
    this.#refuse(upstreamError(failure));
  }

  // What the client's side does.

  drained(): void {
    this.#connection?.resume();
  }

  clientGone(): void {
    this.#note("aborted");
    this.#finish("client-left", () => this.#connection?.destroy());
  }

  /** The router stops by force. */
  stop(): void {
    if (this.#response.hasStarted) this.#breakOff(stopping());
    else this.#refuse(stopping());
  }

  // Ways on and out.

  #hasSpare(): boolean {
    return this.#retriesLeft > 0 && this.#next < this.#decision.order.length;
  }

  #retry(): void {
    this.#retriesLeft -= 1;
    this.#dropClaim();
    this.#tryNext();
  }

  /**
   * A kept-alive connection that dies before a byte of the answer had almost always been closed by the replica before it
   * saw the request. The same replica gets it once more on a fresh connection, where the same end would be a real failure.
   */
  #retryStale(): void {
    const endpoint = this.#claim?.endpoint;
    this.#dropClaim();
    if (endpoint !== undefined && this.#sendTo(endpoint, true)) return;
    this.#refuse(allSaturated());
  }

  #dropClaim(): void {
    this.#claim?.withdraw();
    this.#claim?.release();
    this.#claim = undefined;
  }

  #refuse(error: RouterError): void {
    this.#claim?.withdraw();
    this.#finish(error, () => this.#connection?.destroy());
  }

  /** The answer had begun: the client must see that it is not complete. */
  #breakOff(error: RouterError): void {
    const { id, dialect } = this.#request;
    this.#finish("broken", () => {
      this.#connection?.destroy();
      this.#response.abort(this.#boundary === undefined ? "" : this.#boundary.closing() + errorEvent(error, dialect, id));
    });
  }

  #finish(ending: Ending, close: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#tap?.close();
    this.#claim?.release();
    close();
    this.#connection = undefined;
    this.#ended(ending);
  }

  #report(usage: Usage | undefined): void {
    if (usage === undefined || this.#isOver) return;
    const { api, parsedTokens } = this.#request;
    this.usage = usage;
    this.#plane.tokenScale.learn(api, parsedTokens, usage.promptTokens);
    this.#claim?.report(usage);
  }

  /** One entry for each try; what ends an answer that had begun replaces its status. */
  #note(result: Attempt["result"]): void {
    if (this.#isNoted) this.attempts.pop();
    this.attempts.push({ endpoint: this.#claim?.endpoint.name ?? "", result });
    this.#isNoted = true;
  }
}

/** The request's head as written to `endpoint`. */
function requestHead(draft: Draft, { url }: Endpoint): string {
  return `${draft.method} ${url.basePath}${draft.pathAndQuery} HTTP/1.1\r\nHost: ${url.hostHeader}\r\n${draft.lines}\r\n`;
}

function isEventStream(head: Head): boolean {
  return head.begins(HEADER["content-type"], "text/event-stream");
}

/** A replica that says it can't take the request has not worked on it. */
function isOverload(status: number): boolean {
  return status === 503 || status === 429;
}
