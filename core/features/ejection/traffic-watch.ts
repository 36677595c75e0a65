import type { Endpoint } from "../../contract/endpoint.ts";
import type { AttemptFailure } from "../../contract/outcome.ts";
import type { InferenceRequest } from "../../contract/request.ts";
import type { Traffic } from "../../state/traffic.ts";
import type { Ejector } from "./ejector.ts";
import type { EndpointRecords } from "./endpoint-records.ts";
import { MissedPaths } from "./missed-paths.ts";
import { fingerprint, RequestFaults } from "./request-faults.ts";

export interface TrafficWatchOptions {
  readonly records: EndpointRecords;
  readonly ejector: Pick<Ejector, "sent" | "ended" | "failed" | "succeeded">;
  /** Prompt tokens that the pool's endpoints work off in a millisecond, the median of them. */
  readonly poolRate: () => number;
}

/** What speaks against an endpoint: a failure, or a response that lacks something. */
type Failure = { readonly what: string } | { readonly lack: string };

/**
 * Sorts what happens to requests into what speaks for an endpoint, what speaks against it, and what is the request's own fault:
 * - for it: a response below 500, but 429, and 404 for a model that it lists;
 * - against it: 5xx, no response, a broken one, one that lacks what its API's have; unless the same request failed on two endpoints and succeeded on none;
 * - neither: 429, 404 for a path that no replica serves for that model or for what another replica has stored, and requests that
 *   were ended from this side.
 */
export class TrafficWatch implements Traffic {
  readonly #options: TrafficWatchOptions;
  readonly #faults = new RequestFaults();
  readonly #missedPaths = new MissedPaths();
  /** Of requests whose body is freed. */
  readonly #fingerprints = new WeakMap<InferenceRequest, number>();

  constructor(options: TrafficWatchOptions) {
    this.#options = options;
  }

  sent(request: InferenceRequest, endpoint: Endpoint, nowMs: number): void {
    const { records, ejector } = this.#options;
    records.sent(endpoint, request.isStream, nowMs);
    ejector.sent(endpoint, nowMs);
  }

  firstToken(endpoint: Endpoint, seenMs: number, tokensAhead: number): void {
    this.#options.records.firstToken(endpoint, seenMs, tokensAhead / this.#options.poolRate());
  }

  held(request: InferenceRequest, endpoint: Endpoint): void {
    this.#options.records.abandoned(endpoint, request.isStream);
  }

  released(request: InferenceRequest, endpoint: Endpoint, nowMs: number): void {
    this.#options.records.sent(endpoint, request.isStream, nowMs);
  }

  responded(request: InferenceRequest, endpoint: Endpoint, status: number, sentAtMs: number, nowMs: number): void {
    const { records, ejector } = this.#options;
    records.ended(endpoint, request.isStream, nowMs);
    if (status >= 500) return this.#blame(request, endpoint, { what: `status ${status}` }, sentAtMs, nowMs);
    if (status === 429 || (status === 404 && request.isFollowUp)) return ejector.ended(endpoint, sentAtMs);
    if (status === 404 && request.target !== "" && endpoint.models.has(request.target)) {
      if (!this.#missedPaths.missed(request.target, request.path, endpoint.name)) return ejector.ended(endpoint, sentAtMs);
      records.missedModel(endpoint, request.target, nowMs);
      return ejector.failed(endpoint, sentAtMs, nowMs);
    }
    if (status < 300) this.#missedPaths.served(request.target, request.path);
    if (status < 300 && !request.isStream) records.wholeResponse(endpoint, nowMs - sentAtMs);
    if (this.#faults.isWatching) this.#faults.succeeded(this.#fingerprint(request));
    records.succeeded(endpoint, request.promptTokens, nowMs);
    ejector.succeeded(endpoint, sentAtMs, nowMs);
  }

  malformed(request: InferenceRequest, endpoint: Endpoint, lack: string, sentAtMs: number, nowMs: number): void {
    this.#options.records.ended(endpoint, request.isStream, nowMs);
    this.#blame(request, endpoint, { lack }, sentAtMs, nowMs);
  }

  failed(request: InferenceRequest, endpoint: Endpoint, failure: AttemptFailure, sentAtMs: number, nowMs: number): void {
    const { records, ejector } = this.#options;
    if (failure === "wedged") return this.abandoned(request, endpoint, sentAtMs);
    records.ended(endpoint, request.isStream, nowMs);
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
    records.abandoned(endpoint, request.isStream);
    ejector.ended(endpoint, sentAtMs);
  }

  #fingerprint(request: InferenceRequest): number {
    return this.#fingerprints.get(request) ?? fingerprint(request.body);
  }

  #blame(request: InferenceRequest, endpoint: Endpoint, failure: Failure, sentAtMs: number, nowMs: number): void {
    const { records, ejector } = this.#options;
    const verdict = this.#faults.failed(this.#fingerprint(request), endpoint, nowMs);
    if (verdict.fault === "request") {
      if (verdict.wrongly !== undefined) records.retract(verdict.wrongly, nowMs, "lack" in failure);
      return ejector.ended(endpoint, sentAtMs);
    }
    if ("lack" in failure) records.malformed(endpoint, failure.lack, nowMs);
    else records.failed(endpoint, failure.what, nowMs);
    ejector.failed(endpoint, sentAtMs, nowMs);
  }
}
