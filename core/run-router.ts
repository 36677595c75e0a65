import type { ActiveConfig } from "./active-config.ts";
import { isServing } from "./contract/endpoint.ts";
import type { HostServices } from "./contract/plugin.ts";
import { type ControlPlan, ControlPlane } from "./control/control-plane.ts";
import { KeptState } from "./control/kept-state.ts";
import { withPlace } from "./control/plugin-error.ts";
import { buildPluginSet, type PluginSet } from "./control/plugin-set.ts";
import { PluginSets } from "./control/plugin-sets.ts";
import { sectionInstances } from "./control/section-instances.ts";
import { intake } from "./intake/starter.ts";
import { NO_JUDGE } from "./judge.ts";
import { LiveParts } from "./live-parts.ts";
import type { PreparedConfig, Router } from "./router.ts";
import type { RouterPlan } from "./router-config.ts";
import type { AdapterAccess, RouterAccess } from "./router-host.ts";
import type { Facts } from "./state/facts.ts";
import { bearerFor } from "./wire/bearer.ts";
import { httpGet, httpSend } from "./wire/http-get.ts";
import type { GetTarget } from "./wire/http-get-result.ts";
import { targetTlsFor } from "./wire/replica-tls.ts";

/** What the program that a router runs in gives it. */
export interface RouterServices extends HostServices, Pick<RouterAccess, "workers"> {
  /** Throws an Error for a config that does not fit the program around the router. */
  readonly accepts?: (config: ActiveConfig) => void;
}

/** Builds and starts the config's plugins. Throws when one can't be made or started; then nothing is left running. */
export function runRouter(loaded: RouterPlan, services: RouterServices): Router {
  const kept = new KeptState();
  const parts = new LiveParts(loaded.config.settings, services);
  return placing(loaded, () => {
    let plugins: PluginSet | undefined;
    try {
      plugins = build(loaded, services, kept, parts);
      return start(loaded, plugins, services, kept, parts);
    } catch (thrown) {
      plugins?.dispose();
      parts.discard();
      throw thrown;
    }
  });
}

function build(loaded: RouterPlan, services: RouterServices, kept: KeptState, parts: LiveParts): PluginSet {
  const plugins = buildPluginSet(loaded, services, kept, parts.access);
  try {
    services.accepts?.(plugins.active);
    return plugins;
  } catch (thrown) {
    plugins.dispose();
    throw thrown;
  }
}

/** What `run` throws names the place in the config. */
function placing<Result>(loaded: RouterPlan, run: () => Result): Result {
  try {
    return run();
  } catch (thrown) {
    throw withPlace(thrown, loaded);
  }
}

/** Connects the parts that requests use with the control plane. */
function start(loaded: RouterPlan, plugins: PluginSet, services: RouterServices, firstKept: KeptState, parts: LiveParts): Router {
  const { clock } = services;
  const configs = new PluginSets(plugins);
  parts.begin(configs);
  const { pool, features } = parts;
  const waiting = new Set<() => void>();
  let kept = firstKept;

  /** What the router shows to the endpoint of this name when it asks on its own behalf. */
  const keyHeaders = (name: string): Readonly<Record<string, string>> => {
    const authorization = bearerFor(name, configs.newest.active.settings.credentials);
    return authorization === undefined ? {} : { authorization };
  };
  const tlsOf = (target: GetTarget) => targetTlsFor(target, configs.newest.active.settings.replicaTls);
  const control = new ControlPlane({
    ...controlPlan(loaded, plugins),
    services,
    makeJudge: loaded.sections.find(({ judge }) => judge)?.judge ?? (() => NO_JUDGE),
    load: pool.load,
    get: (target, path, timeoutMs, maxBytes, signal) => {
      const headers = target.name === undefined ? {} : keyHeaders(target.name);
      return httpGet(target.url, path, { timeoutMs, maxBytes, signal, headers, tls: tlsOf(target) });
    },
    replaced: (slot) => pool.replaced(slot),
    capacityKnown: (slot, tokens) => pool.capacityKnown(slot, tokens),
    tries: pool.connections,
    gone: (endpoint) => features.replicaGone(endpoint),
    publish(next) {
      features.endpointsChanged(next.endpoints);
      pool.publish(next);
      if (isReady(next)) for (const wake of [...waiting]) wake();
    },
  });
  pool.control = control;
  parts.control = control;
  const adapters: AdapterAccess = {
    clock,
    load: pool.load,
    facts: () => pool.facts,
    targets: () => configs.newest.active.targets,
    post: (endpoint, path, document, timeoutMs, maxBytes) =>
      httpSend(endpoint.url, path, {
        ...{ method: "POST", headers: keyHeaders(endpoint.name), tls: tlsOf(endpoint) },
        ...{ body: JSON.stringify(document), timeoutMs, maxBytes },
      }),
    adapterChanged: (endpoint, name, isLoaded) => control.adapterChanged(endpoint, name, isLoaded),
  };
  parts.adapters = adapters;
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

  const prepare = (next: RouterPlan): PreparedConfig => {
    const draft = kept.draft();
    const built = build(next, services, draft, parts);
    let changes: readonly (() => void)[];
    try {
      changes = [parts.prepare(built), control.prepare(controlPlan(next, built))];
    } catch (thrown) {
      built.dispose();
      throw thrown;
    }
    const apply = () => {
      // From here on nothing can fail, and no request can come between.
      for (const change of changes) change();
      // An operator who applies a rewrite again has often just put its adapter where replicas find it.
      pool.load.unlisted.forgetRefusals();
      configs.publish(built);
      draft.retain([...next.config.plugins, ...sectionInstances(next.sections, next.config).map(({ entry }) => entry)]);
      kept = draft;
    };
    return { active: built.active, apply, discard: built.dispose };
  };

  return {
    services: parts.services,
    start: intake(parts),
    get config() {
      return configs.newest.active;
    },
    get olderConfigs() {
      return configs.olderCount;
    },
    get kept() {
      return kept;
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
    configs,
    prepare: (next) => placing(next, () => prepare(next)),
    replace: (next) => placing(next, () => prepare(next)).apply(),
    changeBy(config) {
      parts.changeable = config;
    },
    announceStop: () => parts.announceStop(),
    close,
  };
}

function controlPlan({ config }: RouterPlan, plugins: PluginSet): ControlPlan {
  return { plugins, probes: config.pool.probes, active: plugins.active };
}

function isReady({ endpoints }: Facts): boolean {
  return endpoints.some(isServing);
}
