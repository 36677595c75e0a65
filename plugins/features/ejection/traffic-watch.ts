import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { AttemptFailure } from "../../../core/contract/outcome.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import type { Content, Traffic } from "../../../core/state/traffic.ts";
import type { EndpointRecords } from "./endpoint-records.ts";
import { FailingKinds } from "./failing-kinds.ts";
import { type Blamed, fingerprint, RequestFaults } from "./request-faults.ts";
import { ServedPaths } from "./served-paths.ts";

/** Is told how requests went that were sent to an endpoint at `sentAtMs`. */
export interface RequestEnds {
  /** A request was sent there: the trial, if the endpoint is on trial. */
  sent(endpoint: Endpoint, nowMs: number): void;
  /** It says nothing of the endpoint: another one is its trial. */
  ended(endpoint: Endpoint, sentAtMs: number): void;
  /** `retract` takes back what counted against it. If it is out for nothing else, it returns. */
  cleared(endpoint: Endpoint, retract: () => void, nowMs: number): void;
  /** It failed: detectors look at the endpoint at once. */
  failed(endpoint: Endpoint, sentAtMs: number, nowMs: number): void;
  succeeded(endpoint: Endpoint, sentAtMs: number, nowMs: number): void;
}

export interface TrafficWatchOptions {
  readonly records: EndpointRecords;
  readonly ejector: RequestEnds;
  /** Prompt tokens that the pool's endpoints work off in a millisecond, the median of them. */
  readonly poolRate: () => number;
  readonly endpoints: () => readonly Endpoint[];
}

/** It says that the replica does not have the path, as llama.cpp does of embeddings where it was started without them. */
const NOT_IMPLEMENTED = 501;

/** What speaks against an endpoint: a failure, or a response that lacks something. */
type Failure = { readonly status: number } | { readonly what: string } | { readonly lack: string };

/**
 * Sorts what happens to requests into what speaks for an endpoint, what speaks against it, and what is the request's own fault:
 * - for it: a response below 500, but 429, and 404 for a model that it lists; a session (101) that did not break, whatever it took;
 * - against it: 5xx, no response, a broken one, one that lacks what its API's have; unless the same request failed in the same way on two
 *   endpoints and succeeded on none, or it is 5xx and the endpoint serves others while nobody serves such a request;
 * - neither: 429, 501, 404 for a path that no replica has served for that model or for what another replica has stored, and requests that
 *   were ended from this side.
 */
export class TrafficWatch implements Traffic {
  readonly #options: TrafficWatchOptions;
  readonly #faults = new RequestFaults();
  readonly #servedPaths = new ServedPaths();
  readonly #kinds: FailingKinds;
  /** Of requests whose body is freed. */
  readonly #fingerprints = new WeakMap<InferenceRequest, number>();

  constructor(options: TrafficWatchOptions) {
    this.#options = options;
    const { records, endpoints } = options;
    this.#kinds = new FailingKinds({ records, endpoints, servedPaths: this.#servedPaths });
  }

  sent(request: InferenceRequest, endpoint: Endpoint, nowMs: number): void {
    const { records, ejector } = this.#options;
    records.sent(endpoint, request.isStream, nowMs, request.target);
    ejector.sent(endpoint, nowMs);
  }

  firstToken({ target }: InferenceRequest, endpoint: Endpoint, seenMs: number, tokensAhead: number): void {
    const { records, poolRate } = this.#options;
    records.firstToken(endpoint, seenMs, tokensAhead / poolRate());
    records.hasTarget(endpoint, target);
  }

  held(request: InferenceRequest, endpoint: Endpoint): void {
    this.#options.records.abandoned(endpoint, request.isStream, request.target);
  }

  released(request: InferenceRequest, endpoint: Endpoint, nowMs: number): void {
    this.#options.records.sent(endpoint, request.isStream, nowMs, request.target);
  }

  takesEmpty({ target }: InferenceRequest, endpoint: Endpoint): boolean {
    return this.#options.records.emptyAnswers.isUsual(target, endpoint);
  }

