import { SlidingWindow } from "../../../core/state/sliding-window.ts";

const BUCKET_MS = 1_000;
const BUCKETS = 10;
/** Clients are not sent away for longer: by then the pool may be another. */
const LONGEST_S = 60;

/** How fast the line got shorter in the last ten seconds. */
export class DrainRate {
  readonly #window = new SlidingWindow(BUCKET_MS, BUCKETS, 1);
  /** When it first did. */
  #sinceMs = Number.NaN;

  wentOn(nowMs: number): void {
    if (Number.isNaN(this.#sinceMs)) this.#sinceMs = nowMs;
    this.#window.add(0, 1, nowMs);
  }

  /** Requests a second. */
  perS(nowMs: number): number {
    const count = this.#window.sum(0, nowMs);
    if (count === 0) return 0;
    const windowMs = Math.min(nowMs - this.#sinceMs, (BUCKETS - 1) * BUCKET_MS + (nowMs % BUCKET_MS));
    return (count * 1000) / Math.max(BUCKET_MS, windowMs);
  }

  /** Whole seconds until so many requests have gone on. */
  secondsFor(requests: number, nowMs: number): number {
    const perS = this.perS(nowMs);
    return perS === 0 ? LONGEST_S : Math.min(LONGEST_S, Math.max(1, Math.ceil(requests / perS)));
  }
}
