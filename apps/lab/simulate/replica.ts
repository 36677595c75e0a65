import { AdapterSlots, type AdapterTimes } from "../engine/adapter-slots.ts";
import { EngineModel } from "../engine/engine-model.ts";
import type { EngineTimes } from "../engine/engine-times.ts";
import type { CacheListener, KvCache } from "../engine/kv-cache.ts";
import type { EventQueue } from "./events.ts";
import type { Job, OfferSource } from "./job.ts";
import { Pace } from "./pace.ts";
import type { Prompt } from "./trace.ts";

/** What a replica computes, as it goes on. */
export interface ReplicaProgress {
  /** The prompt is computed and the first output token exists. */
  firstToken(job: Job): void;
  /** In each of `steps` steps of `stepMs`, each of `batch` requests got one token. */
  decoded(batch: number, steps: number, stepMs: number): void;
}

export interface ReplicaEvents extends ReplicaProgress {
  readonly cache?: CacheListener | undefined;
  finished(job: Job): void;
  /** So many tokens of the request's prompt have to come from another replica; `arrived` ends it. */
  transferring?(job: Job, tokens: number): void;
}

/** The engine model in simulated time. Steps without prompt work are simulated as one event until something changes. */
export class Replica implements OfferSource {
  /** Total time spent in steps. */
  busyMs = 0;
  readonly #times: EngineTimes;
  readonly #speed: number;
  readonly #queue: EventQueue;
  readonly #pace: Pace;
  readonly #events: ReplicaEvents;
  readonly #waitingPrompts = new WaitingPrompts();
  readonly #adapters: AdapterTimes | undefined;
  #model: EngineModel<Job>;
  /** Undefined where what is asked for are base models. */
  #slots: AdapterSlots | undefined;
  #earlierLoads = 0;
  /** Steps that run now, all of `#stepMs` in the replica's own time; 0 when idle. */
  #steps = 0;
  #stepMs = 0;
  #startedAtMs = 0;
  #isEnding = false;
  /** When the last token was computed, as far as steps have ended or the pace has changed. */
  #lastTokenMs = Number.NEGATIVE_INFINITY;

  /** `speed`: 1 is as the times say, 0.5 takes twice as long. With `adapters`, what requests ask for are adapters. */
  constructor(times: EngineTimes, speed: number, queue: EventQueue, events: ReplicaEvents, adapters?: AdapterTimes) {
    this.#times = times;
    this.#speed = speed;
    this.#queue = queue;
    this.#pace = new Pace(queue);
    this.#events = events;
    this.#adapters = adapters;
    this.#slots = adapters && new AdapterSlots(adapters);
    this.#model = this.#emptyModel();
  }

  /** How often it has loaded an adapter from its disk. */
  get adapterLoads(): number {
    return this.#earlierLoads + (this.#slots?.loads.cold ?? 0);
  }

  /** Adapters with requests under way. */
  get adapters(): ReadonlySet<string> {
    const { waiting, prefilling, decoding } = this.#model;
    return adaptersOf([...waiting, ...prefilling, ...decoding]);
  }

  get cache(): KvCache {
    return this.#model.cache;
  }

  get waiting(): readonly Job[] {
    return this.#model.waiting;
  }

  get prefilling(): readonly Job[] {
    return this.#model.prefilling;
  }

  /** Requests under way. */
  get size(): number {
    return this.unanswered + this.#model.decoding.length;
  }

  /** Requests without output yet. */
  get unanswered(): number {
    return this.waiting.length + this.#model.arriving.length + this.prefilling.length;
  }

  /** Requests of which no token has been computed; engines report them as waiting. */
  get untouched(): number {
    return this.waiting.length + this.#model.arriving.length + this.prefilling.filter((job) => !job.isBegun).length;
  }

  /** The others, which engines report as running. */
  get running(): number {
    return this.size - this.untouched;
  }

  /** Uncached tokens of all prompts that have no output yet, computed or not. */
  get prefillTokens(): number {
    const jobs = [...this.prefilling, ...this.waiting];
    return jobs.reduce((tokens, { offer, prompt, cachedTokens }) => tokens + (offer ? 0 : prompt.tokens - cachedTokens), 0);
  }

  /** Prompt tokens that are still to be computed; a step computes its own evenly. */
  get prefillLeft(): number {
    const stepShare = this.#isPrefillStep ? Math.min(1, (this.#pace.now() - this.#startedAtMs) / this.#stepMs) : 1;
    let tokens = this.#model.stepTokens * (1 - stepShare);
    for (const job of this.prefilling) tokens += job.prefillLeft;
    let waitingTokens = 0;
    for (const job of this.waiting) waitingTokens += job.uncachedTokens;
    return tokens + waitingTokens;
  }

