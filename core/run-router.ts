import type { LoadedConfig } from "../config/load.ts";
import { checkPages } from "./admin/pages.ts";
import { isServing } from "./contract/endpoint.ts";
import { Adapters } from "./control/adapters.ts";
import { type ControlPlan, ControlPlane } from "./control/control-plane.ts";
import { KeptState } from "./control/kept-state.ts";
import { withPlace } from "./control/plugin-error.ts";
import { buildPluginSet, type HostServices, type PluginSet } from "./control/plugin-set.ts";
import { PluginSets } from "./control/plugin-sets.ts";
import { Rollouts } from "./control/rollouts.ts";
import { savedFacts } from "./control/saved-facts.ts";
import { dryRun } from "./intake/dry-run.ts";
import { intake } from "./intake/request-intake.ts";
import { LastingState } from "./lasting-state.ts";
import { LivePlane } from "./live-plane.ts";
import type { Router } from "./router.ts";
import type { Facts } from "./state/facts.ts";
import { bearerFor } from "./wire/bearer.ts";
import { httpGet, httpSend } from "./wire/http-get.ts";

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
  const { clock, log } = services;
  const rollouts = new Rollouts({ clock, log, facts: () => plane.facts });
  const sets = new PluginSets(rollouts.watch(plugins, loaded.config.guards));
  const state = new LastingState(plugins, clock, log);
  const { load, prefixes, pools, memory, pluginTimes, pluginFaults, mirroring, shadowing, figures } = state;
  const waiting = new Set<() => void>();
  let kept = firstKept;

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
      plane.facts = next;
      if (isReady(next)) for (const wake of [...waiting]) wake();
    },
  });
  const plane = new LivePlane(sets, state, control, services);
  const adapters = new Adapters({
    clock,
    load,
    facts: () => plane.facts,
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
    sets.publish(rollouts.watch(built, next.config.guards));
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
      return plane.facts;
    },
    load,
    memory,
    startedAtS: plane.startedAtS,
    get prefixIndex() {
      return prefixes.index?.stats();
    },
    connectionsTo: (endpoint) => pools.connectionsTo(endpoint),
    leftOpenAt: (endpoint) => pools.leftOpenAt(endpoint),
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
    get pluginTimes() {
      return pluginTimes.timed;
    },
    get pluginFaults() {
      return pluginFaults.counts;
    },
    mirroring,
    shadowing,
    adapters,
    rollouts,
    probeFailure: (endpoint) => control.probeFailure(endpoint),
    whenReady(timeoutMs) {
      if (isReady(plane.facts)) return Promise.resolve(true);
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
    dryRun: (asked) => dryRun(asked, sets.newest.active, plane),
    savedFacts: () => savedFacts(sets.newest.active, kept, plane),
    replace: (next) => placing(next, () => replace(next)),
    announceStop() {
      plane.isStopping = true;
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
