import type { Delivery } from "../stages/forward.ts";

/** What requests should get, in milliseconds; Infinity for no target. */
export interface SimulatedTargets {
  readonly ttftMs: number;
  readonly tpotMs: number;
}

export const NO_TARGETS: SimulatedTargets = { ttftMs: Number.POSITIVE_INFINITY, tpotMs: Number.POSITIVE_INFINITY };

/** The targets of a request, by its place in the trace: each in turn. */
export function targetsAt(targets: readonly SimulatedTargets[], index: number): SimulatedTargets {
  return targets[index % targets.length] ?? NO_TARGETS;
}

/** Errors |expected - seen| / seen: those that half and nine tenths of the requests stay below; 0 where nothing was expected. */
export interface RelativeError {
  readonly p50: number;
  readonly p90: number;
}

/** Compares the times of requests with their targets, and with what the router expected when it sent them. */
export class LatencyRecord {
  readonly #ttftErrors: number[] = [];
  readonly #tpotErrors: number[] = [];
  #met = 0;

  /** Requests that got their whole response, and each token in time. */
  get met(): number {
    return this.#met;
  }

  get ttftError(): RelativeError {
    return relativeError(this.#ttftErrors);
  }

  get tpotError(): RelativeError {
    return relativeError(this.#tpotErrors);
  }

  /** A request that arrived at `arrivedMs` got its whole response at `endedMs`. */
  served(delivery: Delivery, { ttftMs, tpotMs }: SimulatedTargets, arrivedMs: number, endedMs: number): void {
    const { firstByteAtMs, dispatchedAtMs, expected, generated } = delivery;
    // One token has no time between tokens.
    const tokenMs = generated.outputTokens > 1 ? (endedMs - firstByteAtMs) / (generated.outputTokens - 1) : 0;
    if (firstByteAtMs - arrivedMs <= ttftMs && tokenMs <= tpotMs) this.#met += 1;
    note(this.#ttftErrors, expected.firstTokenMs, firstByteAtMs - dispatchedAtMs);
    note(this.#tpotErrors, expected.tokenMs, tokenMs);
  }
}

function note(errors: number[], expectedMs: number, seenMs: number): void {
  if (!Number.isNaN(expectedMs) && seenMs > 0) errors.push(Math.abs(expectedMs - seenMs) / seenMs);
}

function relativeError(errors: readonly number[]): RelativeError {
  const sorted = Float64Array.from(errors).sort();
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { p50: at(0.5), p90: at(0.9) };
}
