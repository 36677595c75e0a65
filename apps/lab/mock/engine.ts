import { setImmediate } from "node:timers";
import { AdapterSlots } from "../engine/adapter-slots.ts";
import { EngineJob, EngineModel } from "../engine/engine-model.ts";
import type { KvCache } from "../engine/kv-cache.ts";
import type { MockSettings } from "./options.ts";
import { hashedPrompt } from "./tokens.ts";
import { SharedBlocks } from "./transfer/shared-blocks.ts";

/** An engine that is late by more than this does not catch up: its next step is timed from now. */
const MAX_LAG_MS = 1000;

/** One prompt to compute and the number of output tokens wanted. */
export interface Sequence {
  readonly prompt: readonly number[];
  readonly replyTokens: number;
  /** Adapter and salt: prompts share prefixes only if these are equal. */
  readonly cacheKey: string;
  readonly adapter: string;
  /** Where its prompt comes from, if another replica has sent it: tokens that were cached here, and tokens brought. */
  readonly received?: { readonly local: number; readonly external: number };
  admitted?(cachedTokens: number): void;
  /** Called for each output token. */
  token?(): void;
  /** Called after the last output token. */
  finished?(): void;
}

class Job extends EngineJob {
  readonly sequence: Sequence;

  constructor(sequence: Sequence, blockTokens: number) {
    super(hashedPrompt(sequence.prompt, sequence.cacheKey, blockTokens), sequence.replyTokens);
    this.sequence = sequence;
  }
}

/** The engine model on a clock, a step at a time. With a time scale of 0, a step takes one turn of the event loop. */
export class Engine {
  /** Counters; they never decrease. */
  readonly totals = {
    prefixQueries: 0,
    prefixHits: 0,
    externalQueries: 0,
    externalHits: 0,
    promptTokens: 0,
    cachedTokens: 0,
    receivedTokens: 0,
    generatedTokens: 0,
    aborted: 0,
  };
  readonly slots: AdapterSlots;
  /** Blocks that no request in the engine owns: held for another replica, or on their way from one. */
  readonly shared: SharedBlocks;
  readonly #settings: MockSettings;
  readonly #model: EngineModel<Job>;
  #isStepping = false;
  #isClosed = false;
  /** When the current step ends, on the settings' clock. */
  #dueMs = 0;
  #cancelStep: () => void = () => {};
  /** Called when a request enters, starts or leaves. */
  onChange: () => void = () => {};

  constructor(settings: MockSettings) {
    this.#settings = settings;
    this.slots = new AdapterSlots(settings);
    this.#model = new EngineModel<Job>(settings, "exact", {
      isDeferred: (job) => this.#isDeferred(job),
      admitted: (job) => this.#admitted(job),
      prefilled: (job) => {
        const { local, external } = job.sequence.received ?? { local: job.cachedTokens, external: 0 };
        this.totals.promptTokens += job.prompt.tokens;
        this.totals.cachedTokens += local;
        this.totals.receivedTokens += external;
        if (job.outputTokens > 0) this.#token(job);
      },
      finished: ({ sequence }) => {
        this.#changed();
        sequence.finished?.();
      },
    });
    this.shared = new SharedBlocks(this.#model.cache, settings.blockTokens, () => {
      this.onChange();
      this.#start();
    });
  }

  get cache(): KvCache {
    return this.#model.cache;
  }

  get running(): number {
    return this.#model.prefilling.length + this.#model.decoding.length;
  }

  /** Those that wait for room. */
  get waiting(): number {
    return this.#model.waiting.length - this.#deferred;
  }

  /** Those that wait for something else: a transfer, or a place for their adapter. */
  get deferred(): number {
    return this.shared.deferred + this.#deferred;
  }

  /** How often a request lost its blocks to others. */
  get preemptions(): number {
    return this.#model.preemptions;
  }

  /** Adapters with requests in the engine, sorted. */
  get adapters(): string[] {
    const { prefilling, decoding, waiting } = this.#model;
    return [...adaptersOf([...prefilling, ...decoding, ...waiting])].sort();
  }

  /** Queues a sequence. The returned function aborts it and frees its blocks. */
  submit(sequence: Sequence): () => void {
    const job = new Job(sequence, this.#settings.blockTokens);
    this.#model.waiting.push(job);
    this.onChange();
    this.#start();
    return () => {
      if (!this.#model.remove(job)) return;
      this.totals.aborted += 1;
      this.#changed();
    };
  }

  /** Stops for good; no callback is called after this. */
  close(): void {
    this.#isClosed = true;
    this.#cancelStep();
    this.#model.clear();
  }

  get #deferred(): number {
    return this.#model.waiting.filter((job) => this.#isDeferred(job)).length;
  }

  /** As in vLLM: no more adapters than `maxLoras` run at the same time. */
  #isDeferred({ sequence: { adapter } }: Job): boolean {
    const { arriving, prefilling, decoding } = this.#model;
    return adapter !== "" && this.slots.isDeferred(adapter, adaptersOf([...arriving, ...prefilling, ...decoding]));
  }

  #start(): void {
    if (this.#isStepping || this.#isClosed) return;
    this.#isStepping = true;
    this.#dueMs = this.#settings.clock.now();
    // Start the first step in a later turn, so that requests that arrive together are admitted together.
    this.#later(0, () => this.#step());
  }

  #step(): void {
    const stepMs = this.#model.begin();
    this.shared.retry();
    if (stepMs === undefined) {
      this.#isStepping = false;
      return;
    }
    const { prefilling, decoding } = this.#model;
    const loadMs = this.slots.useAll(adaptersOf([...prefilling, ...decoding]));
    this.#later(stepMs + loadMs, () => {
      // A copy, because callbacks may abort requests.
      for (const job of [...this.#model.decoding]) if (!job.isOver) this.#token(job);
      this.#model.end(1);
      this.#step();
    });
  }

  /** Something left, so others may have room now. */
  #changed(): void {
    this.shared.retry();
    this.onChange();
  }

  #admitted({ prompt, cachedTokens, sequence }: Job): void {
    const { local, external } = sequence.received ?? { local: cachedTokens, external: 0 };
    this.totals.prefixQueries += prompt.tokens;
    this.totals.prefixHits += local;
    // As vLLM: with a connector, what is not cached is always looked for elsewhere too.
    if (this.#settings.transfer !== "none") this.totals.externalQueries += prompt.tokens - local;
    this.totals.externalHits += external;
    this.onChange();
    sequence.admitted?.(cachedTokens);
  }

  #token({ sequence }: Job): void {
    this.totals.generatedTokens += 1;
    sequence.token?.();
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

function adaptersOf(jobs: readonly Job[]): ReadonlySet<string> {
  return new Set(jobs.map((job) => job.sequence.adapter).filter((name) => name !== ""));
}
