import { median } from "./median.ts";
import { SlowdownSamples } from "./slowdown-samples.ts";

// How fast replicas compute prompts. An engine takes `fixed cost x prompts + tokens / rate` for the prompts of a queue. Both
// numbers belong to hardware and model, so they are learned from all replicas together; a replica differs from them by one
// factor, its slowdown, which is believed when its latest samples agree on it. A slowdown fades while no sample agrees with it:
// traffic avoids a slow replica, and without any nobody would see that it has recovered.
//
// Tokens per time alone would be a property of the traffic: a replica with many cache hits computes few tokens for each prompt
// and looks slow, and one whose cache is believed to hold less than it does looks fast.

/** Speed before any measurement, in tokens per millisecond. */
export const DEFAULT_RATE = 8;
/** Prompts are measured together until they have this many tokens: one short prompt says too little. */
const SAMPLE_TOKENS = 4_000;
/** Or until they are so many. */
const SAMPLE_PROMPTS = 16;
/** Samples kept of the pool, of each kind. */
const KEPT_OF_POOL = 127;
/** Without a sample that agrees with it, half of a slowdown is forgotten in this time. */
const FADE_MS = 120_000;
/** The share of samples that are wrong, before any is known. */
const WRONG_SHARE = 0.1;
/** A sample's weight in that share. */
const WRONG_WEIGHT = 1 / 64;
/** So unlikely must it be that the samples that speak for another slowdown are all wrong. */
const CHANCE = 1e-4;
/** No more samples than this are ever needed to change what is believed of a replica: else a wrong belief could stay for ever. */
const MOST_NEEDED = 12;
/** The rate is learned from samples with so many tokens per prompt, of which at most this share is uncertain. */
const LONG_PROMPT_TOKENS = 2_000;
const MAX_UNCERTAIN = 0.2;
/**
 * Samples of which a larger share is uncertain say nothing of a slowdown: where nearly nothing has to be computed for certain, wrong
 * beliefs about a cache would agree on any slowdown that is large enough.
 */
const MAX_UNCERTAIN_OF_SLOWDOWN = 0.8;
/** The fixed cost is learned from samples with at most so many tokens per prompt. */
const SHORT_PROMPT_TOKENS = 256;

/** The latest values of one kind. */
class Recent {
  readonly #values: Float64Array;
  #next = 0;
  #count = 0;

  constructor(size: number) {
    this.#values = new Float64Array(size);
  }

  add(value: number): void {
    this.#values[this.#next] = value;
    this.#next = (this.#next + 1) % this.#values.length;
    this.#count = Math.min(this.#count + 1, this.#values.length);
  }

  median(): number {
    return median(this.#values, this.#count);
  }
}

/** What the replicas of a pool have in common. */
export class ReplicaSpeeds {
  /** Prompt tokens that a usual replica computes in a millisecond. */
  rate = DEFAULT_RATE;
  /** Whether the rate comes from measurements. */
  isMeasured = false;
  readonly #rates = new Recent(KEPT_OF_POOL);
  readonly #fixedCosts = new Recent(KEPT_OF_POOL);
  #fixedMs = 0;
  #wrongShare = WRONG_SHARE;

  /** A replica of which nothing is known yet. */
  add(): ReplicaSpeed {
    return new ReplicaSpeed(this);
  }

  /** Milliseconds that a usual replica takes for so much. */
  expectedMs(prompts: number, tokens: number): number {
    return prompts * this.#fixedMs + tokens / this.rate;
  }

  /**
   * So many more samples must speak for another slowdown than for the one believed. With a share w of wrong samples, n of them
   * come together with the chance w^n, so n = log(chance) / log(w). Those that contradict what is believed stand for the wrong ones.
   */
  get neededSamples(): number {
    return Math.min(MOST_NEEDED, Math.log(CHANCE) / Math.log(Math.min(0.9, Math.max(0.01, this.#wrongShare))));
  }

  /** A sample agreed with what is believed of its replica, or did not. */
  learnAgreement(agrees: boolean): void {
    this.#wrongShare += WRONG_WEIGHT * ((agrees ? 0 : 1) - this.#wrongShare);
  }

  learn(prompts: number, tokens: number, uncertain: number, tookMs: number): void {
    this.isMeasured = true;
    const perPrompt = tokens / prompts;
    if (perPrompt <= SHORT_PROMPT_TOKENS) {
      this.#fixedCosts.add((tookMs - tokens / this.rate) / prompts);
      this.#fixedMs = Math.max(0, this.#fixedCosts.median());
    }
    if (perPrompt < LONG_PROMPT_TOKENS || uncertain > MAX_UNCERTAIN * tokens) return;
    // Without its fixed part, but never less than half, so that a wrong fixed cost can't make the rate endless.
    const computeMs = Math.max(tookMs / 2, tookMs - prompts * this.#fixedMs);
    this.#rates.add((tokens - uncertain / 2) / computeMs);
    this.rate = this.#rates.median();
  }
}

/** One replica. */
export class ReplicaSpeed {
  readonly #pool: ReplicaSpeeds;
  readonly #samples = new SlowdownSamples();
  /** Whether the replica says with its responses what was cached, so that a prompt is better measured when its response has ended. */
  isReported = false;
  /** As the samples let believe; kept here, because a decision reads that of all candidates. */
  #slowdown = 1;
  /** When a sample last agreed with the slowdown. */
  #confirmedAtMs = 0;
  #prompts = 0;
  #tokens = 0;
  #uncertain = 0;
  #tookMs = 0;

  constructor(pool: ReplicaSpeeds) {
    this.#pool = pool;
  }

  /** Prompt tokens that it computes in a millisecond, as is believed at `nowMs`. */
  rateAt(nowMs: number): number {
    if (this.#slowdown === 1) return this.#pool.rate;
    const left = 0.5 ** (Math.max(0, nowMs - this.#confirmedAtMs) / FADE_MS);
    return this.#pool.rate / (1 + (this.#slowdown - 1) * left);
  }

  /** A prompt of `tokens` tokens, of which `uncertain` may have been cached, was computed in `tookMs`, as is known at `nowMs`. */
  measured(tokens: number, uncertain: number, tookMs: number, nowMs: number): void {
    this.#prompts += 1;
    this.#tokens += tokens;
    this.#uncertain += uncertain;
    this.#tookMs += tookMs;
    if (this.#tokens < SAMPLE_TOKENS && this.#prompts < SAMPLE_PROMPTS) return;
    if (this.#tookMs > 0 && this.#tokens > 0) this.#sample(nowMs);
    this.#prompts = 0;
    this.#tokens = 0;
    this.#uncertain = 0;
    this.#tookMs = 0;
  }

  #sample(nowMs: number): void {
    const pool = this.#pool;
    pool.learn(this.#prompts, this.#tokens, this.#uncertain, this.#tookMs);
    if (this.#uncertain > MAX_UNCERTAIN_OF_SLOWDOWN * this.#tokens) return;
    const agrees = this.#samples.add(
      this.#tookMs / pool.expectedMs(this.#prompts, this.#tokens),
      this.#tookMs / pool.expectedMs(this.#prompts, this.#tokens - this.#uncertain),
    );
    pool.learnAgreement(agrees);
    // A sample that agrees speaks for no other slowdown; one that contradicts must not renew the one believed.
    if (agrees || this.#samples.update(pool.neededSamples)) this.#confirmedAtMs = nowMs;
    this.#slowdown = this.#samples.slowdown;
  }
}
