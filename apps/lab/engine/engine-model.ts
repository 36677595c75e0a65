import type { EngineTimes } from "./engine-times.ts";
import { type CacheListener, type EnginePrompt, KvCache, type KvLease } from "./kv-cache.ts";

/** A request inside an engine. The engine model alone changes it once it is queued. */
export class EngineJob {
  readonly prompt: EnginePrompt;
  readonly outputTokens: number;
  /** Prompt tokens that were cached when the request was admitted first. */
  cachedTokens = 0;
  /** Tokens still to be computed before the next output token, once it is admitted. */
  prefillLeft = 0;
  /** Output tokens that exist. */
  generated = 0;
  /** How often it was admitted: more than once if others took its blocks. */
  admissions = 0;
  /** Whether a step has included a part of its prompt. */
  isBegun = false;
  isOver = false;
  /** Another engine has computed its prompt: what is not cached here comes from there. False once it has come. */
  awaitsTransfer = false;
  /** Its blocks stay when it is finished, for another engine to fetch, until `release`. */
  keepsBlocks = false;
  /** Undefined while it waits. */
  lease: KvLease | undefined;

  constructor(prompt: EnginePrompt, outputTokens: number) {
    this.prompt = prompt;
    this.outputTokens = outputTokens;
  }

  get outputLeft(): number {
    return Math.max(0, this.outputTokens - this.generated);
  }

  /** Prompt tokens that an engine computes for it. The last one is always computed: it yields the first output token. */
  get uncachedTokens(): number {
    return this.awaitsTransfer ? 1 : Math.max(1, this.prompt.tokens - this.cachedTokens);
  }
}

export interface EngineEvents<Job> {
  readonly cache?: CacheListener | undefined;
  /** Whether a request has to wait although there is room, so that others go on before it. */
  isDeferred?(job: Job): boolean;
  /** For the first time. */
  admitted(job: Job): void;
  /** It has blocks for so many tokens of its prompt, which now come from another engine; `arrived` ends it. */
  transferring?(job: Job, tokens: number): void;
  /** The prompt is computed, and the first output token exists if any is wanted. */
  prefilled(job: Job): void;
  /** The last output token exists. */
  finished(job: Job): void;
}

/**
 * An engine with continuous batching. A step computes one chunk of prompts, in order, and one token for each request whose
 * prompt is done. It knows no clock: who runs it calls `begin`, lets the step's time pass and calls `end`.
 *
 * A request needs room for its whole prompt when it is admitted, and for each output token when it is computed. Where there is none, as in
 * vLLM, the one that was admitted last loses its blocks and waits in front of all others: what was computed is computed again, but for
 * what is still cached of its prompt.
 *
 * - exact: as in vLLM, a request is admitted when the chunk has room for its prompt's beginning and blocks are free; its pieces
 *   are found by others once a step computes them; the piece with the prompt's last token is always computed.
 * - coarse: for pieces that are many engine blocks long. A request is admitted as soon as blocks are free, and its pieces are found
 *   from then on; of a prompt that is cached whole, only the last token is computed.
 */
export class EngineModel<Job extends EngineJob> {
  readonly cache: KvCache;
  readonly waiting: Job[] = [];
  readonly prefilling: Job[] = [];
  /** Admitted requests whose prompts come from another engine. */
  readonly arriving: Job[] = [];
  /** Requests that get one token in each step. */
  readonly decoding: Job[] = [];
  /** Prompt tokens that the step under way computes. */
  stepTokens = 0;
  /** How often a request lost its blocks to others. */
  preemptions = 0;
  /** Finished requests whose blocks another engine may still fetch. */
  readonly #kept = new Set<Job>();
  readonly #times: EngineTimes;
  readonly #isCoarse: boolean;
  readonly #events: EngineEvents<Job>;

  constructor(times: EngineTimes, pieces: "exact" | "coarse", events: EngineEvents<Job>) {
    this.cache = new KvCache(times.kvTokens, times.blockTokens, events.cache);
    this.#times = times;
    this.#isCoarse = pieces === "coarse";
    this.#events = events;
  }

  /** Admits requests and begins a step. Returns how many milliseconds it takes; undefined when there is nothing to compute. */
  begin(): number | undefined {
    const { prefillTokensPerS, decodeStepMs, decodePerRequestMs, overheadMs } = this.#times;
    const isShort = this.#makeRoomForOutput();
    const batch = this.decoding.length;
    this.stepTokens = this.#takeChunk(isShort);
    if (this.stepTokens === 0 && batch === 0) return undefined;
    const prefillMs = (this.stepTokens / prefillTokensPerS) * 1000;
    const decodeMs = batch > 0 ? decodeStepMs + decodePerRequestMs * batch : 0;
    return prefillMs + decodeMs + overheadMs;
  }

