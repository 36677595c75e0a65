import type { LoadedConfig } from "../config/load.ts";
import type { ActiveConfig } from "./active-config.ts";
import { checkPages } from "./admin/pages.ts";
import { MemoryBudget } from "./body/memory-budget.ts";
import { ScanTurns } from "./body/scan-turns.ts";
import type { Endpoint } from "./contract/endpoint.ts";
import { ControlPlane } from "./control/control-plane.ts";
import { KeptState } from "./control/kept-state.ts";
import { buildPluginSet, type HostServices, type PluginSet } from "./control/plugin-set.ts";
import type { DataPlane } from "./data-plane.ts";
import { requestIds } from "./intake/request-ids.ts";
import { intake } from "./intake/request-intake.ts";
import type { RequestStarter } from "./intake/request-receiver.ts";
import { defaultMemoryBytes } from "./runtime/memory-limit.ts";
import { nextTurn } from "./runtime/next-turn.ts";
import { admitAll } from "./stages/admit.ts";
import { PluginTimes, type SlowPlugin } from "./stages/plugin-times.ts";
import { type Facts, factsOf } from "./state/facts.ts";
import { LoadTable } from "./state/load.ts";
import { PrefixIndex, type PrefixIndexStats } from "./state/prefix-index.ts";
import { RetryBudget } from "./state/retry-budget.ts";
import { TokenScale } from "./state/token-scale.ts";
import { ClientCounts } from "./wire/client-counts.ts";
import { Deadlines, sweepPeriodMs } from "./wire/deadlines.ts";
import { httpGet } from "./wire/http-get.ts";
import { UpstreamPools } from "./wire/upstream-pools.ts";
import type { UnreadCounter } from "./wire/write-progress.ts";

/** A router without a listener: hosts (the wire server, the fetch face) start requests on it, the admin port shows its state. */
export interface Router {
  readonly start: RequestStarter;
  /** A new id, for responses to input that never became a request. */
  nextRequestId(): string;
  readonly config: ActiveConfig;
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
  /** Whether so many endpoints fail that all that are up are used. */
  readonly isPanicking: boolean;
  /** Plugins that take more time per request than they may. */
  readonly slowPlugins: readonly SlowPlugin[];
  /** Why the endpoint's last probe failed; "" after a success. */
  probeFailure(endpoint: Endpoint): string;
  /** Resolves to true once an endpoint is available, or to false when none is after `timeoutMs`. */
  whenReady(timeoutMs: number): Promise<boolean>;
  /** From now on `/ready` says 503; everything else is served as before. */
  announceStop(): void;
  /** Ends probes and every connection to a replica; requests under way break off. */
  close(): void;
}

/** Builds and starts the config's plugins. Throws when one can't be made or started; then nothing is left running. */
export function runRouter(loaded: LoadedConfig, services: HostServices): Router {
  const plugins = buildPluginSet(loaded, services, new KeptState());
  try {
    checkPages(plugins.active.observers);
    return start(loaded, plugins, services);
  } catch (thrown) {
    plugins.dispose();
    throw thrown;
  }
}

/** Connects the data plane with the control plane. */
function start(loaded: LoadedConfig, plugins: PluginSet, services: HostServices): Router {
  const { clock, random, log } = services;
  const config = plugins.active;
  const load = new LoadTable(clock);
  const prefixIndex = plugins.prefixSettings && new PrefixIndex(plugins.prefixSettings);
  const pools = new UpstreamPools(config.settings.limits, clock);
  const { memoryBytes } = config.settings.limits;
  const memory = new MemoryBudget(memoryBytes === 0 ? defaultMemoryBytes() : memoryBytes, clock);
  const { keepAlive } = config.settings;
  const silences = keepAlive && new Deadlines(clock, sweepPeriodMs([keepAlive.periodMs]));
  const startedAtS = Math.floor(clock.wall() / 1000);
  const waiting = new Set<() => void>();
  let facts = factsOf([]);
  let isStopping = false;

  const control = new ControlPlane({
    plugins,
    probes: loaded.config.pool.probes,
    ejection: config.settings.ejection,
    services,
    load,
    get: (url, path, timeoutMs, maxBytes, signal) => httpGet(url, path, { timeoutMs, maxBytes, signal }),
    replaced(slot) {
      prefixIndex?.forget(slot);
      pools.closeIdle(slot);
    },
    capacityKnown: (slot, tokens) => prefixIndex?.setCapacity(slot, tokens),
    lastByteMs: (endpoint) => pools.lastByteMs(endpoint),
    cutWaiting: (endpoint) => pools.cutWaiting(endpoint),
    publish(next) {
      pools.follow(next.endpoints);
      facts = next;
      if (isReady(next)) for (const wake of [...waiting]) wake();
    },
  });
  const pluginTimes = new PluginTimes(clock, log, config.settings.limits.pluginMs);
  const plane: DataPlane = {
    config,
    get facts() {
      return facts;
    },
    admission: admitAll,
    clients: new ClientCounts(config.settings.limits.perClientRequests),
    memory,
    scanTurns: new ScanTurns(clock, nextTurn),
    load,
    prefixIndex,
    tokenScale: new TokenScale(),
    clock,
    random,
    log,
    startedAtS,
    get isStopping() {
      return isStopping;
    },
    traffic: control.traffic,
    pluginTimes,
    retryBudget: new RetryBudget(config.settings.retries),
    silences,
    poolOf: (endpoint) => pools.of(endpoint),
    connectFailed: (endpoint) => control.connectFailed(endpoint),
    nextRequestId: requestIds(random),
  };
  const close = () => {
    control.stop();
    silences?.close();
    pools.close();
    memory.close();
    plugins.dispose();
  };
  try {
    control.start();
  } catch (thrown) {
    close();
    throw thrown;
  }

  return {
    start: intake(plane),
    nextRequestId: plane.nextRequestId,
    config,
    get facts() {
      return facts;
    },
    load,
    memory,
    startedAtS,
    get prefixIndex() {
      return prefixIndex?.stats();
    },
    connectionsTo: (endpoint) => pools.connectionsTo(endpoint),
    ejectionsOf: (endpoint) => control.ejectionsOf(endpoint),
    get isPanicking() {
      return control.isPanicking;
    },
    get slowPlugins() {
      return pluginTimes.slow;
    },
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
    announceStop() {
      isStopping = true;
    },
    close,
  };
}

function isReady({ endpoints }: Facts): boolean {
  return endpoints.some(({ isAvailable }) => isAvailable);
}
