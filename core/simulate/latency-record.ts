import type { Ticket } from "../request/ticket.ts";
import { quantile } from "./quantile.ts";

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
  #met = 0;

  /** Requests that got their whole response, and each token in time. */
  get met(): number {
    return this.#met;
  }

  get ttftError(): RelativeError {
    return relativeError(this.#ttftErrors);
  }

  /** A request that arrived at `arrivedMs` got its whole response at `endedMs`. */
  served(ticket: Ticket, { ttftMs, tpotMs }: SimulatedTargets, arrivedMs: number, endedMs: number): void {
    const { outputTokens, expectedFirstByteMs } = ticket;
    const { firstByteAtMs, dispatchedAtMs } = ticket.times;
    // One token has no time between tokens.
    const tokenMs = outputTokens > 1 ? (endedMs - firstByteAtMs) / (outputTokens - 1) : 0;
    if (firstByteAtMs - arrivedMs <= ttftMs && tokenMs <= tpotMs) this.#met += 1;
    note(this.#ttftErrors, expectedFirstByteMs, firstByteAtMs - dispatchedAtMs);
  }
}

function note(errors: number[], expectedMs: number, seenMs: number): void {
  if (!Number.isNaN(expectedMs) && seenMs > 0) errors.push(Math.abs(expectedMs - seenMs) / seenMs);
}

function relativeError(errors: readonly number[]): RelativeError {
  const sorted = Float64Array.from(errors).sort();
  return { p50: quantile(sorted, 0.5) || 0, p90: quantile(sorted, 0.9) || 0 };
}