  /** In how many steps like the one begun a request will end, or the cache is full, if none comes or leaves. */
  get equalSteps(): number {
    if (this.stepTokens > 0) return 1;
    let steps = this.decoding.reduce((fewest, { outputLeft }) => Math.min(fewest, outputLeft), Number.POSITIVE_INFINITY);
    while (steps > 1 && !this.#hasRoomFor(steps - 1)) steps = Math.ceil(steps / 2);
    return steps;
  }

  /** So many equal steps have ended. */
  end(steps: number): void {
    // A copy, because callbacks may remove requests.
    for (const job of [...this.decoding]) {
      job.generated += steps;
      if (steps > 1) this.cache.grow(job.lease!, steps - 1);
      if (job.outputLeft === 0) this.#finish(job);
    }
    while (this.prefilling[0]?.prefillLeft === 0) this.#prefilled(this.prefilling.shift()!);
  }

  /** A request is given up, wherever it is. Returns false when it is over already. */
  remove(job: Job): boolean {
    if (!this.#leave(job)) return false;
    if (job.lease) this.cache.release(job.lease);
    return true;
  }

  /** The prompt that a request awaited is here, in blocks that others can use too. */
  arrived(job: Job): void {
    const at = this.arriving.indexOf(job);
    if (at < 0) return;
    this.arriving.splice(at, 1);
    job.awaitsTransfer = false;
    job.prefillLeft = 1;
    this.cache.publish(job.lease!, job.prompt.tokens - (this.#isCoarse ? 0 : 1));
    // In front of prompts of which nothing is computed yet, as it was admitted before.
    const next = this.prefilling.findIndex(({ isBegun }) => !isBegun);
    job.isBegun = true;
    this.prefilling.splice(next < 0 ? this.prefilling.length : next, 0, job);
  }

  /** Whether another engine can still fetch what a finished request has computed. */
  keeps(job: Job): boolean {
    return this.#kept.has(job);
  }

  /** Nobody fetches it any more. Returns false when its blocks are free already. */
  release(job: Job): boolean {
    if (!this.#kept.delete(job)) return false;
    this.cache.release(job.lease!);
    return true;
  }

  /** Everything under way is over; nobody is told. */
  clear(): void {
    for (const jobs of this.#lists) {
      for (const job of jobs) job.isOver = true;
      jobs.length = 0;
    }
    this.#kept.clear();
  }

  get #lists(): readonly Job[][] {
    return [this.waiting, this.arriving, this.prefilling, this.decoding];
  }

  /** Returns false when it has left already. */
  #leave(job: Job): boolean {
    if (job.isOver) return false;
    job.isOver = true;
    for (const jobs of this.#lists) {
      const at = jobs.indexOf(job);
      if (at >= 0) jobs.splice(at, 1);
    }
    return true;
  }

  /** For one more token of each request that has its prompt. Returns whether one had to lose its blocks for that. */
  #makeRoomForOutput(): boolean {
    const before = this.preemptions;
    for (let at = 0; at < this.decoding.length; at++) {
      const job = this.decoding[at]!;
      while (job.lease !== undefined && !this.cache.grow(job.lease, 1)) this.#preemptLast();
    }
    return this.preemptions > before;
  }

  #preemptLast(): void {
    const job = (this.prefilling.pop() ?? this.decoding.pop())!;
    this.cache.release(job.lease!);
    job.lease = undefined;
    job.prefillLeft = 0;
    this.waiting.unshift(job);
    this.preemptions += 1;
  }

  #hasRoomFor(tokens: number): boolean {
    let blocks = 0;
    for (const { lease } of this.decoding) blocks += this.cache.missing(lease!, tokens);
    return blocks <= this.cache.freeBlocks;
  }

  /** Fills the step's chunk and returns how many tokens are in it. While the cache is short of blocks, nobody is admitted. */
  #takeChunk(isShort: boolean): number {
    let left = this.#times.chunkTokens;
    if (this.#isCoarse && !isShort) while (this.#admitNext());
    for (const job of this.prefilling) left -= this.#take(job, left);
    while (left > 0 && !isShort && this.#admitNext()) {
      // The one that was admitted, unless its prompt is on its way; all before it have taken what they need.
      const job = this.prefilling.at(-1);
      if (job !== undefined) left -= this.#take(job, left);
    }
    return this.#times.chunkTokens - left;
  }

  #take(job: Job, most: number): number {
    const tokens = Math.min(most, job.prefillLeft);
    if (tokens === 0) return 0;
    job.prefillLeft -= tokens;
    job.isBegun = true;
    this.cache.publish(job.lease!, job.prompt.tokens + job.generated - job.prefillLeft);
    return tokens;
  }

  /** Returns false when no request waits that may go on, or the first one of these has to go on waiting. */
  #admitNext(): boolean {
    const job = this.waiting.find((each) => this.#events.isDeferred?.(each) !== true);
    const running = this.arriving.length + this.prefilling.length + this.decoding.length;
    if (job === undefined || running >= this.#times.maxRunning) return false;
    const { prompt, generated } = job;
    job.lease = this.cache.reserve(prompt, generated, this.#isCoarse ? prompt.tokens : prompt.tokens - 1);
    if (job.lease === undefined) return false;
    this.waiting.splice(this.waiting.indexOf(job), 1);
    job.admissions += 1;
    if (job.awaitsTransfer) this.arriving.push(job);
    else this.#compute(job, job.lease);
    if (job.admissions > 1) return true;
    job.cachedTokens = job.lease.cachedTokens;
    this.#events.admitted(job);
    if (job.awaitsTransfer) this.#events.transferring?.(job, prompt.tokens - job.lease.cachedTokens);
    return true;
  }

  #compute(job: Job, lease: KvLease): void {
    const { prompt, generated } = job;
    this.prefilling.push(job);
    job.prefillLeft = Math.max(1, prompt.tokens + generated - lease.cachedTokens);
    if (this.#isCoarse) this.cache.publish(lease, prompt.tokens);
  }

  #prefilled(job: Job): void {
    if (job.generated === 0) {
      job.generated = Math.min(1, job.outputTokens);
      this.#events.prefilled(job);
    }
    if (job.isOver) return;
    if (job.outputLeft === 0) this.#finish(job);
    else this.decoding.push(job);
  }

  #finish(job: Job): void {
    if (!this.#leave(job)) return;
    if (job.keepsBlocks) this.#kept.add(job);
    else this.cache.release(job.lease!);
    this.#events.finished(job);
  }
}
