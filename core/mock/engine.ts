import { setImmediate } from "node:timers";
import type { KvLease } from "./kv-cache.ts";
import { KvCache } from "./kv-cache.ts";
import type { MockSettings } from "./options.ts";

/** An engine that is late by more than this does not catch up: its next step is timed from now. */
const MAX_LAG_MS = 1000;

/** One prompt to compute and the number of output tokens wanted. */
export interface Sequence {
  readonly prompt: readonly number[];
  readonly replyTokens: number;
  /** Adapter and salt: prompts share prefixes only if these are equal. */
  readonly cacheKey: string;
  readonly adapter: string;
  admitted(cachedTokens: number): void;
  /** Called for each output token. */
  token(): void;
  /** Called after the last output token. */
  finished(): void;
}

/** Counters of the engine; they never decrease. */
interface EngineTotals {
  prefixQueries: number;
  prefixHits: number;
  promptTokens: number;
  generatedTokens: number;
  aborted: number;
}

interface Job {
  readonly sequence: Sequence;
  readonly hashes: readonly number[];
  lease: KvLease | undefined;
  promptLeft: number;
  replyLeft: number;
  isOver: boolean;
}

/** The part of a prompt that one step computes. */
interface Share {
  readonly job: Job;
  readonly tokens: number;
}

/**
 * Models the latency of one replica. Each step computes a chunk of prompts, in order, and one token for every request whose
 * prompt is done. As in vLLM, a request is admitted when the chunk has room for its prompt's beginning and blocks are free, and
 * finds the blocks of prompts before it cached. With a time scale of 0, a step takes one turn of the event loop.
 */
export class Engine {
  readonly totals: EngineTotals = { prefixQueries: 0, prefixHits: 0, promptTokens: 0, generatedTokens: 0, aborted: 0 };
  readonly cache: KvCache;
  readonly #settings: MockSettings;
  readonly #waiting: Job[] = [];
  #running: Job[] = [];
  #isStepping = false;
  #isClosed = false;
  /** When the current step ends, on the settings' clock. */
  #dueMs = 0;
  #cancelStep: () => void = () => {};
  /** Called when a request enters, starts or leaves. */
  onChange: () => void = () => {};

  constructor(settings: MockSettings) {
    this.#settings = settings;
    this.cache = new KvCache(settings.kvTokens, settings.blockTokens);
  }

  get running(): number {
    return this.#running.length;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Adapters with requests in the engine, sorted. */
  get adapters(): string[] {
    const names = [...this.#running, ...this.#waiting].map((job) => job.sequence.adapter).filter((name) => name !== "");
    return [...new Set(names)].sort();
  }

  /** Queues a sequence. The returned function aborts it and frees its blocks. */
  submit(sequence: Sequence): () => void {
    const { prompt, replyTokens, cacheKey } = sequence;
    const hashes = this.cache.hashes(prompt, cacheKey);
    const job: Job = { sequence, hashes, lease: undefined, promptLeft: 0, replyLeft: replyTokens, isOver: false };
    this.#waiting.push(job);
    this.onChange();
    this.#start();
    return () => this.#abort(job);
  }

  /** Stops for good; no callback is called after this. */
  close(): void {
    this.#isClosed = true;
    this.#cancelStep();
    this.#waiting.length = 0;
    this.#running = [];
  }

  #abort(job: Job): void {
    if (job.isOver) return;
    this.totals.aborted += 1;
    const place = this.#waiting.indexOf(job);
    if (place >= 0) this.#waiting.splice(place, 1);
    this.#leave(job);
  }

  #leave(job: Job): void {
    job.isOver = true;
    this.#running = this.#running.filter((other) => other !== job);
    if (job.lease) this.cache.release(job.lease);
    this.onChange();
  }

  #start(): void {
    if (this.#isStepping || this.#isClosed) return;
    this.#isStepping = true;
    this.#dueMs = this.#settings.clock.now();
    // Start the first step in a later turn, so that requests that arrive together are admitted together.
    this.#later(0, () => this.#step());
  }

  #step(): void {
    const decoding = this.#running.filter((job) => job.promptLeft === 0);
    const shares = this.#prefillShares();
    if (this.#running.length === 0) {
      this.#isStepping = false;
      return;
    }
    const prefillTokens = shares.reduce((sum, share) => sum + share.tokens, 0);
    const { prefillTokensPerS, decodeStepMs, decodePerRequestMs, stepOverheadMs } = this.#settings;
    const decodeMs = decoding.length > 0 ? decodeStepMs + decodePerRequestMs * decoding.length : 0;
    this.#later((prefillTokens / prefillTokensPerS) * 1000 + decodeMs + stepOverheadMs, () => {
      for (const { job, tokens } of shares) this.#prefilled(job, tokens);
      for (const job of decoding) this.#emit(job);
      this.#step();
    });
  }

  /** Fills the step's chunk: from prompts begun before, then from those of requests that it admits. */
  #prefillShares(): readonly Share[] {
    let left = this.#settings.chunkTokens;
    const shares: Share[] = [];
    const take = (job: Job) => {
      const tokens = Math.min(job.promptLeft, left);
      if (tokens === 0) return;
      left -= tokens;
      shares.push({ job, tokens });
      if (job.lease) this.cache.publish(job.lease, job.sequence.prompt.length - job.promptLeft + tokens);
    };
    for (const job of this.#running) take(job);
    while (left > 0 && this.#admitNext()) take(this.#running.at(-1)!);
    return shares;
  }

  /** Returns false when no request waits, or the first one has to go on waiting. */
  #admitNext(): boolean {
    const job = this.#waiting[0];
    if (!job || this.#running.length >= this.#settings.maxRunning) return false;
    const { prompt, replyTokens } = job.sequence;
    job.lease = this.cache.reserve(job.hashes, prompt.length, replyTokens);
    if (!job.lease) return false;
    this.#waiting.shift();
    job.promptLeft = Math.max(1, prompt.length - job.lease.cachedTokens);
    this.totals.prefixQueries += prompt.length;
    this.totals.prefixHits += job.lease.cachedTokens;
    this.#running.push(job);
    this.onChange();
    job.sequence.admitted(job.lease.cachedTokens);
    return true;
  }

  #prefilled(job: Job, tokens: number): void {
    if (job.isOver) return;
    job.promptLeft -= tokens;
    if (job.promptLeft > 0) return;
    this.totals.promptTokens += job.sequence.prompt.length;
    this.#emit(job);
  }

  /** Reports one token, and the end after the last one. */
  #emit(job: Job): void {
    if (job.isOver) return;
    if (job.replyLeft > 0) {
      job.replyLeft -= 1;
      this.totals.generatedTokens += 1;
      job.sequence.token();
    }
    // The callback may have aborted the job.
    if (job.isOver || job.replyLeft > 0) return;
    this.#leave(job);
    job.sequence.finished();
  }

  #later(ms: number, run: () => void): void {
    const { clock, timeScale } = this.#settings;
    const nowMs = clock.now();
    this.#dueMs = Math.max(this.#dueMs, nowMs - MAX_LAG_MS) + ms * timeScale;
    const waitMs = this.#dueMs - nowMs;
    const runUnlessClosed = () => {
      if (!this.#isClosed) run();
    };
    if (timeScale === 0 || waitMs <= 0) setImmediate(runUnlessClosed);
    else this.#cancelStep = clock.after(waitMs, runUnlessClosed);
  }
}
