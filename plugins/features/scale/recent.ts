import { SlidingWindow } from "../../../core/state/sliding-window.ts";

const BUCKETS = 60;
/** Knative's panic window is a tenth of its stable one. */
const SHORT = BUCKETS / 10;
const [WORK, SAMPLES, TOKENS] = [0, 1, 2] as const;

/** What one model, or the pool, needed in the last minutes. */
export class Recent {
  /** Requests that have come and not ended. */
  underWay = 0;
  lastAtMs = Number.NEGATIVE_INFINITY;
  readonly #window: SlidingWindow;
  readonly #bucketMs: number;
  readonly #sinceMs: number;

  constructor(windowMs: number, nowMs: number) {
    this.#bucketMs = windowMs / BUCKETS;
    this.#window = new SlidingWindow(this.#bucketMs, BUCKETS, 3);
    this.#sinceMs = nowMs;
  }

  /** `work`: replicas that would be full of what is under way now. */
  sampled(work: number, nowMs: number): void {
    this.#window.add(WORK, work, nowMs);
    this.#window.add(SAMPLES, 1, nowMs);
  }

  computed(tokens: number, nowMs: number): void {
    this.#window.add(TOKENS, tokens, nowMs);
  }

  /** The mean over the window. */
  work(nowMs: number): number {
    return ratio(this.#window.sum(WORK, nowMs), this.#window.sum(SAMPLES, nowMs));
  }

  /** The mean over the last tenth of it. */
  latestWork(nowMs: number): number {
    this.#window.at(nowMs);
    let [work, samples] = [0, 0];
    for (let ago = 0; ago < SHORT; ago++) {
      work += this.#window.numbers[this.#window.before(ago) + WORK]!;
      samples += this.#window.numbers[this.#window.before(ago) + SAMPLES]!;
    }
    return ratio(work, samples);
  }

  /** Prompt tokens computed in each millisecond. */
  tokenRate(nowMs: number): number {
    const seenMs = Math.max(this.#bucketMs, Math.min(nowMs - this.#sinceMs, BUCKETS * this.#bucketMs));
    return this.#window.sum(TOKENS, nowMs) / seenMs;
  }
}

const ratio = (sum: number, count: number) => (count === 0 ? 0 : sum / count);
