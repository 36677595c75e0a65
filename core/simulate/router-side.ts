import type { LoadedConfig } from "../../config/load.ts";
import type { EndpointSpec } from "../contract/endpoint.ts";
import { parseEndpointUrl } from "../contract/endpoint-url.ts";
import { silentLog } from "../contract/log.ts";
import type { PrefixSettings } from "../contract/plugin.ts";
import type { Source } from "../contract/source.ts";
import { seededRandom } from "../contract/test-kit.ts";
import { KeptState } from "../control/kept-state.ts";
import { buildPluginSet, type HostServices } from "../control/plugin-set.ts";
import { PoolWatch } from "../control/pool-watch.ts";
import { groupSources, SourceFacts, type SourceGroup } from "../control/readiness/source-facts.ts";
import { admission as admissionFeature } from "../features/admission/feature.ts";
import { NO_JUDGE } from "../features/judge.ts";
import { LiveFeatures, makeJudge } from "../features/live-features.ts";
import type { Pool } from "../pool/pool.ts";
import { factsOf } from "../state/facts.ts";
import { LoadTable } from "../state/load.ts";
import { SECRET_WORDS } from "../state/prefix-hash.ts";
import { PrefixIndex } from "../state/prefix-index.ts";
import { RetryBudget } from "../state/retry-budget.ts";
import { TokenScale } from "../state/token-scale.ts";
import type { EventQueue } from "./events.ts";
import { Probe } from "./probe.ts";
import type { Replica } from "./replica.ts";
import type { Trace } from "./trace.ts";
import type { Upstream } from "./upstream.ts";

/** What a router has when its replicas have just come into service. */
export type RouterSide = ReturnType<typeof makeRouterSide>;

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
export function makeRouterSide(options: RouterSideOptions) {
  const { loaded, upstreams, seed, clock, hasFaults } = options;
  const load = new LoadTable();
  const services = quietServices(clock, seed);
  const { active: config, ...plugins } = buildPluginSet(loaded, services, new KeptState());
  const prefixIndex = plugins.prefixSettings && makePrefixIndex(plugins.prefixSettings, seed);
  const { features, settings } = config;
  const admission = new LiveFeatures(
    {
      services,
      faults: { report() {} },
      memory: { giveUpSpare() {} },
      load,
      facts: () => facts,
      nextTurn: (run) => void clock.after(0, run),
    },
    [admissionFeature],
  );
  let facts = factsOf([]);
  const watch = new PoolWatch({
    detectors: plugins.detectors,
    features,
    makeJudge: hasFaults ? makeJudge : () => NO_JUDGE,
    services,
    load,
    replaced: (slot) => prefixIndex?.forget(slot),
    lastByteMs: ({ slot }) => upstreams[slot]!.replica.lastTokenMs,
    cutWaiting: ({ slot }, leastMs) => upstreams[slot]!.cutWaiting(leastMs),
    cutStreams: ({ slot }, leastMs, isWitnessed) => upstreams[slot]!.cutStreams(leastMs, isWitnessed),
    probeFailure: () => "",
    publish(next) {
      facts = next;
      admission.follow(next.endpoints);
      for (const endpoint of next.endpoints) upstreams[endpoint.slot]!.follow(endpoint);
    },
  });
  admission.use(config);
  const specs = specsOf(loaded, upstreams.length);
  watch.table.discovered(specs);
  watch.start();
  const probes = startProbes(options, watch);
  const sources = plugins.sources.map(({ plugin }) => plugin);
  scrape(options, specs, { sources, load, prefixIndex });
  /** Its connections depend on the request. */
  const pool: Omit<Pool, "connections"> = {
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
  };
  return {
    config,
    services,
    pool,
    /** The features that requests meet here: the line in front of a full pool. */
    features: admission,
    /** Ejections of each replica so far. */
    ejections: () => facts.endpoints.map((endpoint) => watch.judge.countOf(endpoint)),
    dispose() {
      admission.close();
      plugins.dispose();
    },
  };
}

/** For plugins that are heard by nobody. */
export function quietServices(clock: EventQueue, seed: number): HostServices {
  return { clock, random: seededRandom(seed), log: silentLog, output: { print: () => {}, isTerminal: false } };
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

interface ScrapeParts {
  readonly sources: readonly Source[];
  readonly load: LoadTable;
  readonly prefixIndex: PrefixIndex | undefined;
}

/**
 * Lets the config's sources read every replica's metrics text: at the start, as the router does for a new replica, then at the
 * sources' own periods. Each replica starts its period at a random time.
 */
function scrape(
  { upstreams, clock, seed }: RouterSideOptions,
  specs: readonly EndpointSpec[],
  { sources, load, prefixIndex }: ScrapeParts,
): void {
  const random = seededRandom(seed ^ 0x5c4a9e);
  const groups = groupSources(sources, { path: "", periodMs: 0 });
  upstreams.forEach((upstream, slot) => {
    const { name, labels, url } = specs[slot]!;
    const replica = { name, labels, url: parseEndpointUrl(url) };
    const facts = new SourceFacts(load, slot, (tokens) => prefixIndex?.setCapacity(slot, tokens));
    const read = (group: SourceGroup) => facts.read(group, metricsPage(upstream.replica), replica, clock.now());
    const ask = (group: SourceGroup) => {
      if (!upstream.isDown) return void read(group);
      facts.awaited(group, clock.now());
      facts.age(clock.now());
    };
    // Other sources, such as the model list, read nothing that changes in a simulation.
    for (const group of groups.filter((each) => read(each) === "")) {
      clock.after(random() * group.periodMs, () => void clock.every(group.periodMs, () => ask(group)));
    }
  });
}

/** vLLM's metrics for its load and for the size of its cache, and a GPU exporter's: a GPU is used fully by one request and by many. */
function metricsPage({ running, untouched, size, cache }: Replica): string {
  return [
    `vllm:num_requests_running ${running}`,
    `vllm:num_requests_waiting ${untouched}`,
    `vllm:kv_cache_usage_perc ${cache.usage}`,
    `vllm:cache_config_info{kv_cache_size_tokens="${cache.tokens}"} 1`,
    `DCGM_FI_DEV_GPU_UTIL{gpu="0"} ${size > 0 ? 100 : 0}`,
    "",
  ].join("\n");
}
