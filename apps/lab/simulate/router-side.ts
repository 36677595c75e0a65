import type { LoadedConfig } from "../../../config/load.ts";
import type { ActiveConfig } from "../../../core/active-config.ts";
import { MemoryBudget } from "../../../core/body/memory-budget.ts";
import { ScanTurns } from "../../../core/body/scan-turns.ts";
import type { EndpointSpec } from "../../../core/contract/endpoint.ts";
import { parseEndpointUrl } from "../../../core/contract/endpoint-url.ts";
import { silentLog } from "../../../core/contract/log.ts";
import type { HostServices } from "../../../core/contract/plugin.ts";
import type { Source } from "../../../core/contract/source.ts";
import { seededRandom } from "../../../core/contract/test-kit.ts";
import { KeptState } from "../../../core/control/kept-state.ts";
import { buildPluginSet } from "../../../core/control/plugin-set.ts";
import { PoolWatch } from "../../../core/control/pool-watch.ts";
import { groupSources, SourceFacts, type SourceGroup } from "../../../core/control/readiness/source-facts.ts";
import { NO_JUDGE } from "../../../core/judge.ts";
import { PluginFaults } from "../../../core/plugin-watch/plugin-faults.ts";
import { PluginTimes } from "../../../core/plugin-watch/plugin-times.ts";
import type { Carrier } from "../../../core/pool/carrier.ts";
import type { EngineWire } from "../../../core/pool/engine-wire.ts";
import { LivePool } from "../../../core/pool/live-pool.ts";
import { withoutRouter } from "../../../core/router-host.ts";
import type { RouterParts } from "../../../core/router-parts.ts";
import { SECRET_WORDS } from "../../../core/state/prefix-hash.ts";
import { ClientCounts } from "../../../core/wire/client-counts.ts";
import type { EventQueue } from "./events.ts";
import { ModelledConnections } from "./modelled-connections.ts";
import { Probe } from "./probe.ts";
import type { Replica } from "./replica.ts";
import type { Trace } from "./trace.ts";
import type { Upstream } from "./upstream.ts";

/** The feature by which routers agree. */
const AGREEING = "spec/shared";
/** The feature that hears what replicas publish of their caches. */
const HEARING = "spec/kvEvents";

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
  /** How many of them compute prompts for the others; undefined: the config's labels say what each does. */
  readonly prefillers: number | undefined;
  /** How many adapters replicas run at the same time, where the trace's models are adapters; else 0. */
  readonly maxLoras: number;
  /** What carries messages to the other routers. */
  readonly carrier: Carrier;
  /** What carries the events of the replicas' caches; undefined where they publish none. */
  readonly engines: EngineWire | undefined;
}

/** The label by which the router knows what a replica does of a request. */
const ROLE_LABEL = "llm-d.ai/role";

/** Makes the config's plugins and the state they read, on simulated time and with numbers drawn from the seed. */
export function makeRouterSide(options: RouterSideOptions) {
  const { loaded, upstreams, seed, clock, hasFaults, carrier, engines } = options;
  const services = quietServices(clock, seed);
  const connections = new ModelledConnections(upstreams, loaded.config.settings.limits);
  const pool = new LivePool(loaded.config.settings, services, () => connections, prefixSecret(seed));
  const { load } = pool;
  let watch: PoolWatch | undefined;
  const access = {
    ...withoutRouter(services),
    load,
    facts: () => pool.facts,
    prefixIndex: () => pool.prefixIndex,
    control: () => watch,
    carrier,
    ...(engines && { engines }),
  };
  const { active: config, ...plugins } = buildPluginSet(loaded, services, new KeptState(), access);
  pool.prepare(config.settings, plugins.prefixSettings)();
  const isHeard = (name: string) => name === AGREEING || (name === HEARING && engines !== undefined);
  // Requests meet those features here that may let them wait, or put them on several replicas; and routers agree where the config says so.
  const met = config.modules
    .filter(({ name, plugin: { admit, plan } }) => admit !== undefined || plan !== undefined || isHeard(name))
    .map(({ plugin }) => plugin);
  const watched = new PoolWatch({
    detectors: plugins.detectors,
    active: config,
    makeJudge: (hasFaults && loaded.sections.find(({ judge }) => judge)?.judge) || (() => NO_JUDGE),
    services,
    load,
    replaced: (slot) => pool.replaced(slot),
    tries: connections,
    probePassedMs: ({ slot }) => (upstreams[slot]!.isDown ? Number.NEGATIVE_INFINITY : clock.now()),
    probeSoon() {},
    probeFailure: () => "",
    publish(next) {
      pool.publish(next);
      for (const feature of met) feature.endpointsChanged?.(next.endpoints);
    },
  });
  watch = watched;
  for (const feature of met) feature.configured?.(config);
  const specs = specsOf(loaded, upstreams.length, options.prefillers);
  watched.table.discovered(specs);
  watched.start();
  const probes = startProbes(options, watched);
  const sources = plugins.sources.map(({ plugin }) => plugin);
  scrape(options, specs, sources, pool);
  pool.control = {
    traffic: watched.judge.traffic,
    connectFailed: ({ slot }) => probes[slot]!.connectFailed(),
    // No gateway is simulated.
    doubted() {},
    isSilent: (endpoint) => watched.judge.isSilent(endpoint),
    checkModels() {},
  };
  return {
    config,
    parts: partsOf(services, config, pool),
    /** The features that requests meet here. */
    met,
    /** Ejections of each replica so far. */
    ejections: () => pool.facts.endpoints.map((endpoint) => watched.judge.countOf(endpoint)),
    /** Gives up requests that have waited for too long. */
    sweep: () => connections.sweep(),
    dispose() {
      for (const feature of met) feature.closed?.();
      plugins.dispose();
    },
  };
}

