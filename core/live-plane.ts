import type { ActiveConfig } from "./active-config.ts";
import { ScanTurns } from "./body/scan-turns.ts";
import type { Endpoint } from "./contract/endpoint.ts";
import type { ControlPlane } from "./control/control-plane.ts";
import type { HostServices } from "./control/plugin-set.ts";
import type { PluginSets } from "./control/plugin-sets.ts";
import type { DataPlane } from "./data-plane.ts";
import { requestIds } from "./intake/request-ids.ts";
import type { LastingState } from "./lasting-state.ts";
import { nextTurn } from "./runtime/next-turn.ts";
import { admitAll } from "./stages/admit.ts";
import { factsOf } from "./state/facts.ts";

/**
 * The data plane of a running router. A class, because requests read it some fifty times each: V8 keeps an object literal with many
 * getters as a dictionary, in which each read is a look-up.
 */
export class LivePlane implements DataPlane {
  facts: DataPlane["facts"] = factsOf([]);
  isStopping = false;
  readonly admission = admitAll;
  readonly memory: DataPlane["memory"];
  readonly scanTurns: DataPlane["scanTurns"];
  readonly load: DataPlane["load"];
  readonly tokenScale: DataPlane["tokenScale"];
  readonly clock: DataPlane["clock"];
  readonly random: DataPlane["random"];
  readonly log: DataPlane["log"];
  readonly startedAtS: number;
  readonly figures: DataPlane["figures"];
  readonly pluginTimes: DataPlane["pluginTimes"];
  readonly pluginFaults: DataPlane["pluginFaults"];
  readonly mirroring: DataPlane["mirroring"];
  readonly shadowing: DataPlane["shadowing"];
  readonly retryBudget: DataPlane["retryBudget"];
  readonly checkModels: DataPlane["checkModels"];
  readonly nextRequestId: DataPlane["nextRequestId"];
  readonly #sets: PluginSets;
  readonly #state: LastingState;
  readonly #control: ControlPlane;

  constructor(sets: PluginSets, state: LastingState, control: ControlPlane, { clock, random, log }: HostServices) {
    this.#sets = sets;
    this.#state = state;
    this.#control = control;
    this.clock = clock;
    this.random = random;
    this.log = log;
    this.memory = state.memory;
    this.scanTurns = new ScanTurns(clock, nextTurn);
    this.load = state.load;
    this.tokenScale = state.tokenScale;
    this.startedAtS = Math.floor(clock.wall() / 1000);
    this.figures = state.figures;
    this.pluginTimes = state.pluginTimes;
    this.pluginFaults = state.pluginFaults;
    this.mirroring = state.mirroring;
    this.shadowing = state.shadowing;
    this.retryBudget = state.retryBudget;
    this.checkModels = (endpoint) => control.checkModels(endpoint);
    this.nextRequestId = requestIds(random);
  }

  // These change with the config.

  get clients(): DataPlane["clients"] {
    return this.#state.clients;
  }

  get prefixIndex(): DataPlane["prefixIndex"] {
    return this.#state.prefixes.index;
  }

  get silences(): DataPlane["silences"] {
    return this.#state.silences;
  }

  get traffic(): DataPlane["traffic"] {
    return this.#control.traffic;
  }

  takeConfig(): ActiveConfig {
    return this.#sets.take();
  }

  giveBack(config: ActiveConfig): void {
    this.#sets.giveBack(config);
  }

  poolOf(endpoint: Endpoint): ReturnType<DataPlane["poolOf"]> {
    return this.#state.pools.of(endpoint);
  }

  connectFailed(endpoint: Endpoint): void {
    this.#control.connectFailed(endpoint);
  }
}