  responded(
    request: InferenceRequest,
    endpoint: Endpoint,
    status: number,
    sentAtMs: number,
    nowMs: number,
    content: Content = "unread",
  ): void {
    const { records, ejector } = this.#options;
    const isWhole = status >= 200 && status < 300;
    if (isWhole) records.ended(endpoint, request.isStream, nowMs, request.target);
    else records.abandoned(endpoint, request.isStream, request.target);
    if (status >= 500 && status !== NOT_IMPLEMENTED) return this.#blame(request, endpoint, { status }, sentAtMs, nowMs);
    if (status === 429 || status === NOT_IMPLEMENTED || (status === 404 && request.isFollowUp))
      return ejector.ended(endpoint, sentAtMs);
    if (status === 404 && request.target !== "" && endpoint.models.has(request.target)) {
      if (!this.#servedPaths.has(request.target, request.path)) return ejector.ended(endpoint, sentAtMs);
      records.missedModel(endpoint, request.target, nowMs);
      return ejector.failed(endpoint, sentAtMs, nowMs);
    }
    if (this.#isOddlyEmpty(request, endpoint, content)) return ejector.failed(endpoint, sentAtMs, nowMs);
    if (status < 300) this.#servedPaths.add(request.target, request.path, nowMs);
    if (isWhole) this.#answered(request, endpoint, nowMs - sentAtMs);
    if (this.#kinds.isWatching(nowMs) && isWhole) this.#clear(this.#kinds.succeeded(request, endpoint), nowMs);
    if (this.#faults.isWatching(nowMs)) this.#faults.succeeded(this.#fingerprint(request));
    records.succeeded(endpoint, request.promptTokens, nowMs);
    ejector.succeeded(endpoint, sentAtMs, nowMs);
  }

  malformed(request: InferenceRequest, endpoint: Endpoint, lack: string, sentAtMs: number, nowMs: number): void {
    this.#options.records.ended(endpoint, request.isStream, nowMs, request.target);
    this.#blame(request, endpoint, { lack }, sentAtMs, nowMs);
  }

  failed(request: InferenceRequest, endpoint: Endpoint, failure: AttemptFailure, sentAtMs: number, nowMs: number): void {
    const { records, ejector } = this.#options;
    if (failure === "wedged") return this.abandoned(request, endpoint, sentAtMs);
    if (failure === "passed-over") return this.#passedOver(request, endpoint, sentAtMs, nowMs);
    records.abandoned(endpoint, request.isStream, request.target);
    // Its kept-alive connection had gone, as they do; a failure of the fresh one counts.
    if (failure === "stale") return ejector.ended(endpoint, sentAtMs);
    if (failure !== "connect-failed" && failure !== "connect-timeout")
      return this.#blame(request, endpoint, { what: failure }, sentAtMs, nowMs);
    records.failed(endpoint, failure, nowMs);
    ejector.failed(endpoint, sentAtMs, nowMs);
  }

  unasked(endpoint: Endpoint, nowMs: number): void {
    const { records, ejector } = this.#options;
    records.failed(endpoint, "bytes that belong to no request", nowMs);
    ejector.failed(endpoint, nowMs, nowMs);
  }

  freesBody(request: InferenceRequest): void {
    this.#fingerprints.set(request, fingerprint(request.body));
  }

  abandoned(request: InferenceRequest, endpoint: Endpoint, sentAtMs: number): void {
    const { records, ejector } = this.#options;
    records.abandoned(endpoint, request.isStream, request.target);
    ejector.ended(endpoint, sentAtMs);
  }

  /** A trial that a gateway sends elsewhere has failed: another one would go the same way. */
  #passedOver(request: InferenceRequest, endpoint: Endpoint, sentAtMs: number, nowMs: number): void {
    const { records, ejector, endpoints } = this.#options;
    records.abandoned(endpoint, request.isStream, request.target);
    const counts = records.passedOver(endpoint, endpoints().length, nowMs);
    if (counts || endpoint.isOnTrial) ejector.failed(endpoint, sentAtMs, nowMs);
    else ejector.ended(endpoint, sentAtMs);
  }

  #answered({ isStream, target }: InferenceRequest, endpoint: Endpoint, tookMs: number): void {
    const { records } = this.#options;
    records.tookMs(tookMs);
    records.hasTarget(endpoint, target);
    if (!isStream) records.wholeResponse(endpoint, tookMs);
  }

  /** Counts an answer. One without content neither speaks for the endpoint nor is a failure, but where others have content too. */
  #isOddlyEmpty(request: InferenceRequest, endpoint: Endpoint, content: Content): boolean {
    if (content === "unread") return false;
    const { emptyAnswers } = this.#options.records;
    const isEmpty = content === "none";
    const isOdd = isEmpty && !this.takesEmpty(request, endpoint);
    emptyAnswers.answered(request.target, endpoint, isEmpty, !isEmpty || !this.#isAttracted(request, endpoint));
    return isOdd;
  }

  /**
   * Whether this endpoint has more of the prompt cached than any other: then requests like it come here, and they may want empty answers.
   */
  #isAttracted({ prefix }: InferenceRequest, { slot }: Endpoint): boolean {
    const held = prefix.matchedTokens(slot);
    return (
      held > 0 && !this.#options.endpoints().some((other) => other.slot !== slot && prefix.matchedTokens(other.slot) >= held)
    );
  }

  #fingerprint(request: InferenceRequest): number {
    return this.#fingerprints.get(request) ?? fingerprint(request.body);
  }

  #blame(request: InferenceRequest, endpoint: Endpoint, failure: Failure, sentAtMs: number, nowMs: number): void {
    const { records, ejector } = this.#options;
    if (this.#isOwnFault(request, endpoint, failure, nowMs)) return ejector.ended(endpoint, sentAtMs);
    if ("lack" in failure) records.malformed(endpoint, failure.lack, nowMs);
    else records.failed(endpoint, "status" in failure ? `status ${failure.status}` : failure.what, nowMs);
    ejector.failed(endpoint, sentAtMs, nowMs);
  }

  /** Whether it is the request's, and not the endpoint's. What endpoints were blamed for before is taken back then. */
  #isOwnFault(request: InferenceRequest, endpoint: Endpoint, failure: Failure, nowMs: number): boolean {
    const isMalformed = "lack" in failure;
    const kindOfFailure = isMalformed ? "malformed" : "status" in failure ? `${failure.status}` : "no response";
    const verdict = this.#faults.failed(this.#fingerprint(request), endpoint, kindOfFailure, nowMs);
    if (verdict.fault === "request") {
      if (verdict.wrongly !== undefined) this.#clear([verdict.wrongly], nowMs, isMalformed);
      return true;
    }
    const others = "status" in failure ? this.#kinds.failed(request, endpoint, nowMs) : undefined;
    if (others !== undefined) this.#clear(others, nowMs);
    return others !== undefined;
  }

  #clear(all: readonly Blamed[], nowMs: number, isMalformed = false): void {
    const { records, ejector } = this.#options;
    for (const blamed of all) {
      const { endpoint, timesMs } = blamed;
      this.#faults.cleared(blamed);
      this.#kinds.cleared(blamed);
      const retract = () => {
        for (const atMs of timesMs) records.retract(endpoint, atMs, nowMs, isMalformed);
      };
      ejector.cleared(endpoint, retract, nowMs);
    }
  }
}
