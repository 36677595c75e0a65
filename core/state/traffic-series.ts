const STEP_MS = 5_000;
const STEPS = 120;

/** Rates of the last ten minutes: plain JSON. Arrays begin with the oldest step that the router has seen; at most 120. */
export interface TrafficHistory {
  readonly stepS: number;
  /** Requests a second that ended. */
  readonly requestsPerS: readonly number[];
  /** Those of them that failed through the router or a replica. */
  readonly errorsPerS: readonly number[];
  /** Those of them that failed through their client. */
  readonly clientErrorsPerS: readonly number[];
}

/** Counts what ended in each of the last steps of time. Times are on the router's clock. */
export class TrafficSeries {
  readonly #requests = new Uint32Array(STEPS);
  readonly #errors = new Uint32Array(STEPS);
  readonly #clientErrors = new Uint32Array(STEPS);
  readonly #first: number;
  #step: number;

  constructor(nowMs: number) {
    this.#first = Math.floor(nowMs / STEP_MS);
    this.#step = this.#first;
  }

  ended(isError: boolean, isClientError: boolean, nowMs: number): void {
    const index = this.#turn(nowMs);
    this.#requests[index]! += 1;
    if (isError) this.#errors[index]! += 1;
    if (isClientError) this.#clientErrors[index]! += 1;
  }

  /** The present step is left out, because it is not over. */
  shown(nowMs: number): TrafficHistory {
    this.#turn(nowMs);
    const oldest = Math.max(this.#first, this.#step - STEPS + 1);
    const rates = (counts: Uint32Array) =>
      Array.from({ length: this.#step - oldest }, (_, index) => (counts[(oldest + index) % STEPS]! * 1000) / STEP_MS);
    return {
      stepS: STEP_MS / 1000,
      requestsPerS: rates(this.#requests),
      errorsPerS: rates(this.#errors),
      clientErrorsPerS: rates(this.#clientErrors),
    };
  }

  /** Forgets the steps that time has passed over; the index of the present one. */
  #turn(nowMs: number): number {
    const step = Math.floor(nowMs / STEP_MS);
    for (let passed = Math.max(this.#step + 1, step - STEPS + 1); passed <= step; passed++) {
      for (const counts of [this.#requests, this.#errors, this.#clientErrors]) counts[passed % STEPS] = 0;
    }
    this.#step = Math.max(this.#step, step);
    return this.#step % STEPS;
  }
}
