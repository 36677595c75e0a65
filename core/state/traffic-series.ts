import { SlidingWindow } from "./sliding-window.ts";

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

/** What is counted, by its place in a step. */
const AT = { requests: 0, errors: 1, clientErrors: 2 } as const;

/** Counts what ended in each of the last steps of time. Times are on the router's clock. */
export class TrafficSeries {
  readonly #steps = new SlidingWindow(STEP_MS, STEPS, 3);
  readonly #first: number;

  constructor(nowMs: number) {
    this.#first = Math.floor(nowMs / STEP_MS);
  }

  ended(isError: boolean, isClientError: boolean, nowMs: number): void {
    const { numbers } = this.#steps;
    const at = this.#steps.at(nowMs);
    numbers[at + AT.requests]! += 1;
    if (isError) numbers[at + AT.errors]! += 1;
    if (isClientError) numbers[at + AT.clientErrors]! += 1;
  }

  /** The present step is left out, because it is not over. */
  shown(nowMs: number): TrafficHistory {
    this.#steps.at(nowMs);
    const length = Math.min(STEPS - 1, Math.floor(nowMs / STEP_MS) - this.#first);
    const rates = (place: number) =>
      Array.from({ length }, (_, step) => (this.#steps.numbers[this.#steps.before(length - step) + place]! * 1000) / STEP_MS);
    return {
      stepS: STEP_MS / 1000,
      requestsPerS: rates(AT.requests),
      errorsPerS: rates(AT.errors),
      clientErrorsPerS: rates(AT.clientErrors),
    };
  }
}
