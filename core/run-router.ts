import type { LoadedConfig } from "../config/load.ts";
import { checkPages } from "./admin/pages.ts";
import { isServing } from "./contract/endpoint.ts";
import { Adapters } from "./control/adapters.ts";
import { type ControlPlan, ControlPlane } from "./control/control-plane.ts";
import { KeptState } from "./control/kept-state.ts";
import { withPlace } from "./control/plugin-error.ts";
import { buildPluginSet, type HostServices, type PluginSet } from "./control/plugin-set.ts";
import { PluginSets } from "./control/plugin-sets.ts";
import { savedFacts } from "./control/saved-facts.ts";
import { makeJudge } from "./features/live-features.ts";
import { dryRun } from "./intake/dry-run.ts";
import { intake } from "./intake/starter.ts";
import { LiveParts } from "./live-parts.ts";
import type { Router } from "./router.ts";
import type { Facts } from "./state/facts.ts";
import { bearerFor } from "./wire/bearer.ts";
import { httpGet, httpSend } from "./wire/http-get.ts";
import { replicaTlsFor } from "./wire/replica-tls.ts";

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

/** Connects the parts that requests use with the control plane. */
function start(loaded: LoadedConfig, plugins: PluginSet, services: HostServices, firstKept: KeptState): Router {
  const { clock } = services;
  const configs = new PluginSets(plugins);
  const parts = new LiveParts(configs, services);
  const { pool, features } = parts;
  const waiting = new Set<() => void>();
  let kept = firstKept;

  /** What the router shows to the endpoint of this name when it asks on its own behalf. */
  const keyHeaders = (name: string): Readonly<Record<string, string>> => {
    const authorization = bearerFor(name, configs.newest.active.settings.credentials);
    return authorization === undefined ? {} : { authorization };
  };
  const tlsOf = (name: string) => replicaTlsFor(name, configs.newest.active.settings.replicaTls);
  const control = new ControlPlane({
    ...controlPlan(loaded, plugins),
    services,
    makeJudge,
    load: pool.load,
    get: ({ name, url }, path, timeoutMs, maxBytes, signal) =>
      httpGet(url, path, {
        timeoutMs,
        maxBytes,
        signal,
        headers: name === undefined ? {} : keyHeaders(name),
        tls: name === undefined ? undefined : tlsOf(name),
      }),
    replaced: (slot) => pool.replaced(slot),
    capacityKnown: (slot, tokens) => pool.capacityKnown(slot, tokens),
    lastByteMs: (endpoint) => pool.lastByteMs(endpoint),
    cutWaiting: (endpoint, leastMs) => pool.cutWaiting(endpoint, leastMs),
    cutStreams: (endpoint, leastMs, isWitnessed) => pool.cutStreams(endpoint, leastMs, isWitnessed),
    publish(next) {
      features.follow(next.endpoints);
      pool.publish(next);
      if (isReady(next)) for (const wake of [...waiting]) wake();
    },
  });
  pool.control = control;
  const adapters = new Adapters({
    clock,
    load: pool.load,
    facts: () => pool.facts,
    targets: () => configs.newest.active.targets,
    post: ({ name, url }, path, document, timeoutMs, maxBytes) =>
      httpSend(url, path, {
        ...{ method: "POST", headers: keyHeaders(name), tls: tlsOf(name) },
        ...{ body: JSON.stringify(document), timeoutMs, maxBytes },
      }),
    adapterChanged: (endpoint, name, isLoaded) => control.adapterChanged(endpoint, name, isLoaded),
  });
  const close = () => {
    control.stop();
    parts.close();
    configs.dispose();
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
      changes = [parts.prepare(built), control.prepare(controlPlan(next, built))];
    } catch (thrown) {
      built.dispose();
      throw thrown;
    }
    // From here on nothing can fail, and no request can come between.
    for (const change of changes) change();
    // An operator who applies a rewrite again has often just put its adapter where replicas find it.
    pool.load.unlisted.forgetRefusals();
    configs.publish(built);
    draft.retain(next.config.plugins);
    kept = draft;
  };

  return {
    start: intake(parts, adapters),
    get config() {
      return configs.newest.active;
    },
    get olderConfigs() {
      return configs.olderCount;
    },
    pool,
    control,
    gate: parts.gate,
    plugins: parts.plugins,
    features,
    identity: parts.identity,
    adapters,
    whenReady(timeoutMs) {
      if (isReady(pool.facts)) return Promise.resolve(true);
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
    dryRun: (asked) => dryRun(asked, configs.newest.active, parts),
    savedFacts: () => savedFacts(configs.newest.active, kept, pool, clock),
    replace: (next) => placing(next, () => replace(next)),
    announceStop: () => parts.announceStop(),
    close,
  };
}

function controlPlan({ config }: LoadedConfig, plugins: PluginSet): ControlPlan {
  return { plugins, probes: config.pool.probes, features: config.features };
}

function isReady({ endpoints }: Facts): boolean {
  return endpoints.some(isServing);
}
