import type { Clock } from "../contract/clock.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { AttemptFailure } from "../contract/outcome.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { EndpointRecords } from "../state/endpoint-records.ts";
import { fingerprint, RequestFaults } from "../state/request-faults.ts";
import type { Traffic } from "../state/traffic.ts";
import type { Ejector } from "./ejector.ts";

export interface TrafficWatchOptions {
  readonly clock: Pick<Clock, "now">;
  readonly records: EndpointRecords;
  readonly ejector: Pick<Ejector, "failed" | "succeeded">;
  /** Prompt tokens that the pool's endpoints work off in a millisecond, the median of them. */
  readonly poolRate: () => number;
}

/**
 * Sorts what happens to requests into what speaks for an endpoint, what speaks against it, and what is the request's own fault:
 * - for it: a response below 500, but 404 for a model that it lists and 429;
 * - against it: 5xx, no response, a broken one; unless the same request failed on two endpoints and succeeded on none;
 * - neither: 429, and requests that were ended from this side.
 */
export class TrafficWatch implements Traffic {
  readonly #options: TrafficWatchOptions;
  readonly #faults = new RequestFaults();
  /** Of requests whose body is freed. */
  readonly #fingerprints = new WeakMap<InferenceRequest, number>();

  constructor(options: TrafficWatchOptions) {
    this.#options = options;
  }

  sent(endpoint: Endpoint): void {
    this.#options.records.sent(endpoint, this.#options.clock.now());
  }

  firstToken(endpoint: Endpoint, seenMs: number, tokensAhead: number): void {
    this.#options.records.firstToken(endpoint, seenMs, tokensAhead / this.#options.poolRate());
  }

  responded(request: InferenceRequest, endpoint: Endpoint, status: number): void {
    const { records, ejector, clock } = this.#options;
    const nowMs = clock.now();
    records.ended(endpoint, nowMs);
    if (status >= 500) return this.#blame(request, endpoint, `status ${status}`, nowMs);
    if (status === 429) return;
    if (status === 404 && request.target !== "" && endpoint.models.has(request.target)) {
      records.missedModel(endpoint, request.target, nowMs);
      return ejector.failed(endpoint, nowMs);
    }
    if (this.#faults.isWatching) this.#faults.succeeded(this.#fingerprint(request));
    records.succeeded(endpoint, request.promptTokens, nowMs);
    ejector.succeeded(endpoint, nowMs);
  }

  failed(request: InferenceRequest, endpoint: Endpoint, failure: AttemptFailure): void {
    const { records, ejector, clock } = this.#options;
    const nowMs = clock.now();
    records.ended(endpoint, nowMs);
    // Its kept-alive connection had gone, as they do; a failure of the fresh one counts.
    if (failure === "stale" || failure === "wedged") return;
    if (failure !== "connect-failed" && failure !== "connect-timeout") return this.#blame(request, endpoint, failure, nowMs);
    records.failed(endpoint, failure, nowMs);
    ejector.failed(endpoint, nowMs);
  }

  freesBody(request: InferenceRequest): void {
    this.#fingerprints.set(request, fingerprint(request.body));
  }

  abandoned(endpoint: Endpoint): void {
    this.#options.records.ended(endpoint, this.#options.clock.now());
  }

  #fingerprint(request: InferenceRequest): number {
    return this.#fingerprints.get(request) ?? fingerprint(request.body);
  }

  #blame(request: InferenceRequest, endpoint: Endpoint, what: string, nowMs: number): void {
    const { records, ejector } = this.#options;
    const verdict = this.#faults.failed(this.#fingerprint(request), endpoint, nowMs);
    if (verdict.fault === "request") {
      if (verdict.wrongly !== undefined) records.retract(verdict.wrongly, nowMs);
      return;
    }
    records.failed(endpoint, what, nowMs);
    ejector.failed(endpoint, nowMs);
  }
}
