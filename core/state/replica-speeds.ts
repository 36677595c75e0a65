import { type Clock, systemClock } from "../contract/clock.ts";
import { median } from "./median.ts";

// How fast replicas compute prompts. An engine takes `fixed cost x prompts + tokens / rate` for the prompts of a queue. Both
// numbers belong to hardware and model, so they are learned from all replicas together; a replica differs from them by one
// factor, its slowdown, which is believed only when most of its samples can't be explained without it. A slowdown fades while no
// sample comes: traffic avoids a slow replica, and without any nobody would see that it has recovered.
//
// Tokens per time alone would be a property of the traffic: a replica with many cache hits computes few tokens for each prompt
// and looks slow, and one whose cache is believed to hold less than it does looks fast.

/** Speed before any measurement, in tokens per millisecond. */
export const DEFAULT_RATE = 8;
/** Prompts are measured together until they have this many tokens: one short prompt says too little. */
const SAMPLE_TOKENS = 4_000;
/** Or until they are so many. */
const SAMPLE_PROMPTS = 16;
/** Samples kept of one replica: one that becomes slow is known after half as many. */
const KEPT = 15;
/** Samples kept of the pool, of each kind. */
const KEPT_OF_POOL = 127;
/** Samples without a slowdown that a replica begins with. */
const PRIOR_SAMPLES = 4;
/** Without a sample, half of a slowdown is forgotten in this time. */
const FADE_MS = 120_000;
/** Differences between replicas below this factor are not believed. */
const TOLERANCE = 1.1;
/** The rate is learned from samples with so many tokens per prompt, of which at most this share is uncertain. */
const LONG_PROMPT_TOKENS = 2_000;
const MAX_UNCERTAIN = 0.2;
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

  median(prior = 0, priors = 0): number {
    return median(this.#values, this.#count, prior, priors);
  }
}

/** What the replicas of a pool have in common. */
export class ReplicaSpeeds {
  readonly #rates = new Recent(KEPT_OF_POOL);
  readonly #fixedCosts = new Recent(KEPT_OF_POOL);
  #rate = DEFAULT_RATE;
  #fixedMs = 0;
  #isMeasured = false;
  readonly #clock: Pick<Clock, "now">;

  constructor(clock: Pick<Clock, "now"> = systemClock) {
    this.#clock = clock;
  }

  /** A replica of which nothing is known yet. */
  add(): ReplicaSpeed {
    return new ReplicaSpeed(this);
  }

  /** Prompt tokens that a usual replica computes in a millisecond. */
  get rate(): number {
    return this.#rate;
  }

  get isMeasured(): boolean {
    return this.#isMeasured;
  }

  now(): number {
    return this.#clock.now();
  }

  /** Milliseconds that a usual replica takes for so much. */
  expectedMs(prompts: number, tokens: number): number {
    return prompts * this.#fixedMs + tokens / this.#rate;
  }

  learn(prompts: number, tokens: number, uncertain: number, tookMs: number): void {
    this.#isMeasured = true;
    const perPrompt = tokens / prompts;
    if (perPrompt <= SHORT_PROMPT_TOKENS) {
      this.#fixedCosts.add((tookMs - tokens / this.#rate) / prompts);
      this.#fixedMs = Math.max(0, this.#fixedCosts.median());
    }
    if (perPrompt < LONG_PROMPT_TOKENS || uncertain > MAX_UNCERTAIN * tokens) return;
    // Without its fixed part, but never less than half, so that a wrong fixed cost can't make the rate endless.
    const computeMs = Math.max(tookMs / 2, tookMs - prompts * this.#fixedMs);
    this.#rates.add((tokens - uncertain / 2) / computeMs);
    this.#rate = this.#rates.median();
  }
}

/** One replica. */
export class ReplicaSpeed {
  readonly #pool: ReplicaSpeeds;
  /** Bounds of the slowdown that each sample allows. */
  readonly #least = new Recent(KEPT);
  readonly #most = new Recent(KEPT);
  #slowdown = 1;
  #sampledAtMs = 0;
  #prompts = 0;
  #tokens = 0;
  #uncertain = 0;
  #tookMs = 0;

  constructor(pool: ReplicaSpeeds) {
    this.#pool = pool;
  }

  /** Prompt tokens that it computes in a millisecond. */
  get rate(): number {
    if (this.#slowdown === 1) return this.#pool.rate;
    const left = 0.5 ** ((this.#pool.now() - this.#sampledAtMs) / FADE_MS);
    return this.#pool.rate / (1 + (this.#slowdown - 1) * left);
  }

  /** Whether the rate comes from measurements, of this replica or another one. */
  get isMeasured(): boolean {
    return this.#pool.isMeasured;
  }

  /** A prompt of `tokens` tokens, of which `uncertain` may have been cached, was computed in `tookMs`. */
  measured(tokens: number, uncertain: number, tookMs: number): void {
    this.#prompts += 1;
    this.#tokens += tokens;
    this.#uncertain += uncertain;
    this.#tookMs += tookMs;
    if (this.#tokens < SAMPLE_TOKENS && this.#prompts < SAMPLE_PROMPTS) return;
    if (this.#tookMs > 0 && this.#tokens > 0) this.#sample();
    this.#prompts = 0;
    this.#tokens = 0;
    this.#uncertain = 0;
    this.#tookMs = 0;
  }

  #sample(): void {
    const pool = this.#pool;
    this.#sampledAtMs = pool.now();
    pool.learn(this.#prompts, this.#tokens, this.#uncertain, this.#tookMs);
    this.#least.add(this.#tookMs / pool.expectedMs(this.#prompts, this.#tokens));
    this.#most.add(this.#tookMs / pool.expectedMs(this.#prompts, this.#tokens - this.#uncertain));
    const least = this.#least.median(1, PRIOR_SAMPLES) / TOLERANCE;
    const most = this.#most.median(1, PRIOR_SAMPLES) * TOLERANCE;
    this.#slowdown = Math.min(Math.max(1, least), Math.max(most, least));
  }
}
