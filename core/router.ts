import type { LoadedConfig } from "../config/load.ts";
import type { ActiveConfig } from "./active-config.ts";
import { checkPages } from "./admin/pages.ts";
import type { MemoryBudget } from "./body/memory-budget.ts";
import { ScanTurns } from "./body/scan-turns.ts";
import { type Endpoint, isServing } from "./contract/endpoint.ts";
import { Adapters } from "./control/adapters.ts";
import { type ControlPlan, ControlPlane, type EndpointTimes } from "./control/control-plane.ts";
import type { Intents } from "./control/intents.ts";
import { KeptState } from "./control/kept-state.ts";
import { withPlace } from "./control/plugin-error.ts";
import { buildPluginSet, type HostServices, type PluginSet } from "./control/plugin-set.ts";
import { PluginSets } from "./control/plugin-sets.ts";
import type { DataPlane } from "./data-plane.ts";
import { requestIds } from "./intake/request-ids.ts";
import { intake } from "./intake/request-intake.ts";
import type { RequestStarter } from "./intake/request-receiver.ts";
import { LastingState } from "./lasting-state.ts";
import { nextTurn } from "./runtime/next-turn.ts";
import { admitAll } from "./stages/admit.ts";
import type { Mirroring } from "./stages/mirroring.ts";
import type { SlowPlugin } from "./stages/plugin-times.ts";
import type { Shadowing } from "./stages/shadowing.ts";
import { type Facts, factsOf } from "./state/facts.ts";
import type { LoadTable } from "./state/load.ts";
import type { PrefixIndexStats } from "./state/prefix-index.ts";
import type { RequestFigures } from "./state/request-figures.ts";
import { bearerFor } from "./wire/bearer.ts";
import { httpGet, httpSend } from "./wire/http-get.ts";
import type { UnreadCounter } from "./wire/write-progress.ts";

/** A router without a listener: hosts (the wire server, the fetch face) start requests on it, the admin port shows its state. */
export interface Router {
  readonly start: RequestStarter;
  /** A new id, for responses to input that never became a request. */
  nextRequestId(): string;
  /** The newest config: what requests get that begin now. */
  readonly config: ActiveConfig;
  /** Configs that were replaced and that requests under way still use. */
  readonly olderConfigs: number;
  /** The facts that decisions read now. */
  readonly facts: Facts;
  readonly load: LoadTable;
  /** What request bodies and unread responses hold together. */
  readonly memory: Pick<MemoryBudget, "limitBytes" | "bodyBytes" | "refusals"> & UnreadCounter;
  /** When it started, in seconds since 1970. */
  readonly startedAtS: number;
  /** Undefined when no plugin reads prefixes. */
  readonly prefixIndex: PrefixIndexStats | undefined;
  /** Open connections to the endpoint, busy and idle. */
  connectionsTo(endpoint: Endpoint): number;
  /** Ejections of the endpoint so far. */
  ejectionsOf(endpoint: Endpoint): number;
  /** Since when it is in its phase, and when it is probed. */
  timesOf(endpoint: Endpoint): EndpointTimes;
  /** What requests met in the last minutes. */
  readonly figures: Pick<RequestFigures, "of" | "pool">;
  /** What operators want of the endpoints. */
  readonly intents: Intents;
  /** Whether so many endpoints fail that all that are up are used. */
  readonly isPanicking: boolean;
  /** Plugins that take more time per request than they may. */
  readonly slowPlugins: readonly SlowPlugin[];
  readonly mirroring: Pick<Mirroring, "counts">;
  readonly shadowing: Pick<Shadowing, "counts">;
  readonly adapters: Adapters;
  /** Why the endpoint's last probe failed; "" after a success. */
  probeFailure(endpoint: Endpoint): string;
  /** Resolves to true once an endpoint is available, or to false when none is after `timeoutMs`. */
  whenReady(timeoutMs: number): Promise<boolean>;
  /** From now on `/ready` says 503; everything else is served as before. */
  announceStop(): void;
  /**
   * Builds the plugins of another config and lets it run instead, in one step: requests that begin after it have the next
   * config, those under way end with the one they began with. Throws an Error, and changes nothing, when they can't be built.
   * `listen` and `admin` are not the router's and are not looked at.
   */
  replace(next: LoadedConfig): void;
  /** Ends probes and every connection to a replica; requests under way break off. */
  close(): void;
}

/** Builds and starts the config's plugins. Throws when one can't be made or started; then nothing is left running. */
export function runRouter(loaded: LoadedConfig, services: HostServices): Router {
  const kept = new KeptState();
  return placing(loaded, () => {
    const plugins = build(loaded, services, kept);
    try {
      return start(loaded, plugins, services, kept);
    } catch (thrown) {
      plugins.dispose();
      throw thrown;
    }
  });
}

function build(loaded: LoadedConfig, services: HostServices, kept: KeptState): PluginSet {
  const plugins = buildPluginSet(loaded, services, kept);
  try {
    checkPages(plugins.active.observers);
    return plugins;
  } catch (thrown) {
    plugins.dispose();
    throw thrown;
  }
}

/** What `run` throws names the place in the config. */
function placing<Result>(loaded: LoadedConfig, run: () => Result): Result {
  try {
    return run();
  } catch (thrown) {
    throw withPlace(thrown, loaded);
  }
}

