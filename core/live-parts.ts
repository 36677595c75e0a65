import type { ActiveConfig } from "./active-config.ts";
import { MemoryBudget } from "./body/memory-budget.ts";
import { ScanTurns } from "./body/scan-turns.ts";
import type { PluginSet } from "./control/plugin-set.ts";
import type { PluginSets } from "./control/plugin-sets.ts";
import { Mirroring } from "./features/mirror/mirroring.ts";
import type { Rollouts } from "./features/rollouts/rollouts.ts";
import { Shadowing } from "./features/shadow/shadowing.ts";
import { requestIds } from "./intake/request-ids.ts";
import { PluginFaults } from "./plugin-watch/plugin-faults.ts";
import { PluginTimes } from "./plugin-watch/plugin-times.ts";
import { LivePool } from "./pool/live-pool.ts";
import type { Features, Gate, RouterParts } from "./router-parts.ts";
import { defaultMemoryBytes } from "./runtime/memory-limit.ts";
import { nextTurn } from "./runtime/next-turn.ts";
import type { Services } from "./services.ts";
import type { Limits } from "./settings.ts";
import { ClientCounts } from "./wire/client-counts.ts";
import { Deadlines, sweepPeriodMs } from "./wire/deadlines.ts";

/** The parts of a plugin set that say something about the parts of a router. */
type Wishes = Pick<PluginSet, "prefixSettings"> & { readonly active: Pick<ActiveConfig, "profile" | "settings" | "shadow"> };

type Changing<Part> = { -readonly [Key in keyof Part]: Part[Key] };

/** The parts of a running router. They outlive each config, which only changes their settings. */
export class LiveParts implements RouterParts {
  readonly services: Services;
  readonly configs: PluginSets;
  readonly gate: Changing<Gate>;
  readonly pool: LivePool;
  readonly plugins: { readonly times: PluginTimes; readonly faults: PluginFaults };
  readonly features: Changing<Features> & { readonly rollouts: Rollouts };
  readonly identity: { readonly startedAtS: number; isStopping: boolean; nextRequestId(): string };

  constructor(configs: PluginSets, rollouts: Rollouts, { clock, random, log }: Services) {
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
    const mirroring = new Mirroring();
    this.features = { mirroring, shadowing: new Shadowing(clock, faults), rollouts, silences: undefined };
    this.gate.memory.giveUpSpare = () => mirroring.freeBodies();
    this.identity = { startedAtS: Math.floor(clock.wall() / 1000), isStopping: false, nextRequestId: requestIds(random) };
    this.prepare(first)();
  }

  /** Throws an Error, and changes nothing, when there is no memory for what is asked. The returned function can't fail. */
  prepare({ active, prefixSettings }: Wishes): () => void {
    const { profile, shadow, settings } = active;
    const changePool = this.pool.prepare(settings, prefixSettings);
    return () => {
      const { limits, keepAlive, mirrors } = settings;
      const { gate, plugins, features } = this;
      changePool();
      plugins.times.follow(profile, limits.pluginMs);
      features.mirroring.useMirrors(mirrors);
      features.shadowing.useShadow(shadow);
      gate.memory.limitBytes = memoryBytes(limits);
      gate.clients = gate.clients.bounded(limits.perClientRequests);
      // Without keep-alive events the timer stays: streams that began with them go on getting them.
      if (keepAlive !== undefined) this.#useSilencePeriod(sweepPeriodMs([keepAlive.periodMs]));
    };
  }

  /** From now on `/ready` says 503, and copies are not sent; everything else is served as before. */
  announceStop(): void {
    this.identity.isStopping = true;
    this.features.mirroring.stop();
  }

  close(): void {
    this.features.mirroring.stop();
    this.features.silences?.close();
    this.pool.close();
    this.gate.memory.close();
  }

  #useSilencePeriod(periodMs: number): void {
    this.features.silences ??= new Deadlines(this.services.clock, periodMs);
    this.features.silences.retime(periodMs);
  }
}

function memoryBytes({ memoryBytes: configured }: Limits): number {
  return configured === 0 ? defaultMemoryBytes() : configured;
}
