import type { ActiveConfig } from "./active-config.ts";
import { MemoryBudget } from "./body/memory-budget.ts";
import type { Clock } from "./contract/clock.ts";
import type { Log } from "./contract/log.ts";
import type { PluginSet } from "./control/plugin-set.ts";
import { defaultMemoryBytes } from "./runtime/memory-limit.ts";
import type { Limits } from "./settings.ts";
import { Mirroring } from "./stages/mirroring.ts";
import { PluginFaults } from "./stages/plugin-faults.ts";
import { PluginTimes } from "./stages/plugin-times.ts";
import { Shadowing } from "./stages/shadowing.ts";
import { LoadTable } from "./state/load.ts";
import { PoolPrefixes } from "./state/pool-prefixes.ts";
import { RequestFigures } from "./state/request-figures.ts";
import { RetryBudget } from "./state/retry-budget.ts";
import { TokenScale } from "./state/token-scale.ts";
import { ClientCounts } from "./wire/client-counts.ts";
import { Deadlines, sweepPeriodMs } from "./wire/deadlines.ts";
import { UpstreamPools } from "./wire/upstream-pools.ts";

/** The parts of a plugin set that say something about the lasting state. */
type Wishes = Pick<PluginSet, "prefixSettings"> & { readonly active: Pick<ActiveConfig, "profile" | "settings" | "shadow"> };

/** The data plane's state that outlives a config: load, caches, connections, counts. Each config only changes its settings. */
export class LastingState {
  readonly load: LoadTable;
  readonly prefixes = new PoolPrefixes();
  readonly pools: UpstreamPools;
  readonly memory: MemoryBudget;
  readonly pluginTimes: PluginTimes;
  readonly retryBudget: RetryBudget;
  readonly tokenScale = new TokenScale();
  readonly mirroring = new Mirroring();
  readonly pluginFaults: PluginFaults;
  readonly shadowing: Shadowing;
  readonly figures: RequestFigures;
  readonly #clock: Clock;
  #clients: ClientCounts;
  #silences: Deadlines | undefined;

  constructor(first: Wishes, clock: Clock, log: Log) {
    const { limits, retries } = first.active.settings;
    this.#clock = clock;
    this.load = new LoadTable();
    this.pools = new UpstreamPools(limits, clock);
    this.memory = new MemoryBudget(memoryBytes(limits), clock);
    this.figures = new RequestFigures(clock);
    this.pluginTimes = new PluginTimes(clock, log);
    this.retryBudget = new RetryBudget(retries);
    this.pluginFaults = new PluginFaults(clock, log);
    this.shadowing = new Shadowing(clock, this.pluginFaults);
    this.memory.giveUpSpare = () => this.mirroring.freeBodies();
    this.#clients = new ClientCounts(limits.perClientRequests);
    this.prepare(first)();
  }

  /** Requests under way of each client address. */
  get clients(): ClientCounts {
    return this.#clients;
  }

  /** The timer of silent streams; undefined before a config has any. */
  get silences(): Deadlines | undefined {
    return this.#silences;
  }

  /** Throws an Error, and changes nothing, when there is no memory for what is asked. The returned function can't fail. */
  prepare({ active, prefixSettings }: Wishes): () => void {
    const changePrefixes = this.prefixes.prepare(prefixSettings);
    return () => {
      const { limits, retries, keepAlive } = active.settings;
      changePrefixes();
      this.pluginTimes.follow(active.profile, limits.pluginMs);
      this.mirroring.useMirrors(active.settings.mirrors);
      this.shadowing.useShadow(active.shadow);
      this.retryBudget.useSettings(retries);
      this.memory.limitBytes = memoryBytes(limits);
      this.#clients = this.#clients.bounded(limits.perClientRequests);
      this.pools.useLimits(limits);
      // Without keep-alive events the timer stays: streams that began with them go on getting them.
      if (keepAlive !== undefined) this.#useSilencePeriod(sweepPeriodMs([keepAlive.periodMs]));
    };
  }

  close(): void {
    this.mirroring.stop();
    this.#silences?.close();
    this.pools.close();
    this.memory.close();
  }

  #useSilencePeriod(periodMs: number): void {
    this.#silences ??= new Deadlines(this.#clock, periodMs);
    this.#silences.retime(periodMs);
  }
}

function memoryBytes({ memoryBytes: configured }: Limits): number {
  return configured === 0 ? defaultMemoryBytes() : configured;
}
