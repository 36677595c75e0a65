import type { ReplicaSpeed } from "./replica-speeds.ts";

/** One prompt that was sent to an endpoint and is not yet processed. */
export interface PrefillWork {
  readonly tokens: number;
  /** True for a stream: its first byte shows that the prompt is processed. A response that comes whole comes much later. */
  readonly hasFirstByte: boolean;
}

// The places of a queue's numbers in its row. One row, because each field that holds a fraction is a piece of memory of its own, and
// a decision reads the queues of all candidates.
const PROMPTS = 0;
const TOKENS = 1;
/** When the first prompt in the queue became the first. */
const HEAD_SINCE_MS = 2;
/** Of the first prompt. */
const HEAD_TOKENS = 3;
const HEAD_HAS_FIRST_BYTE = 4;
/** When the last measurement ended, or the empty queue got work. */
const MARK_MS = 5;
const NUMBERS = 6;

/**
 * Estimates how many prompt tokens an endpoint still has to process. Engines process prompts in the order they arrive, so the
 * first prompt in the queue shrinks with time at the replica's speed. A prompt took the time since the first byte before it, or
 * since the queue was empty or the prompt in front of it ended without one. Reading changes nothing.
 */
export class PrefillQueue {
  readonly #work: PrefillWork[] = [];
  readonly #row = new Float64Array(NUMBERS);
  readonly #speed: ReplicaSpeed;

  constructor(speed: ReplicaSpeed) {
    this.#speed = speed;
  }

  add(work: PrefillWork, nowMs: number): void {
    this.#dropDone(nowMs);
    const row = this.#row;
    if (this.#work.length === 0) {
      row[HEAD_SINCE_MS] = nowMs;
      row[MARK_MS] = nowMs;
    }
    this.#work.push(work);
    row[TOKENS]! += work.tokens;
    this.#noteHead();
  }

  /** The first byte came (`isWorkedOff`), or the request ended without one. Returns what the prompt took; NaN if that is unknown. */
  remove(work: PrefillWork, nowMs: number, isWorkedOff: boolean): number {
    this.#dropDone(nowMs);
    const at = this.#work.indexOf(work);
    if (at < 0) return Number.NaN;
    const row = this.#row;
    if (at === 0) row[HEAD_SINCE_MS] = nowMs;
    const markMs = row[MARK_MS]!;
    // A stream at the front had the engine until now, also if it failed or its client left.
    if (work.hasFirstByte && (at === 0 || isWorkedOff)) row[MARK_MS] = nowMs;
    // By hand: the built-in ways to take one out of a short list cost more than the rest of a measurement.
    for (let index = at + 1; index < this.#work.length; index++) this.#work[index - 1] = this.#work[index]!;
    this.#work.pop();
    row[TOKENS]! -= work.tokens;
    this.#noteHead();
    if (!isWorkedOff || !work.hasFirstByte) return Number.NaN;
    return nowMs - markMs;
  }

  /** Whether the endpoint works on the prompt by now, or has: prompts before it are done. */
  hasBegun(work: PrefillWork, nowMs: number): boolean {
    return this.#work.indexOf(work) <= this.#doneByTime(nowMs);
  }

  /** Tokens still to be processed. */
  remaining(nowMs: number): number {
    const row = this.#row;
    if (row[PROMPTS] === 0) return 0;
    const rate = this.#speed.rateAt(nowMs);
    const done = this.#doneByTime(nowMs);
    if (done > 0) return this.#remainingBehind(done, rate, nowMs);
    return row[TOKENS]! - Math.min((nowMs - row[HEAD_SINCE_MS]!) * rate, row[HEAD_TOKENS]!);
  }

  /** How long a first token is overdue: the time since the last one, or since there was work, beyond twice what the first prompt takes. */
  lateMs(nowMs: number): number {
    const row = this.#row;
    if (row[PROMPTS] === 0 || row[HEAD_HAS_FIRST_BYTE] === 0) return 0;
    return nowMs - row[MARK_MS]! - (2 * row[HEAD_TOKENS]!) / this.#speed.rateAt(nowMs);
  }

  /** Prompts still to be processed. */
  waiting(nowMs: number): number {
    return this.#row[PROMPTS]! - this.#doneByTime(nowMs);
  }

  #remainingBehind(done: number, rate: number, nowMs: number): number {
    const head = this.#work[done];
    if (head === undefined) return 0;
    let tokens = this.#row[TOKENS]!;
    let sinceMs = this.#row[HEAD_SINCE_MS]!;
    for (let index = 0; index < done; index++) {
      tokens -= this.#work[index]!.tokens;
      sinceMs += this.#work[index]!.tokens / rate;
    }
    return tokens - Math.min((nowMs - sinceMs) * rate, head.tokens);
  }

  /**
   * How many prompts at the front count as done because enough time has passed. Only for responses that come whole: they have
   * no first byte that would show it.
   */
  #doneByTime(nowMs: number): number {
    const row = this.#row;
    if (row[PROMPTS] === 0 || row[HEAD_HAS_FIRST_BYTE] === 1) return 0;
    const rate = this.#speed.rateAt(nowMs);
    let leftMs = nowMs - row[HEAD_SINCE_MS]! - row[HEAD_TOKENS]! / rate;
    let done = 0;
    while (leftMs >= 0) {
      done += 1;
      const next = this.#work[done];
      if (next === undefined || next.hasFirstByte) break;
      leftMs -= next.tokens / rate;
    }
    return done;
  }

  #dropDone(nowMs: number): void {
    const done = this.#doneByTime(nowMs);
    if (done === 0) return;
    const rate = this.#speed.rateAt(nowMs);
    for (const work of this.#work.splice(0, done)) {
      this.#row[TOKENS]! -= work.tokens;
      this.#row[HEAD_SINCE_MS]! += work.tokens / rate;
    }
    this.#noteHead();
  }

  /** Writes what readers need of the prompts, so that they read the row alone. */
  #noteHead(): void {
    const row = this.#row;
    const head = this.#work[0];
    row[PROMPTS] = this.#work.length;
    if (head === undefined) return;
    row[HEAD_TOKENS] = head.tokens;
    row[HEAD_HAS_FIRST_BYTE] = head.hasFirstByte ? 1 : 0;
  }
}