/** Connects the data plane with the control plane. */
function start(loaded: LoadedConfig, plugins: PluginSet, services: HostServices, firstKept: KeptState): Router {
  const { clock, random, log } = services;
  const sets = new PluginSets(plugins);
  const state = new LastingState(plugins, clock, log);
  const { load, prefixes, pools, memory, pluginTimes, mirroring, figures } = state;
  const startedAtS = Math.floor(clock.wall() / 1000);
  const waiting = new Set<() => void>();
  let kept = firstKept;
  let facts = factsOf([]);
  let isStopping = false;

  /** What the router shows to the endpoint of this name when it asks on its own behalf. */
  const keyHeaders = (name: string): Readonly<Record<string, string>> => {
    const authorization = bearerFor(name, sets.newest.active.settings.credentials);
    return authorization === undefined ? {} : { authorization };
  };
  const control = new ControlPlane({
    ...controlPlan(loaded, plugins),
    services,
    load,
    get: (url, path, timeoutMs, maxBytes, signal, headers = {}) => httpGet(url, path, { timeoutMs, maxBytes, signal, headers }),
    headersFor: keyHeaders,
    replaced(slot) {
      prefixes.forget(slot);
      pools.closeIdle(slot);
    },
    capacityKnown: (slot, tokens) => prefixes.setCapacity(slot, tokens),
    lastByteMs: (endpoint) => pools.lastByteMs(endpoint),
    cutWaiting: (endpoint) => pools.cutWaiting(endpoint),
    publish(next) {
      pools.follow(next.endpoints);
      mirroring.follow(next.endpoints);
      figures.follow(next.endpoints);
      facts = next;
      if (isReady(next)) for (const wake of [...waiting]) wake();
    },
  });
  const plane: DataPlane = {
    takeConfig: () => sets.take(),
    giveBack: (config) => sets.giveBack(config),
    get facts() {
      return facts;
    },
    admission: admitAll,
    get clients() {
      return state.clients;
    },
    memory,
    scanTurns: new ScanTurns(clock, nextTurn),
    load,
    get prefixIndex() {
      return prefixes.index;
    },
    tokenScale: state.tokenScale,
    clock,
    random,
    log,
    startedAtS,
    get isStopping() {
      return isStopping;
    },
    get traffic() {
      return control.traffic;
    },
    figures,
    pluginTimes,
    pluginFaults: state.pluginFaults,
    mirroring,
    shadowing: state.shadowing,
    retryBudget: state.retryBudget,
    get silences() {
      return state.silences;
    },
    poolOf: (endpoint) => pools.of(endpoint),
    connectFailed: (endpoint) => control.connectFailed(endpoint),
    checkModels: (endpoint) => control.checkModels(endpoint),
    nextRequestId: requestIds(random),
  };
  const adapters = new Adapters({
    clock,
    load,
    facts: () => facts,
    targets: () => sets.newest.active.targets,
    post: ({ name, url }, path, document, timeoutMs, maxBytes) =>
      httpSend(url, path, { method: "POST", headers: keyHeaders(name), body: JSON.stringify(document), timeoutMs, maxBytes }),
    checkModels: (endpoint) => control.checkModels(endpoint),
  });
  const close = () => {
    control.stop();
    state.close();
    sets.dispose();
  };
  try {
    control.start();
  } catch (thrown) {
    close();
    throw thrown;
  }

  const replace = (next: LoadedConfig) => {
    const draft = kept.draft();
    const built = build(next, services, draft);
    let changes: readonly (() => void)[];
    try {
      changes = [state.prepare(built), control.prepare(controlPlan(next, built))];
    } catch (thrown) {
      built.dispose();
      throw thrown;
    }
    // From here on nothing can fail, and no request can come between.
    for (const change of changes) change();
    // An operator who applies a rewrite again has often just put its adapter where replicas find it.
    load.unlisted.forgetRefusals();
    sets.publish(built);
    draft.retain(next.config.plugins);
    kept = draft;
  };

  return {
    start: intake(plane),
    nextRequestId: plane.nextRequestId,
    get config() {
      return sets.newest.active;
    },
    get olderConfigs() {
      return sets.olderCount;
    },
    get facts() {
      return facts;
    },
    load,
    memory,
    startedAtS,
    get prefixIndex() {
      return prefixes.index?.stats();
    },
    connectionsTo: (endpoint) => pools.connectionsTo(endpoint),
    ejectionsOf: (endpoint) => control.ejectionsOf(endpoint),
    timesOf: (endpoint) => control.timesOf(endpoint),
    figures,
    intents: control.intents,
    get isPanicking() {
      return control.isPanicking;
    },
    get slowPlugins() {
      return pluginTimes.slow;
    },
    mirroring,
    shadowing: state.shadowing,
    adapters,
    probeFailure: (endpoint) => control.probeFailure(endpoint),
    whenReady(timeoutMs) {
      if (isReady(facts)) return Promise.resolve(true);
      return new Promise((resolve) => {
        const settle = (isInTime: boolean) => {
          waiting.delete(wake);
          cancel();
          resolve(isInTime);
        };
        const wake = () => settle(true);
        const cancel = clock.after(timeoutMs, () => settle(false));
        waiting.add(wake);
      });
    },
    replace: (next) => placing(next, () => replace(next)),
    announceStop() {
      isStopping = true;
      mirroring.stop();
    },
    close,
  };
}

function controlPlan({ config }: LoadedConfig, plugins: PluginSet): ControlPlan {
  return { plugins, probes: config.pool.probes, ejection: config.settings.ejection };
}

function isReady({ endpoints }: Facts): boolean {
  return endpoints.some(isServing);
}
