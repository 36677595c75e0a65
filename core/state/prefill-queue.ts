import type { ReplicaSpeed } from "./replica-speeds.ts";

/** One prompt that was sent to an endpoint and is not yet processed. */
export interface PrefillWork {
  readonly tokens: number;
  /** True for a stream: its first byte shows that the prompt is processed. A response that comes whole comes much later. */
  readonly hasFirstByte: boolean;
}

/**
 * Estimates how many prompt tokens an endpoint still has to process. Engines process prompts in the order they arrive, so the
 * first prompt in the queue shrinks with time at the replica's speed. A prompt took the time since the first byte before it, or
 * since the queue was empty or the prompt in front of it ended without one. Reading changes nothing.
 */
export class PrefillQueue {
  readonly #work: PrefillWork[] = [];
  #tokens = 0;
  /** When the first prompt in the queue became the first. */
  #headSinceMs = 0;
  /** When the last measurement ended, or the empty queue got work. */
  #markMs = 0;
  readonly #speed: Pick<ReplicaSpeed, "rateAt">;

  constructor(speed: Pick<ReplicaSpeed, "rateAt">) {
    this.#speed = speed;
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

  /** The first byte came (`isWorkedOff`), or the request ended without one. Returns what the prompt took; NaN if that is unknown. */
  remove(work: PrefillWork, nowMs: number, isWorkedOff: boolean): number {
    this.#dropDone(nowMs);
    const at = this.#work.indexOf(work);
    if (at < 0) return Number.NaN;
    if (at === 0) this.#headSinceMs = nowMs;
    const markMs = this.#markMs;
    // A stream at the front had the engine until now, also if it failed or its client left.
    if (work.hasFirstByte && (at === 0 || isWorkedOff)) this.#markMs = nowMs;
    // By hand: the built-in ways to take one out of a short list cost more than the rest of a measurement.
    for (let index = at + 1; index < this.#work.length; index++) this.#work[index - 1] = this.#work[index]!;
    this.#work.pop();
    this.#tokens -= work.tokens;
    if (!isWorkedOff || !work.hasFirstByte) return Number.NaN;
    return nowMs - markMs;
  }

  /** Whether the endpoint works on the prompt by now, or has: prompts before it are done. */
  hasBegun(work: PrefillWork, nowMs: number): boolean {
    return this.#work.indexOf(work) <= this.#doneByTime(nowMs);
  }

  /** Tokens still to be processed. */
  remaining(nowMs: number): number {
    const done = this.#doneByTime(nowMs);
    const head = this.#work[done];
    if (head === undefined) return 0;
    let tokens = this.#tokens;
    let sinceMs = this.#headSinceMs;
    const rate = this.#speed.rateAt(nowMs);
    for (let index = 0; index < done; index++) {
      tokens -= this.#work[index]!.tokens;
      sinceMs += this.#work[index]!.tokens / rate;
    }
    return tokens - Math.min((nowMs - sinceMs) * rate, head.tokens);
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
    if (this.#work.length === 0 || this.#work[0]!.hasFirstByte) return 0;
    const rate = this.#speed.rateAt(nowMs);
    let leftMs = nowMs - this.#headSinceMs;
    let done = 0;
    for (; done < this.#work.length; done++) {
      const { hasFirstByte, tokens } = this.#work[done]!;
      leftMs -= tokens / rate;
      if (hasFirstByte || leftMs < 0) break;
    }
    return done;
  }

  #dropDone(nowMs: number): void {
    const done = this.#doneByTime(nowMs);
    if (done === 0) return;
    const rate = this.#speed.rateAt(nowMs);
    for (const work of this.#work.splice(0, done)) {
      this.#tokens -= work.tokens;
      this.#headSinceMs += work.tokens / rate;
    }
  }
}
