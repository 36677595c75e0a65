import { MemoryBudget } from "./body/memory-budget.ts";
import { ScanTurns } from "./body/scan-turns.ts";
import type { LivePlugins } from "./control/plugin-set.ts";
import type { PluginSets } from "./control/plugin-sets.ts";
import { requestIds } from "./intake/request-ids.ts";
import { PluginFaults } from "./plugin-watch/plugin-faults.ts";
import { PluginTimes } from "./plugin-watch/plugin-times.ts";
import { LivePool } from "./pool/live-pool.ts";
import type { AdapterAccess, RouterAccess } from "./router-host.ts";
import type { Gate, Identity, PluginWatch, RouterParts } from "./router-parts.ts";
import { RunningFeatures } from "./running-features.ts";
import { defaultMemoryBytes } from "./runtime/memory-limit.ts";
import { nextTurn } from "./runtime/next-turn.ts";
import type { Services } from "./services.ts";
import type { Limits, Settings } from "./settings.ts";
import { ClientCounts } from "./wire/client-counts.ts";
import { UpstreamPools } from "./wire/upstream-pools.ts";

type Changing<Part> = { -readonly [Key in keyof Part]: Part[Key] };

/** The parts of a running router. They outlive each config, which only changes their settings. */
export class LiveParts implements RouterParts {
  readonly services: Services & Pick<RouterAccess, "workers">;
  /** Set before the first request. */
  configs!: PluginSets;
  readonly gate: Changing<Gate>;
  readonly pool: LivePool<UpstreamPools>;
  readonly plugins: PluginWatch;
  readonly features: RunningFeatures;
  /** The config that runs, once somebody can change it. */
  changeable: object | undefined;
  /** Once there are replicas. */
  adapters: AdapterAccess | undefined;
  control: ReturnType<RouterAccess["control"]>;
  readonly identity: Changing<Identity>;

  constructor(settings: Settings, { clock, random, log, workers }: LiveParts["services"]) {
    const { limits } = settings;
    this.services = { clock, random, log, workers };
    this.gate = {
      clients: new ClientCounts(limits.perClientRequests),
      memory: new MemoryBudget(memoryBytes(limits), clock),
      scanTurns: new ScanTurns(clock, nextTurn),
    };
    this.pool = new LivePool(settings, this.services, (events) => new UpstreamPools(limits, clock, events));
    this.plugins = { times: new PluginTimes(clock, log), faults: new PluginFaults(clock, log) };
    this.features = new RunningFeatures(() => this.configs.newest.active);
    this.identity = { startedAtS: Math.floor(clock.wall() / 1000), isStopping: false, nextRequestId: requestIds(random) };
  }

  /** What features use of them. */
  get access(): RouterAccess {
    const { services, plugins, gate, pool } = this;
    return {
      services,
      faults: plugins.faults,
      memory: gate.memory,
      load: pool.load,
      ...{ facts: () => pool.facts, prefixIndex: () => pool.prefixIndex, control: () => this.control },
      nextTurn,
      ...{ adapters: () => this.adapters, running: () => this.changeable, workers: services.workers },
    };
  }

  /** Begins with this config. Throws an Error when there is no memory for what is asked. */
  begin(configs: PluginSets): void {
    this.configs = configs;
    this.prepare(configs.newest)();
  }

  /** Throws an Error, and changes nothing, when there is no memory for what is asked. The returned function can't fail. */
  prepare({ active, prefixSettings }: LivePlugins): () => void {
    const { profile, settings } = active;
    const changePool = this.pool.prepare(settings, prefixSettings);
    return () => {
      const { limits } = settings;
      const { gate, plugins } = this;
      changePool();
      plugins.times.follow(profile, limits.pluginMs);
      for (const { plugin } of active.modules) plugin.configured?.(active);
      gate.memory.limitBytes = memoryBytes(limits);
      gate.clients = gate.clients.bounded(limits.perClientRequests);
    };
  }

  /** From now on `/ready` says 503, and features stop what may be left out; everything else is served as before. */
  announceStop(): void {
    this.identity.isStopping = true;
    this.features.stopAnnounced();
  }

  close(): void {
    this.features.closed();
    this.discard();
  }

  /** They never began. */
  discard(): void {
    this.pool.close();
    this.gate.memory.close();
  }
}

function memoryBytes({ memoryBytes: configured }: Limits): number {
  return configured === 0 ? defaultMemoryBytes() : configured;
}
