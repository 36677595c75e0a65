import type { EventQueue } from "./events.ts";
import { MinHeap } from "./heap.ts";
import { KvCache } from "./kv-cache.ts";
import type { TraceRequest } from "./trace.ts";

/** How a replica computes: the published parameters of SMG's mock worker. */
export interface ReplicaModel {
  readonly prefillTokensPerS: number;
  readonly decodeStepMs: number;
  readonly decodePerRequestMs: number;
  /** What every step costs, whatever it does. */
  readonly overheadMs: number;
  /** Prompt tokens of one step, shared by all prompts under way. */
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

/** One request inside a replica. */
export class Job {
  readonly request: TraceRequest;
  /** Prompt tokens found in the cache when the replica began with it. */
  cachedTokens = 0;
  /** Prompt tokens still to be worked off, once it has begun. */
  prefillLeft = 0;
  /** Whether a part of its prompt was in a step. */
  isBegun = false;

  constructor(request: TraceRequest) {
    this.request = request;
  }
}

export interface ReplicaEvents {
  /** The prompt is worked off and the answer's first token is out. */
  firstToken(job: Job): void;
  finished(job: Job): void;
  /** `steps` steps of this length each brought every one of `batch` requests a token. */
  decoded(batch: number, steps: number, stepMs: number): void;
}

/**
 * An engine with continuous batching. Requests are admitted in order while blocks are free; a step works off one chunk of
 * prompt and brings one token to each request past its prompt. Steps without prompt work run in one go until something changes.
 */
export class Replica {
  readonly cache: KvCache;
  /** Time spent in steps. */
  busyMs = 0;
  readonly #model: ReplicaModel;
  readonly #speed: number;
  readonly #queue: EventQueue;
  readonly #events: ReplicaEvents;
  readonly #waiting: Job[] = [];
  readonly #prefilling: Job[] = [];
  /** By the decode step that brings the last token. */
  readonly #decoding = new MinHeap<Job>();
  /** Decode steps so far. */
  #stepsDone = 0;
  /** What runs now: so many steps of one length; 0 when idle. */
  #steps = 0;
  #stepMs = 0;
  #startedAtMs = 0;
  #isPrefillStep = false;
  /** An end that was scheduled before the steps were cut short is not the end any more. */
  #schedule = 0;

  constructor(model: ReplicaModel, speed: number, queue: EventQueue, events: ReplicaEvents) {
    this.cache = new KvCache(model.kvTokens, model.blockTokens);
    this.#model = model;
    this.#speed = speed;
    this.#queue = queue;
    this.#events = events;
  }

  get waiting(): readonly Job[] {
    return this.#waiting;
  }

  get prefilling(): readonly Job[] {
    return this.#prefilling;
  }

  /** Requests of which no token was computed yet: what engines count as waiting. */
  get untouched(): number {
    return this.#waiting.length + this.#prefilling.filter((job) => !job.isBegun).length;
  }

  get size(): number {
    return this.#waiting.length + this.#prefilling.length + this.#decoding.size;
  }

  /** Queues a request; false when the replica could never hold it. */
  enqueue(job: Job): boolean {
    const { prompt, outputTokens } = job.request;
    if (!this.cache.canEverHold(prompt, outputTokens)) return false;
    this.#waiting.push(job);
    if (this.#steps === 0) this.#begin();
    else if (!this.#isPrefillStep) this.#cutShort();
    return true;
  }

  #begin(): void {
    this.#admit();
    const batch = this.#decoding.size;
    const prefillTokens = this.#takeChunk();
    if (prefillTokens === 0 && batch === 0) return;
    const { prefillTokensPerS, decodeStepMs, decodePerRequestMs, overheadMs } = this.#model;
    const prefillMs = (prefillTokens / prefillTokensPerS) * 1000;
    const decodeMs = batch > 0 ? decodeStepMs + decodePerRequestMs * batch : 0;
    this.#isPrefillStep = prefillTokens > 0;
    this.#stepMs = (prefillMs + decodeMs + overheadMs) / this.#speed;
    this.#startedAtMs = this.#queue.now();
    this.#plan(this.#isPrefillStep ? 1 : this.#decoding.minKey - this.#stepsDone);
  }

  #admit(): void {
    while (this.#waiting.length > 0 && this.#prefilling.length + this.#decoding.size < this.#model.maxRunning) {
      const job = this.#waiting[0]!;
      const { prompt, outputTokens } = job.request;
      const held = this.cache.take(prompt, outputTokens);
      if (held < 0) return;
      this.#waiting.shift();
      job.cachedTokens = held;
      // The last token is always computed: it yields the first one of the answer.
      job.prefillLeft = Math.max(1, prompt.tokens - held);
      this.#prefilling.push(job);
    }
  }

  /** The prompt tokens of the next step. */
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
    this.#schedule += 1;
    const schedule = this.#schedule;
    this.#queue.at(this.#startedAtMs + steps * this.#stepMs, () => {
      if (schedule === this.#schedule) this.#end();
    });
  }

  /** A request came: only the step that is under way is finished. */
  #cutShort(): void {
    const begun = Math.ceil((this.#queue.now() - this.#startedAtMs) / this.#stepMs);
    if (begun < this.#steps) this.#plan(begun);
  }

  #end(): void {
    const steps = this.#steps;
    const batch = this.#decoding.size;
    this.#steps = 0;
    this.busyMs += steps * this.#stepMs;
    if (batch > 0) {
      this.#stepsDone += steps;
      this.#events.decoded(batch, steps, this.#stepMs);
    }
    while (this.#decoding.minKey <= this.#stepsDone) this.#finish(this.#decoding.pop()!);
    while (this.#prefilling[0]?.prefillLeft === 0) this.#firstToken(this.#prefilling.shift()!);
    this.#begin();
  }

  #firstToken(job: Job): void {
    this.#events.firstToken(job);
    const tokensLeft = job.request.outputTokens - 1;
    if (tokensLeft === 0) this.#finish(job);
    else this.#decoding.push(this.#stepsDone + tokensLeft, job);
  }

  #finish(job: Job): void {
    this.cache.release(job.request.prompt, job.request.outputTokens);
    this.#events.finished(job);
  }
}
