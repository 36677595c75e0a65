/** One prompt that was sent to an endpoint and is not yet processed. */
export interface PrefillWork {
  readonly tokens: number;
  /** True for a stream: its first byte shows that the prompt is processed. A response that comes whole comes much later. */
  readonly hasFirstByte: boolean;
}

/** Speed before any measurement, in tokens per millisecond. */
export const DEFAULT_RATE = 8;
/** The initial speed weighs as much as this many measured tokens. */
const PRIOR_TOKENS = 20_000;
/** After this many tokens an older measurement counts half. */
const HALF_LIFE_TOKENS = 200_000;

/**
 * Estimates how many prompt tokens an endpoint still has to process. Engines process prompts in the order they arrive, so the
 * first prompt in the queue shrinks with time at the measured speed: tokens of prompts that got their first byte, divided by
 * the time during which the queue was not empty. Reading changes nothing.
 */
export class PrefillQueue {
  readonly #work: PrefillWork[] = [];
  #tokens = 0;
  /** When the first prompt in the queue became the first. */
  #headSinceMs = 0;
  /** When the last measurement ended, or the empty queue got work. */
  #markMs = 0;
  #measuredTokens = PRIOR_TOKENS;
  #measuredMs: number;
  readonly #hasGivenRate: boolean;

  /** `rate` is the initial speed in tokens per millisecond, from measurements; undefined if there are none. */
  constructor(rate?: number) {
    this.#hasGivenRate = rate !== undefined;
    this.#measuredMs = PRIOR_TOKENS / (rate ?? DEFAULT_RATE);
  }

  /** Prompt tokens processed per millisecond. */
  get rate(): number {
    return this.#measuredTokens / this.#measuredMs;
  }

  get isMeasured(): boolean {
    return this.#measuredTokens !== PRIOR_TOKENS;
  }

  /** Whether the speed comes from measurements, its own or those that gave the initial one. */
  get isRateKnown(): boolean {
    return this.#hasGivenRate || this.isMeasured;
  }

  add(work: PrefillWork, nowMs: number): void {
    this.#dropDone(nowMs);
    if (this.#work.length === 0) {
      this.#headSinceMs = nowMs;
      this.#markMs = nowMs;
    }
    this.#work.push(work);
    this.#tokens += work.tokens;
  }

  /** The first byte came (`isWorkedOff`), or the request ended without one. */
  remove(work: PrefillWork, nowMs: number, isWorkedOff: boolean): void {
    this.#dropDone(nowMs);
    const at = this.#work.indexOf(work);
    if (at < 0) return;
    if (at === 0) this.#headSinceMs = nowMs;
    this.#work.copyWithin(at, at + 1);
    this.#work.length -= 1;
    this.#tokens -= work.tokens;
    if (isWorkedOff && work.hasFirstByte) this.#measure(work.tokens, nowMs);
  }

  /** Tokens still to be processed. */
  remaining(nowMs: number): number {
    const done = this.#doneByTime(nowMs);
    const head = this.#work[done];
    if (head === undefined) return 0;
    let tokens = this.#tokens;
    let sinceMs = this.#headSinceMs;
    for (let index = 0; index < done; index++) {
      tokens -= this.#work[index]!.tokens;
      sinceMs += this.#work[index]!.tokens / this.rate;
    }
    return tokens - Math.min((nowMs - sinceMs) * this.rate, head.tokens);
  }

  /** Prompts still to be processed. */
  waiting(nowMs: number): number {
    return this.#work.length - this.#doneByTime(nowMs);
  }

  /**
   * How many prompts at the front count as done because enough time has passed. Only for responses that come whole: they have
   * no first byte that would show it.
   */
  #doneByTime(nowMs: number): number {
    let leftMs = nowMs - this.#headSinceMs;
    let done = 0;
    for (; done < this.#work.length; done++) {
      const { hasFirstByte, tokens } = this.#work[done]!;
      leftMs -= tokens / this.rate;
      if (hasFirstByte || leftMs < 0) break;
    }
    return done;
  }

  #dropDone(nowMs: number): void {
    const done = this.#doneByTime(nowMs);
    if (done === 0) return;
    for (const work of this.#work.splice(0, done)) {
      this.#tokens -= work.tokens;
      this.#headSinceMs += work.tokens / this.rate;
    }
  }

  #measure(tokens: number, nowMs: number): void {
    const keep = 0.5 ** (tokens / HALF_LIFE_TOKENS);
    this.#measuredTokens = this.#measuredTokens * keep + tokens;
    this.#measuredMs = this.#measuredMs * keep + nowMs - this.#markMs;
    this.#markMs = nowMs;
  }
}
