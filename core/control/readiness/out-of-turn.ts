import type { Loop } from "./loop.ts";

const PAUSE_MS = 1_000;

/** When something is checked before its time: at once, or a second after the time before, whatever responses and gateways say. */
export class OutOfTurn {
  #atMs = Number.NEGATIVE_INFINITY;

  /** The pause before the next check; undefined while one is still to come. */
  pauseMs(nowMs: number): number | undefined {
    if (this.#atMs >= nowMs) return undefined;
    this.#atMs = Math.max(nowMs, this.#atMs + PAUSE_MS);
    return this.#atMs - nowMs;
  }

  /** Plans the loop's next step so, unless it comes sooner. */
  plan(loop: Loop, nowMs: number): void {
    const pauseMs = this.pauseMs(nowMs);
    if (pauseMs !== undefined) loop.within(pauseMs);
  }
}