/** What requests use beside the pool. Nobody but the trace sends any, so nothing bounds them. */
function partsOf(services: HostServices, config: ActiveConfig, pool: LivePool): RouterParts {
  const { clock, log } = services;
  const times = new PluginTimes(clock, log);
  times.follow(config.profile, config.settings.limits.pluginMs);
  return {
    services,
    pool,
    configs: { take: () => config, giveBack() {} },
    gate: {
      clients: new ClientCounts(0),
      memory: new MemoryBudget(Number.POSITIVE_INFINITY, clock),
      scanTurns: new ScanTurns(clock, (run) => void clock.after(0, run)),
    },
    plugins: { times, faults: new PluginFaults(clock, log) },
    identity: { startedAtS: 0, isStopping: false, nextRequestId: () => "" },
  };
}

/** For plugins that are heard by nobody. */
export function quietServices(clock: EventQueue, seed: number): HostServices {
  return { clock, random: seededRandom(seed), log: silentLog, output: { print: () => {}, isTerminal: false } };
}

export const replicaName = (slot: number) => `replica-${slot + 1}`;

/** Labels are those of the config's endpoints, in turn, but for the role where it is given. */
function specsOf({ config }: LoadedConfig, count: number, prefillers: number | undefined): readonly EndpointSpec[] {
  const { endpoints } = config.pool;
  return Array.from({ length: count }, (_, index) => {
    const name = replicaName(index);
    const labels = endpoints[index % endpoints.length]?.labels ?? {};
    const role = prefillers !== undefined && { [ROLE_LABEL]: index < prefillers ? "prefill" : "decode" };
    return { name, url: `http://${name}`, labels: { ...labels, ...role } };
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

/** For the router's own index. It comes from the seed, so that a run can be repeated. */
function prefixSecret(seed: number): readonly number[] {
  const random = seededRandom(seed ^ 0x1de8);
  return Array.from({ length: SECRET_WORDS }, () => Math.floor(random() * 2 ** 32));
}

/**
 * Lets the config's sources read every replica's metrics text: at the start, as the router does for a new replica, then at the
 * sources' own periods. Each replica starts its period at a random time.
 */
function scrape(options: RouterSideOptions, specs: readonly EndpointSpec[], sources: readonly Source[], pool: LivePool): void {
  const { trace, upstreams, clock, seed, maxLoras } = options;
  const random = seededRandom(seed ^ 0x5c4a9e);
  const list = maxLoras > 0 ? modelList(trace) : "";
  const groups = groupSources(sources, { path: "", periodMs: 0 });
  upstreams.forEach((upstream, slot) => {
    const { name, labels, url } = specs[slot]!;
    const replica = { name, labels, url: parseEndpointUrl(url) };
    const facts = new SourceFacts(pool.load, slot, (tokens) => pool.capacityKnown(slot, tokens));
    const read = (group: SourceGroup) =>
      facts.read(group, group.path === MODELS_PATH ? list : metricsPage(upstream.replica, maxLoras), replica, clock.now());
    const ask = (group: SourceGroup) => {
      if (!upstream.isDown) return void read(group);
      facts.awaited(group, clock.now());
      facts.age(clock.now());
    };
    // Other sources read nothing that changes in a simulation; the list of models only where they are adapters.
    for (const group of groups.filter((each) => read(each) === "")) {
      clock.after(random() * group.periodMs, () => void clock.every(group.periodMs, () => ask(group)));
    }
  });
}

const MODELS_PATH = "/v1/models";
const BASE = "base-model";

/** The trace's models as adapters of one base model. */
function modelList({ requests }: Trace): string {
  const adapters = [...new Set(requests.map(({ model }) => model))].map((id) => ({ id, parent: BASE }));
  return JSON.stringify({ data: [{ id: BASE, parent: null }, ...adapters] });
}

/** vLLM's metrics for its load and for the size of its cache, and a GPU exporter's: a GPU is used fully by one request and by many. */
function metricsPage({ running, untouched, size, cache, adapters }: Replica, maxLoras: number): string {
  const names = maxLoras > 0 ? [...adapters].join(",") : "";
  const labels = `max_lora="${maxLoras}",running_lora_adapters="${names}",waiting_lora_adapters="${names}"`;
  return [
    ...(maxLoras > 0 ? [`vllm:lora_requests_info{${labels}} 1`] : []),
    `vllm:num_requests_running ${running}`,
    `vllm:num_requests_waiting ${untouched}`,
    `vllm:kv_cache_usage_perc ${cache.usage}`,
    `vllm:cache_config_info{kv_cache_size_tokens="${cache.tokens}"} 1`,
    `DCGM_FI_DEV_GPU_UTIL{gpu="0"} ${size > 0 ? 100 : 0}`,
    "",
  ].join("\n");
}
