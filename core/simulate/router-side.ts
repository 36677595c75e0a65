import type { LoadedConfig } from "../../config/load.ts";
import type { ActiveConfig } from "../active-config.ts";
import type { EndpointSpec } from "../contract/endpoint.ts";
import { silentLog } from "../contract/log.ts";
import type { PrefixSettings } from "../contract/plugin.ts";
import type { Source } from "../contract/source.ts";
import { seededRandom } from "../contract/test-kit.ts";
import { KeptState } from "../control/kept-state.ts";
import { buildPluginSet } from "../control/plugin-set.ts";
import { PoolWatch } from "../control/pool-watch.ts";
import { NO_JUDGE } from "../features/judge.ts";
import { makeJudge } from "../features/live-features.ts";
import type { Pool } from "../pool/pool.ts";
import type { Services } from "../services.ts";
import { factsOf } from "../state/facts.ts";
import { LoadTable } from "../state/load.ts";
import { SECRET_WORDS } from "../state/prefix-hash.ts";
import { PrefixIndex } from "../state/prefix-index.ts";
import { RetryBudget } from "../state/retry-budget.ts";
import { TokenScale } from "../state/token-scale.ts";
import type { EventQueue } from "./events.ts";
import { Probe } from "./probe.ts";
import type { Trace } from "./trace.ts";
import type { Upstream } from "./upstream.ts";

/** What a router has when its replicas have just come into service. */
export interface RouterSide {
  readonly config: ActiveConfig;
  readonly services: Services;
  /** Its connections depend on the request. */
  readonly pool: Omit<Pool, "connections">;
  readonly sources: readonly Source[];
  /** Ejections of each replica so far. */
  ejections(): readonly number[];
  dispose(): void;
}

export interface RouterSideOptions {
  readonly trace: Trace;
  readonly loaded: LoadedConfig;
  /** In the order of the replicas' slots. */
  readonly upstreams: readonly Upstream[];
  readonly seed: number;
  readonly clock: EventQueue;
  /** Whether replicas may fail. Where they can't, none is ejected, however slow it is. */
  readonly hasFaults: boolean;
}

/** Makes the config's plugins and the state they read, on simulated time and with numbers drawn from the seed. */
export function makeRouterSide(options: RouterSideOptions): RouterSide {
  const { loaded, upstreams, seed, clock, hasFaults } = options;
  const load = new LoadTable();
  const services = { clock, random: seededRandom(seed), log: silentLog, output: { print: () => {}, isTerminal: false } };
  const { active: config, ...plugins } = buildPluginSet(loaded, services, new KeptState());
  const prefixIndex = plugins.prefixSettings && makePrefixIndex(plugins.prefixSettings, seed);
  const { features, settings } = config;
  let facts = factsOf([]);
  const watch = new PoolWatch({
    detectors: plugins.detectors,
    features,
    makeJudge: hasFaults ? makeJudge : () => NO_JUDGE,
    services,
    load,
    replaced: (slot) => prefixIndex?.forget(slot),
    lastByteMs: ({ slot }) => upstreams[slot]!.replica.lastTokenMs,
    cutWaiting: ({ slot }) => upstreams[slot]!.cutWaiting(),
    probeFailure: () => "",
    publish(next) {
      facts = next;
      for (const endpoint of next.endpoints) upstreams[endpoint.slot]!.follow(endpoint);
    },
  });
  watch.table.discovered(specsOf(loaded, upstreams.length));
  watch.start();
  const probes = startProbes(options, watch);
  return {
    config,
    services,
    pool: {
      get facts() {
        return facts;
      },
      load,
      prefixIndex,
      tokenScale: new TokenScale(),
      retryBudget: new RetryBudget(settings.retries),
      figures: { ended() {} },
      control: {
        traffic: watch.judge.traffic,
        connectFailed: ({ slot }) => probes[slot]!.connectFailed(),
        checkModels() {},
      },
    },
    sources: plugins.sources.map(({ plugin }) => plugin),
    ejections: () => facts.endpoints.map((endpoint) => watch.judge.countOf(endpoint)),
    dispose: plugins.dispose,
  };
}

/** Labels are those of the config's endpoints, in turn. */
function specsOf({ config }: LoadedConfig, count: number): readonly EndpointSpec[] {
  const { endpoints } = config.pool;
  return Array.from({ length: count }, (_, index) => {
    const name = `replica-${index + 1}`;
    return { name, url: `http://${name}`, labels: endpoints[index % endpoints.length]?.labels ?? {} };
  });
}

/** Every replica is ready and serves whatever may be asked for. */
function startProbes({ trace, loaded, upstreams, seed, clock }: RouterSideOptions, { table }: PoolWatch): readonly Probe[] {
  const { pool, rewrites } = loaded.config;
  const targets = rewrites.flatMap((rule) => rule.targets.map((target) => target.name));
  const models = [...new Set([...trace.requests.map((request) => request.model), ...targets])];
  const random = seededRandom(seed ^ 0x9a0be);
  const probes = table.endpoints.map(({ name, slot }) => {
    const isDown = () => upstreams[slot]!.isDown;
    return new Probe({ clock, random, probes: pool.probes, models, isDown, changed: (health) => table.probed(name, health) });
  });
  for (const probe of probes) probe.start();
  return probes;
}

/** The router's own index; its secret comes from the seed, so that a run can be repeated. */
function makePrefixIndex(settings: PrefixSettings, seed: number): PrefixIndex {
  const random = seededRandom(seed ^ 0x1de8);
  const secret = Array.from({ length: SECRET_WORDS }, () => Math.floor(random() * 2 ** 32));
  return new PrefixIndex({ ...settings, secret });
}
