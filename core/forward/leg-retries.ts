import type { Endpoint } from "../contract/endpoint.ts";
import type { RouterError } from "../contract/errors.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { allSaturated, noneReached, upstreamError } from "../errors/upstream-errors.ts";
import type { Run } from "../run.ts";
import type { UpstreamFailure } from "../wire/response-reader.ts";
import { type NextStep, nextStep, type TryEvent, type TryState } from "./retry-policy.ts";
import { type Tried, usableSpares } from "./spares.ts";

/** What the tries of one leg have come to: how far they got in its order, and what the retry policy needs to know. */
export class LegRetries implements TryState {
  wasDelivered = false;
  mayHaveDied = false;
  mayTryFresh: boolean;
  retriesLeft: number;
  readonly #run: Run;
  readonly #request: InferenceRequest;
  /** Undefined once its spares stand at the end of the order. */
  #leg: Tried | undefined;
  #order: readonly Endpoint[];
  #next = 0;
  #retries = 0;
  /** A kept connection has ended before a byte of the response. */
  #wasStale = false;
  /** What the client gets when no other try can be made. */
  #firstFailure: RouterError | undefined;

  constructor(run: Run, request: InferenceRequest, leg: Tried) {
    const { limits, retries } = run.config.settings;
    this.#run = run;
    this.#request = request;
    this.#leg = leg;
    this.#order = leg.order;
    this.retriesLeft = limits.retries - (request.onDemand === "asked" ? run.ticket.attempts.length : 0);
    this.mayTryFresh = retries.stale;
  }

  get hasStarted(): boolean {
    return this.#run.response.hasStarted;
  }

  get hasSpare(): boolean {
    if (this.#next >= this.#order.length) this.#addSpares();
    return this.#next < this.#order.length;
  }

  get hasBudget(): boolean {
    const { pool, parts } = this.#run;
    return pool.retryBudget.hasRoom(parts.services.clock.now());
  }

  get mayLeaveWedged(): boolean {
    return this.#run.config.settings.retries.wedged && this.#request.isRepeatable;
  }

  /** A replica may be closing a kept connection. Where another delivery is one too many, the request gets a fresh one. */
  get needsFresh(): boolean {
    return !this.#request.isRepeatable || this.#wasStale;
  }

  /** Why the leg has no response, once there is no further try. */
  get error(): RouterError {
    const error = this.#firstFailure ?? this.#run.connections?.refusal ?? allSaturated();
    return error.code === "upstream_unreachable" ? noneReached(this.#next, this.hasSpare) : error;
  }

  /** No replica could be reached, and none has got the request. */
  get isUnreached(): boolean {
    return !this.wasDelivered && !this.mayHaveDied && this.error.code === "upstream_unreachable";
  }

  /** Takes the next endpoint of the order; undefined at its end. */
  takeNext(): Endpoint | undefined {
    const endpoint = this.#order[this.#next];
    this.#next += 1;
    return endpoint;
  }

  stepAfter(event: TryEvent): NextStep {
    return nextStep(event, this);
  }

  /** Uses up a retry. Returns the pause before it: so a crowd of requests whose replica fails does not fall on the next one at one moment. */
  takeRetry(): number {
    const { config, parts } = this.#run;
    const backoffMs = parts.services.random() * config.settings.retries.backoffMs * 2 ** this.#retries;
    this.retriesLeft -= 1;
    this.#retries += 1;
    return backoffMs;
  }

  /** A try has ended without a whole response. */
  failed(failure: UpstreamFailure, isDelivered: boolean): NextStep {
    if (failure === "wedged") this.#skipSilent();
    const step = this.stepAfter({ type: "failed", failure, isDelivered });
    if (failure === "stale") {
      this.#wasStale = true;
      this.mayHaveDied = isDelivered;
    } else if (isDelivered) this.wasDelivered = true;
    this.#firstFailure ??= upstreamError(failure);
    return step;
  }

  /** The request does not go where it would wait as long again. */
  #skipSilent(): void {
    const { control } = this.#run.pool;
    this.#addSpares();
    this.#order = this.#order.filter((endpoint, index) => index < this.#next || !control.isSilent(endpoint));
  }

  /** Those that could serve it too are sorted when they are needed. */
  #addSpares(): void {
    const leg = this.#leg;
    if (leg === undefined) return;
    const { pool, parts } = this.#run;
    this.#leg = undefined;
    this.#order = [...this.#order, ...usableSpares(leg, this.#request, pool, parts.services.clock.now())];
  }
}
