import { MemoryBudget } from "./body/memory-budget.ts";
import { ScanTurns } from "./body/scan-turns.ts";
import type { PluginSet } from "./control/plugin-set.ts";
import type { PluginSets } from "./control/plugin-sets.ts";
import { LiveFeatures } from "./features/live-features.ts";
import { requestIds } from "./intake/request-ids.ts";
import { PluginFaults } from "./plugin-watch/plugin-faults.ts";
import { PluginTimes } from "./plugin-watch/plugin-times.ts";
import { LivePool } from "./pool/live-pool.ts";
import type { Gate, RouterParts } from "./router-parts.ts";
import { defaultMemoryBytes } from "./runtime/memory-limit.ts";
import { nextTurn } from "./runtime/next-turn.ts";
import type { Services } from "./services.ts";
import type { Limits } from "./settings.ts";
import { ClientCounts } from "./wire/client-counts.ts";

type Changing<Part> = { -readonly [Key in keyof Part]: Part[Key] };

/** The parts of a running router. They outlive each config, which only changes their settings. */
export class LiveParts implements RouterParts {
  readonly services: Services;
  readonly configs: PluginSets;
  readonly gate: Changing<Gate>;
  readonly pool: LivePool;
  readonly plugins: { readonly times: PluginTimes; readonly faults: PluginFaults };
  readonly features: LiveFeatures;
  readonly identity: { readonly startedAtS: number; isStopping: boolean; nextRequestId(): string };

  constructor(configs: PluginSets, { clock, random, log }: Services) {
    const first = configs.newest;
    const { settings } = first.active;
    const { limits } = settings;
    this.services = { clock, random, log };
    this.configs = configs;
    this.gate = {
      clients: new ClientCounts(limits.perClientRequests),
      memory: new MemoryBudget(memoryBytes(limits), clock),
      scanTurns: new ScanTurns(clock, nextTurn),
    };
    this.pool = new LivePool(settings, { clock, log });
    const faults = new PluginFaults(clock, log);
    this.plugins = { times: new PluginTimes(clock, log), faults };
    const { memory } = this.gate;
    const { load } = this.pool;
    this.features = new LiveFeatures({ services: this.services, faults, memory, load, facts: () => this.pool.facts, nextTurn });
    this.identity = { startedAtS: Math.floor(clock.wall() / 1000), isStopping: false, nextRequestId: requestIds(random) };
    this.prepare(first)();
  }

  /** Throws an Error, and changes nothing, when there is no memory for what is asked. The returned function can't fail. */
  prepare({ active, prefixSettings }: Pick<PluginSet, "active" | "prefixSettings">): () => void {
    const { profile, settings } = active;
    const changePool = this.pool.prepare(settings, prefixSettings);
    return () => {
      const { limits } = settings;
      const { gate, plugins, features } = this;
      changePool();
      plugins.times.follow(profile, limits.pluginMs);
      features.use(active);
      gate.memory.limitBytes = memoryBytes(limits);
      gate.clients = gate.clients.bounded(limits.perClientRequests);
    };
  }

  /** From now on `/ready` says 503, and features stop what may be left out; everything else is served as before. */
  announceStop(): void {
    this.identity.isStopping = true;
    this.features.stop();
  }

  close(): void {
    this.features.close();
    this.pool.close();
    this.gate.memory.close();
  }
}

function memoryBytes({ memoryBytes: configured }: Limits): number {
  return configured === 0 ? defaultMemoryBytes() : configured;
}
