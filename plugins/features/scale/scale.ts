import type { ActiveConfig } from "../../../core/active-config.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";
import type { RouterAccess } from "../../../core/router-host.ts";
import type { Run } from "../../../core/run.ts";
import { Recent } from "./recent.ts";
import type { ScaleSettings } from "./scale-config.ts";
import { wantedReplicas } from "./wanted-replicas.ts";

const SAMPLE_MS = 1_000;
/** Models told apart: clients may name any number of them. */
const MOST_MODELS = 64;
const MOST_NAME = 256;

/** What is shown of the pool, or of a model as if it had replicas of its own. */
export interface Wanted {
  readonly wanted: number;
  readonly underWay: number;
  /** Replicas that would be full of it, on average. */
  readonly work: number;
}

/** Counts what comes, and says how many replicas that needs. It outlives configs. */
export class Scale {
  #pool = "";
  #settings: ScaleSettings | undefined;
  /** Requests that one replica can have under way; 0 where it is learned. */
  #concurrency = 0;
  #all: Recent;
  #models = new Map<string, Recent>();
  readonly #counted = new WeakMap<Outcome, readonly Recent[]>();
  readonly #host: RouterAccess;
  /** As last learned; they hold while no replica is there. 0: not known. */
  #room = 0;
  #prefillRate = 0;
  /** Models that replicas served last. */
  #served: ReadonlySet<string> = new Set();
  /** Names that rewrites match or send on. */
  #named: ReadonlySet<string> = new Set();
  /** Replicas may load whatever clients ask for. */
  #takesAny = false;
  #stopSampling: (() => void) | undefined;

  constructor(host: RouterAccess) {
    this.#host = host;
    this.#all = new Recent(1, 0);
  }

  get isOn(): boolean {
    return this.#settings !== undefined;
  }

  get pool(): string {
    return this.#pool;
  }

  /** Replicas that are ready. */
  get ready(): number {
    return this.#ready().length;
  }

