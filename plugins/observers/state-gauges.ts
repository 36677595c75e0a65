import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { TargetMapping } from "../../core/contract/rewriter.ts";
import type { PrefixIndexSize, RouterView } from "../../core/contract/router-view.ts";
import { readyEndpoints } from "../../core/report/ready-endpoints.ts";
import { targetLabel } from "../../core/report/target-label.ts";
import { familyText } from "./buckets.ts";

type Pool = RouterView["pool"];

/** `read`: NaN leaves the endpoint out. */
type EndpointGauge = readonly [name: string, help: string, read: (endpoint: Endpoint, pool: Pool) => number];

/** Scraped values are shown only while they count in decisions. */
const fresh = ({ slot }: Endpoint, { load }: Pool, value: number) => (load.freshness(slot) > 0 ? value : Number.NaN);

const PREFILL_HELP = "Tokens of prompts sent that have no first response byte yet, minus those believed cached.";
const RATE_HELP = "Prompt tokens that the endpoint processes in a second, as measured.";
const WAITING_HELP = "Requests in the replica's own queue, as the replica reports it.";
const RUNNING_HELP = "Requests running in the replica, as the replica reports it.";
const KV_HELP = "Share of the replica's KV cache in use, as the replica reports it.";

const ENDPOINT_GAUGES: readonly EndpointGauge[] = [
  ["ready", "1 while the endpoint gets traffic.", ({ isAvailable }) => (isAvailable ? 1 : 0)],
  ["ejected", "1 while the endpoint is ejected.", ({ ejection }) => (ejection === undefined ? 0 : 1)],
  ["share", "Of an equal share of the traffic, how much the endpoint gets.", ({ share }) => share],
  ["in_flight", "Requests sent and not yet ended.", ({ slot }, { load }) => load.inFlight(slot)],
  ["prefill_tokens", PREFILL_HELP, ({ slot }, { load }) => load.prefillTokens(slot)],
  ["prefill_tokens_per_second", RATE_HELP, ({ slot }, { load }) => load.prefillRate(slot) * 1000],
  ["connections", "Open connections, busy and idle.", (endpoint, pool) => pool.connectionsTo(endpoint)],
  ["waiting", WAITING_HELP, (endpoint, pool) => fresh(endpoint, pool, pool.load.waiting(endpoint.slot))],
  ["running", RUNNING_HELP, (endpoint, pool) => fresh(endpoint, pool, pool.load.running(endpoint.slot))],
  ["kv_cache_utilization", KV_HELP, (endpoint, pool) => fresh(endpoint, pool, pool.load.kvUsage(endpoint.slot))],
];

/** The state of the pools, read from the router when the page is requested. */
export function stateGauges(view: RouterView): string {
  const pools = poolsOf(view);
  return endpointGauges(pools) + phaseGauge(pools) + discoveryGauge(view, pools) + rewriteGauges(view) + prefixIndexGauges(pools);
}

/** A pool, with a label that names it where there are several. */
interface LabelledPool {
  readonly pool: Pool;
  readonly labels: readonly string[];
  readonly values: readonly string[];
}

function poolsOf({ pool, furtherPools, config }: RouterView): readonly LabelledPool[] {
  if (furtherPools === undefined) return [{ pool, labels: [], values: [] }];
  return [[config.pool, pool] as const, ...furtherPools].map(([name, each]) => ({
    pool: each,
    labels: ["pool"],
    values: [name],
  }));
}

const labelsOf = ([first]: readonly LabelledPool[]) => first?.labels ?? [];

function endpointGauges(pools: readonly LabelledPool[]): string {
  const families = ENDPOINT_GAUGES.map(([name, help, read]) => {
    const samples = pools.flatMap(({ pool, values }) =>
      pool.endpoints.map((endpoint) => ({ values: [endpoint.name, ...values], value: read(endpoint, pool) })),
    );
    const known = samples.filter(({ value }) => !Number.isNaN(value));
    const labels = ["endpoint", ...labelsOf(pools)];
    return familyText({ name: `endpoint_${name}`, type: "gauge", help, labels, samples: known });
  });
  return families.join("");
}

/** Only the phase that it is in has a sample. */
function phaseGauge(pools: readonly LabelledPool[]): string {
  const help = "1 for the phase that the endpoint is in; other phases have no sample.";
  const samples = pools.flatMap(({ pool, values }) =>
    pool.endpoints.map(({ name, phase }) => ({ values: [name, phase, ...values], value: 1 })),
  );
  return familyText({ name: "endpoint_phase", type: "gauge", help, labels: ["endpoint", "phase", ...labelsOf(pools)], samples });
}

const STALE_HELP = "How old the list of a discovery is that can't know the replicas as they are now; others have no sample.";

function discoveryGauge({ clock }: RouterView, pools: readonly LabelledPool[]): string {
  const samples = pools.flatMap(({ pool, values }) => {
    const known = [...pool.discoveryTroubles].filter(([, { sinceMs }]) => !Number.isNaN(sinceMs));
    return known.map(([name, { sinceMs }]) => ({ values: [name, ...values], value: (clock.now() - sinceMs) / 1000 }));
  });
  const family = { name: "discovery_stale_seconds", help: STALE_HELP, labels: ["discovery", ...labelsOf(pools)], samples };
  return familyText({ ...family, type: "gauge" });
}

const WEIGHT_HELP = "Weight of a rule's target, relative to the rule's other targets.";
const SERVING_HELP =
  "Ready endpoints that serve a rule's target. With 0 and a weight above 0, requests are refused or get another target.";

function rewriteGauges({ pool, furtherPools = NO_POOLS, config }: RouterView): string {
  const pools = [[config.pool, pool] as const, ...furtherPools];
  const byPool = new Map(pools.map(([name, { endpoints }]) => [name, endpoints]));
  const gauge = (name: string, help: string, read: (target: TargetMapping["targets"][number]) => number) => {
    const samples = config.mappings.flatMap((rule) =>
      rule.targets.map((target) => ({ values: [rule.name, targetLabel(target)], value: read(target) })),
    );
    return familyText({ name: `rewrite_target_${name}`, type: "gauge", help, labels: ["rule", "target"], samples });
  };
  return (
    gauge("weight", WEIGHT_HELP, ({ weight }) => weight) +
    gauge("ready_endpoints", SERVING_HELP, (target) => readyEndpoints(target, byPool))
  );
}

const NO_POOLS: ReadonlyMap<string, Pool> = new Map();

function prefixIndexGauges(pools: readonly LabelledPool[]): string {
  const known = pools.filter(({ pool }) => pool.prefixIndex !== undefined);
  if (known.length === 0) return "";
  const gauge = (name: string, help: string, read: (size: PrefixIndexSize) => number) => {
    const samples = known.map(({ pool, values }) => ({ values, value: read(pool.prefixIndex!) }));
    return familyText({ name: `prefix_index_${name}`, type: "gauge", help, labels: labelsOf(pools), samples });
  };
  return (
    gauge("entries", "Prompt blocks that are believed cached, summed over all endpoints.", ({ entries }) => entries) +
    gauge("max_entries", "Most entries that the index can hold.", ({ maxEntries }) => maxEntries) +
    gauge("bytes", "Memory that the index has reserved.", ({ bytes }) => bytes)
  );
}
