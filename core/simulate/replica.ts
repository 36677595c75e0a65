import type { EventQueue } from "./events.ts";
import { MinHeap } from "./heap.ts";
import { type Job, uncachedTokens } from "./job.ts";
import { KvCache } from "./kv-cache.ts";
import { Pace } from "./pace.ts";
import type { Prompt } from "./trace.ts";
import { WaitingJobs } from "./waiting-jobs.ts";

/** How fast a replica computes. The defaults are the published parameters of SMG's mock worker. */
export interface ReplicaModel {
  readonly prefillTokensPerS: number;
  readonly decodeStepMs: number;
  readonly decodePerRequestMs: number;
  /** Fixed duration of every step. */
  readonly overheadMs: number;
  /** Most prompt tokens computed in one step, over all prompts together. */
  readonly chunkTokens: number;
  readonly maxRunning: number;
  readonly kvTokens: number;
  readonly blockTokens: number;
}

export const DEFAULT_MODEL: ReplicaModel = {
  prefillTokensPerS: 8_000,
  decodeStepMs: 6,
  decodePerRequestMs: 0.35,
  overheadMs: 1,
  chunkTokens: 2_048,
  maxRunning: 256,
  kvTokens: 524_288,
  blockTokens: 16,
};

export interface ReplicaEvents {
  /** The prompt is computed and the first output token exists. */
  firstToken(job: Job): void;
  finished(job: Job): void;
  /** In each of `steps` steps of `stepMs`, each of `batch` requests got one token. */
  decoded(batch: number, steps: number, stepMs: number): void;
}

/**
 * An engine with continuous batching. Requests are admitted in order while blocks are free. A step computes one chunk of
 * prompts and one token for each request whose prompt is done. Steps without prompt work are simulated as one event until
 * something changes.
 */
export class Replica {
  /** Total time spent in steps. */
  busyMs = 0;
  readonly #model: ReplicaModel;
  readonly #speed: number;
  readonly #queue: EventQueue;
  readonly #pace: Pace;
  readonly #events: ReplicaEvents;
  readonly #waiting = new WaitingJobs();
  readonly #prefilling: Job[] = [];
  /** Keyed by the number of the decode step that computes the last token. */
  readonly #decoding = new MinHeap<Job>();
  /** Decode steps finished so far. */
  #stepsDone = 0;
  #cache: KvCache;
  /** Steps that run now, all of `#stepMs` in the replica's own time; 0 when idle. */
  #steps = 0;
  #stepMs = 0;
  #startedAtMs = 0;
  /** Prompt tokens that each of these steps computes. */
  #stepTokens = 0;
  /** When the last token was computed, as far as steps have ended or the pace has changed. */
  #lastTokenMs = Number.NEGATIVE_INFINITY;

  constructor(model: ReplicaModel, speed: number, queue: EventQueue, events: ReplicaEvents) {
    this.#cache = new KvCache(model.kvTokens, model.blockTokens);
    this.#model = model;
    this.#speed = speed;
    this.#queue = queue;
    this.#pace = new Pace(queue);
    this.#events = events;
  }

  get cache(): KvCache {
    return this.#cache;
  }

  get waiting(): readonly Job[] {
    return this.#waiting.all;
  }

  get prefilling(): readonly Job[] {
    return this.#prefilling;
  }

  /** Requests of which no token has been computed; engines report them as waiting. */
  get untouched(): number {
    return this.waiting.length + this.#prefilling.filter((job) => !job.isBegun).length;
  }

  get size(): number {
    return this.waiting.length + this.#prefilling.length + this.#decoding.size;
  }

