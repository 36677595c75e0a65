/** Prompt work sent to one endpoint and not yet answered. */
export interface PrefillWork {
  readonly tokens: number;
  /** True where the first byte of the answer says that the prompt is done; a whole answer comes much later. */
  readonly hasFirstByte: boolean;
}

/** Tokens per millisecond before anything was measured. */
export const DEFAULT_RATE = 8;
/** What is believed of the speed at first weighs as much as so many measured tokens. */
const PRIOR_TOKENS = 20_000;
/** After so many tokens an older measurement counts half. */
const HALF_LIFE_TOKENS = 200_000;

/**
 * How far an endpoint is with the prompts it was sent. Engines work prompts off in the order they came, so the first in line
 * is taken to shrink with time at the endpoint's measured speed: tokens answered by a first byte per time in which there was
 * something to work on. Reading changes nothing.
 */
export class PrefillQueue {
  readonly #work: PrefillWork[] = [];
  #tokens = 0;
  /** When the first in line came to be worked on. */
  #headSinceMs = 0;
  /** When the last measurement ended, or work came after none. */
  #markMs = 0;
  #measuredTokens = PRIOR_TOKENS;
  #measuredMs: number;

  /** `rate` is what to believe at first, in tokens per millisecond. */
  constructor(rate = DEFAULT_RATE) {
    this.#measuredMs = PRIOR_TOKENS / rate;
  }

  /** Prompt tokens it works off in a millisecond. */
  get rate(): number {
    return this.#measuredTokens / this.#measuredMs;
  }

  get isMeasured(): boolean {
    return this.#measuredTokens !== PRIOR_TOKENS;
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

  /** Its first byte came, or it ended without one. */
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

  /** Tokens still to be worked off. */
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

  /** How many prompts that is. */
  waiting(nowMs: number): number {
    return this.#work.length - this.#doneByTime(nowMs);
  }

  /** How many of the first in line are done because enough time has passed: nothing else will say so of a whole response. */
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