  /** Requests that no replica has yet. */
  get waiting(): number {
    return Math.max(0, this.#all.underWay - this.#inFlight());
  }

  get room(): number {
    return this.#room;
  }

  use(config: ActiveConfig, settings: ScaleSettings | undefined): void {
    const isSame = settings?.windowMs === this.#settings?.windowMs;
    this.close();
    this.#pool = config.pool;
    this.#settings = settings;
    if (settings === undefined) return;
    if (!isSame) {
      this.#all = new Recent(settings.windowMs, this.#nowMs());
      this.#models = new Map();
    }
    const admission = config.features.get("admission") as { readonly concurrency?: number } | undefined;
    this.#concurrency = settings.concurrency || (admission?.concurrency ?? 0);
    const mappings = config.rewriters.flatMap(({ plugin }) => plugin.mappings ?? []);
    this.#takesAny = config.settings.unlisted === "any" || mappings.some(({ models }) => models.length === 0);
    this.#named = new Set(mappings.flatMap(({ models, targets }) => [...models, ...targets.map(({ name }) => name)]));
    this.#stopSampling = this.#host.services.clock.every(SAMPLE_MS, () => this.#sample());
  }

  close(): void {
    this.#stopSampling?.();
    this.#stopSampling = undefined;
  }

  arrived({ ticket, parsed }: Run): void {
    const { model, isLookup } = parsed!;
    // What no replica has served and no rewrite names wakes nobody: it will be refused.
    if (isLookup === true || !this.#isKnown(model)) return;
    const counted = [this.#all, ...this.#ofModel(model)];
    for (const recent of counted) {
      recent.underWay += 1;
      recent.lastAtMs = this.#nowMs();
    }
    this.#counted.set(ticket, counted);
  }

  settled(outcome: Outcome): void {
    const counted = this.#counted.get(outcome);
    if (counted === undefined) return;
    this.#counted.delete(outcome);
    const tokens = computedTokens(outcome);
    const nowMs = this.#nowMs();
    for (const recent of counted) {
      recent.underWay -= 1;
      if (tokens > 0) recent.computed(tokens, nowMs);
    }
  }

  /** Whether a replica serves it, or a rewrite names it: no client has made it up. */
  isNamed(model: string): boolean {
    return this.#served.has(model) || this.#named.has(model);
  }

  /** For the pool. */
  wanted(): Wanted {
    return this.#of(this.#all);
  }

  byModel(): readonly (Wanted & { readonly model: string })[] {
    return [...this.#models].map(([model, recent]) => ({ model, ...this.#of(recent) }));
  }

  #of(recent: Recent): Wanted {
    const nowMs = this.#nowMs();
    const { utilization = 1, idleMs = 0 } = this.#settings ?? {};
    const prefillWork = this.#prefillRate > 0 ? recent.tokenRate(nowMs) / this.#prefillRate : 0;
    const work = Math.max(recent.work(nowMs), prefillWork);
    const wanted = wantedReplicas({
      work,
      latestWork: recent.latestWork(nowMs),
      ready: this.ready,
      utilization,
      isIdle: recent.underWay === 0 && nowMs - recent.lastAtMs > idleMs,
    });
    return { wanted, underWay: recent.underWay, work: Math.round(work * 1_000) / 1_000 };
  }

  #sample(): void {
    const nowMs = this.#nowMs();
    this.#learn(nowMs);
    const { underWay } = this.#all;
    const work = this.#workOf(underWay);
    this.#all.sampled(work, nowMs);
    for (const recent of this.#models.values()) recent.sampled(underWay === 0 ? 0 : (work * recent.underWay) / underWay, nowMs);
  }

  /** Replicas that would be full of so many requests. */
  #workOf(underWay: number): number {
    if (this.#room > 0) return underWay / this.#room;
    // Nothing is known of room but that there is none: each that waits needs as much as one that does not.
    const inFlight = this.#inFlight();
    return underWay > inFlight && inFlight > 0 ? (this.ready * underWay) / inFlight : 0;
  }

  #learn(nowMs: number): void {
    const { load } = this.#host;
    const ready = this.#ready();
    if (ready.length === 0) return;
    this.#served = new Set(ready.flatMap(({ models }) => [...models]));
    const limits = ready
      .map(({ slot }) => this.#concurrency || load.engineLimits.of(slot))
      .filter((limit) => limit > 0 && limit < Number.POSITIVE_INFINITY);
    this.#room = mean(limits) || this.#room;
    this.#prefillRate = mean(ready.map(({ slot }) => load.prefillRate(slot, nowMs))) || this.#prefillRate;
  }

  #isKnown(model: string): boolean {
    return model === "" || this.#served.size === 0 || this.#takesAny || this.isNamed(model);
  }

  #ofModel(model: string): readonly Recent[] {
    if (model === "" || model.length > MOST_NAME) return [];
    const known = this.#models.get(model);
    if (known !== undefined) return [known];
    if (this.#models.size >= MOST_MODELS && !this.#forgetOldest()) return [];
    const made = new Recent(this.#settings!.windowMs, this.#nowMs());
    this.#models.set(model, made);
    return [made];
  }

  /** False where all have requests under way. */
  #forgetOldest(): boolean {
    const idle = [...this.#models].filter(([, { underWay }]) => underWay === 0);
    const [oldest] = idle.sort(([, one], [, other]) => one.lastAtMs - other.lastAtMs);
    return oldest !== undefined && this.#models.delete(oldest[0]);
  }

  #ready(): readonly Endpoint[] {
    return this.#host.facts().endpoints.filter(({ isAvailable }) => isAvailable);
  }

  #inFlight(): number {
    return this.#host.facts().endpoints.reduce((sum, { slot }) => sum + this.#host.load.inFlight[slot]!, 0);
  }

  #nowMs(): number {
    return this.#host.services.clock.now();
  }
}

/** Prompt tokens that no cache held. */
function computedTokens({ usage, request, attempts, predictedTokens = 0 }: Outcome): number {
  if (attempts.length === 0) return 0;
  return (usage?.promptTokens || (request?.promptTokens ?? 0)) - (usage?.cachedTokens ?? predictedTokens);
}

const mean = (values: readonly number[]) =>
  values.length === 0 ? 0 : values.reduce((sum, each) => sum + each, 0) / values.length;
