import type { Outcome } from "../../../core/contract/outcome.ts";

/** How much of what is known a further answer changes: half after about 70. */
const NEWEST = 0.01;

/** How long answers take from their first token to their last one, in milliseconds: a mean in which old answers count less and less. */
export class GenerationTime {
  #meanMs = Number.NaN;

  /** NaN before the first. */
  get meanMs(): number {
    return this.#meanMs;
  }

  /** A request has ended. Only of streams it is known when the first token came. */
  ended({ ending, request, times, error }: Outcome): void {
    const tookMs = times.endMs - times.firstByteMs;
    if (ending !== "complete" || error !== undefined || request?.isStream !== true || !(tookMs > 0)) return;
    this.#meanMs = Number.isNaN(this.#meanMs) ? tookMs : this.#meanMs + NEWEST * (tookMs - this.#meanMs);
  }
}