  /** Tokens of this prompt that would be found in the cache: those cached now, or of prompts that wait in front of it. */
  cachedTokens(prompt: Prompt): number {
    return Math.max(this.cache.heldTokens(prompt), this.#waitingPrompts.sharedTokens(prompt));
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
    const { prompt } = job.request;
    if (!this.cache.canEverHold(prompt, job.outputTokens)) return false;
    job.cachedTokens = this.cachedTokens(prompt);
    this.#waitingPrompts.add(prompt);
    this.#model.waiting.push(job);
    this.#goOn();
    return true;
  }

  /** The prompt that a request awaited is here. */
  arrived(job: Job): void {
    this.#model.arrived(job);
    this.#goOn();
  }

  keeps(job: Job): boolean {
    return this.#model.keeps(job);
  }

  release(job: Job): void {
    if (this.#model.release(job)) this.#goOn();
  }

  /** Gives a request up whose client has left. */
  cancel(job: Job): void {
    if (!this.#model.remove(job)) return;
    if (job.admissions === 0) this.#waitingPrompts.remove(job.request.prompt);
    else this.#goOn();
  }

  /** Another process takes over, with an empty cache and nothing under way. */
  restart(): void {
    this.#pace.cancel();
    this.#steps = 0;
    this.#waitingPrompts.clear();
    this.#model.clear();
    this.#earlierLoads = this.adapterLoads;
    this.#slots = this.#adapters && new AdapterSlots(this.#adapters);
    this.#model = this.#emptyModel();
  }

  #emptyModel(): EngineModel<Job> {
    return new EngineModel<Job>(this.#times, "coarse", {
      cache: this.#events.cache,
      isDeferred: (job) => this.#isDeferred(job),
      admitted: (job) => this.#waitingPrompts.remove(job.request.prompt),
      prefilled: (job) => {
        this.#lastTokenMs = this.#queue.now();
        this.#events.firstToken(job);
      },
      finished: (job) => this.#events.finished(job),
      transferring: (job, tokens) => this.#events.transferring?.(job, tokens),
    });
  }

  #isDeferred({ request: { model } }: Job): boolean {
    if (this.#slots === undefined) return false;
    const { arriving, prefilling, decoding } = this.#model;
    return this.#slots.isDeferred(model, adaptersOf([...arriving, ...prefilling, ...decoding]));
  }

  /** Of those that the step runs with. */
  #loadMs(): number {
    const { prefilling, decoding } = this.#model;
    return this.#slots?.useAll(adaptersOf([...prefilling, ...decoding])) ?? 0;
  }

  get #isPrefillStep(): boolean {
    return this.#model.stepTokens > 0;
  }

  /** Requests came or left. What a step's end brings about counts for the next one. */
  #goOn(): void {
    if (this.#isEnding) return;
    if (this.#steps === 0) this.#begin();
    else if (!this.#isPrefillStep) this.#cutShort();
  }

  #begin(): void {
    const stepMs = this.#model.begin();
    if (stepMs === undefined) return;
    this.#stepMs = stepMs / this.#speed + this.#loadMs();
    this.#startedAtMs = this.#pace.now();
    this.#plan(this.#model.equalSteps);
  }

  #plan(steps: number): void {
    this.#steps = steps;
    this.#pace.plan(this.#startedAtMs + steps * this.#stepMs, () => this.#end());
  }

  /** Of the steps that run, only the current one is still finished. */
  #cutShort(): void {
    const begun = Math.ceil((this.#pace.now() - this.#startedAtMs) / this.#stepMs);
    if (begun < this.#steps) this.#plan(begun);
  }

  #end(): void {
    const steps = this.#steps;
    const batch = this.#model.decoding.length;
    const stepMs = this.#stepMs / this.#pace.factor;
    this.#steps = 0;
    this.busyMs += steps * stepMs;
    if (batch > 0) {
      this.#lastTokenMs = this.#queue.now();
      this.#events.decoded(batch, steps, stepMs);
    }
    this.#isEnding = true;
    this.#model.end(steps);
    this.#isEnding = false;
    this.#begin();
  }
}

function adaptersOf(jobs: readonly Job[]): ReadonlySet<string> {
  return new Set(jobs.map(({ request }) => request.model));
}

/** The prompts that a replica has not admitted yet, by what they will leave in its cache. */
class WaitingPrompts {
  /** How many of them have each block. */
  readonly #counts = new Map<number, number>();

  /** Tokens in the leading blocks of this prompt that others have too. */
  sharedTokens(prompt: Prompt): number {
    let tokens = 0;
    if (this.#counts.size === 0) return tokens;
    for (let index = 0; index < prompt.blocks.length && this.#counts.has(prompt.blocks[index]!); index++) {
      tokens += prompt.tokensIn(index);
    }
    return tokens;
  }

  add(prompt: Prompt): void {
    for (const block of prompt.blocks) this.#counts.set(block, (this.#counts.get(block) ?? 0) + 1);
  }

  remove(prompt: Prompt): void {
    for (const block of prompt.blocks) {
      const left = this.#counts.get(block)! - 1;
      if (left === 0) this.#counts.delete(block);
      else this.#counts.set(block, left);
    }
  }

  clear(): void {
    this.#counts.clear();
  }
}