  /** Prompt tokens that are still to be computed; a step computes its own evenly. */
  get prefillLeft(): number {
    const stepShare = this.#isPrefillStep ? Math.min(1, (this.#pace.now() - this.#startedAtMs) / this.#stepMs) : 1;
    let tokens = this.#stepTokens * (1 - stepShare);
    for (const job of this.#prefilling) tokens += job.prefillLeft;
    return tokens + this.#waiting.uncachedTokens;
  }

  /** Tokens of this prompt that would be found in the cache: those cached now, or of prompts that wait in front of it. */
  cachedTokens(prompt: Prompt): number {
    return Math.max(this.#cache.heldTokens(prompt), this.#waiting.sharedTokens(prompt));
  }

  /** When the last token was computed, in simulated time; -Infinity before the first. */
  get lastTokenMs(): number {
    if (this.#steps === 0 || this.#isPrefillStep || this.#pace.factor === 0) return this.#lastTokenMs;
    const stepsDone = Math.floor((this.#pace.now() - this.#startedAtMs) / this.#stepMs);
    const tokenMs = this.#startedAtMs + stepsDone * this.#stepMs;
    return stepsDone === 0 || tokenMs <= this.#pace.changedMs ? this.#lastTokenMs : this.#pace.simulated(tokenMs);
  }

  /** From now on it works at this share of its speed; at 0 it stops where it is. */
  changePace(factor: number): void {
    this.#lastTokenMs = this.lastTokenMs;
    this.#pace.change(factor);
  }

  /** Queues a request. Returns false when it does not fit even into an empty cache. */
  enqueue(job: Job): boolean {
    const { prompt, outputTokens } = job.request;
    if (!this.#cache.canEverHold(prompt, outputTokens)) return false;
    job.cachedTokens = this.cachedTokens(prompt);
    this.#waiting.push(job);
    if (this.#steps === 0) this.#begin();
    else if (!this.#isPrefillStep) this.#cutShort();
    return true;
  }

  /** Gives a request up whose client has left. */
  cancel(job: Job): void {
    if (this.#waiting.remove(job)) return;
    if (!removeFrom(this.#prefilling, job) && !this.#decoding.remove(job)) return;
    this.#cache.release(job.request.prompt, job.request.outputTokens);
    if (!this.#isPrefillStep) this.#cutShort();
  }

  /** Another process takes over, with an empty cache and nothing under way. */
  restart(): void {
    this.#pace.cancel();
    this.#steps = 0;
    this.#stepTokens = 0;
    this.#waiting.clear();
    this.#prefilling.length = 0;
    this.#decoding.clear();
    this.#cache = new KvCache(this.#model.kvTokens, this.#model.blockTokens);
  }

  get #isPrefillStep(): boolean {
    return this.#stepTokens > 0;
  }

  #begin(): void {
    this.#admit();
    const batch = this.#decoding.size;
    const prefillTokens = this.#takeChunk();
    this.#stepTokens = prefillTokens;
    if (prefillTokens === 0 && batch === 0) return;
    const { prefillTokensPerS, decodeStepMs, decodePerRequestMs, overheadMs } = this.#model;
    const prefillMs = (prefillTokens / prefillTokensPerS) * 1000;
    const decodeMs = batch > 0 ? decodeStepMs + decodePerRequestMs * batch : 0;
    this.#stepMs = (prefillMs + decodeMs + overheadMs) / this.#speed;
    this.#startedAtMs = this.#pace.now();
    this.#plan(prefillTokens > 0 ? 1 : this.#decoding.minKey - this.#stepsDone);
  }

  #admit(): void {
    while (this.#prefilling.length + this.#decoding.size < this.#model.maxRunning) {
      const [job] = this.waiting;
      if (job === undefined) return;
      const { prompt, outputTokens } = job.request;
      const held = this.#cache.take(prompt, outputTokens);
      if (held < 0) return;
      this.#waiting.remove(job);
      job.cachedTokens = held;
      job.prefillLeft = uncachedTokens(job);
      this.#prefilling.push(job);
    }
  }

  /** Assigns the next step's prompt tokens to requests. Returns how many there are. */
  #takeChunk(): number {
    let left = this.#model.chunkTokens;
    for (const job of this.#prefilling) {
      if (left === 0) break;
      const tokens = Math.min(left, job.prefillLeft);
      job.prefillLeft -= tokens;
      job.isBegun = true;
      left -= tokens;
    }
    return this.#model.chunkTokens - left;
  }

  #plan(steps: number): void {
    this.#steps = steps;
    this.#pace.plan(this.#startedAtMs + steps * this.#stepMs, () => this.#end());
  }

  /** A request arrived or left: of the steps that run, only the current one is still finished. */
  #cutShort(): void {
    const begun = Math.ceil((this.#pace.now() - this.#startedAtMs) / this.#stepMs);
    if (begun < this.#steps) this.#plan(begun);
  }

  #end(): void {
    const steps = this.#steps;
    const batch = this.#decoding.size;
    const stepMs = this.#stepMs / this.#pace.factor;
    this.#steps = 0;
    this.busyMs += steps * stepMs;
    if (batch > 0) {
      this.#stepsDone += steps;
      this.#lastTokenMs = this.#queue.now();
      this.#events.decoded(batch, steps, stepMs);
    }
    while (this.#decoding.minKey <= this.#stepsDone) this.#finish(this.#decoding.pop()!);
    while (this.#prefilling[0]?.prefillLeft === 0) this.#firstToken(this.#prefilling.shift()!);
    this.#begin();
  }

  #firstToken(job: Job): void {
    this.#lastTokenMs = this.#queue.now();
    this.#events.firstToken(job);
    const tokensLeft = job.request.outputTokens - 1;
    if (tokensLeft === 0) this.#finish(job);
    else this.#decoding.push(this.#stepsDone + tokensLeft, job);
  }

  #finish(job: Job): void {
    this.#cache.release(job.request.prompt, job.request.outputTokens);
    this.#events.finished(job);
  }
}

/** Whether it was there. */
function removeFrom(jobs: Job[], job: Job): boolean {
  const at = jobs.indexOf(job);
  if (at >= 0) jobs.splice(at, 1);
  return at >= 0;
}
