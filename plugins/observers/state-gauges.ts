import { type Endpoint, isServing } from "../../core/contract/endpoint.ts";
import type { RouterView } from "../../core/contract/router-view.ts";
import { familyHead, sampleLine, single } from "./exposition.ts";

type Pool = RouterView["pool"];

interface EndpointGauge {
  readonly name: string;
  readonly help: string;
  /** NaN leaves the endpoint out. */
  readonly read: (endpoint: Endpoint, pool: Pool) => number;
}

/** Scraped values are shown only while they count in decisions. */
const fresh = ({ slot }: Endpoint, { load }: Pool, value: number) => (load.freshness(slot) > 0 ? value : Number.NaN);

const ENDPOINT_GAUGES: readonly EndpointGauge[] = [
  { name: "ready", help: "1 while the endpoint gets traffic.", read: ({ isAvailable }) => (isAvailable ? 1 : 0) },
  { name: "ejected", help: "1 while the endpoint is ejected.", read: ({ ejection }) => (ejection === undefined ? 0 : 1) },
  { name: "share", help: "Of an equal share of the traffic, how much the endpoint gets.", read: ({ share }) => share },
  { name: "in_flight", help: "Requests sent and not yet ended.", read: ({ slot }, { load }) => load.inFlight(slot) },
  {
    name: "prefill_tokens",
    help: "Tokens of prompts sent that have no first response byte yet, minus those believed cached.",
    read: ({ slot }, { load }) => load.prefillTokens(slot),
  },
  {
    name: "prefill_tokens_per_second",
    help: "Prompt tokens that the endpoint processes in a second, as measured.",
    read: ({ slot }, { load }) => load.prefillRate(slot) * 1000,
  },
  { name: "connections", help: "Open connections, busy and idle.", read: (endpoint, pool) => pool.connectionsTo(endpoint) },
  {
    name: "waiting",
    help: "Requests in the replica's own queue, as the replica reports it.",
    read: (one, pool) => fresh(one, pool, pool.load.waiting(one.slot)),
  },
  {
    name: "running",
    help: "Requests running in the replica, as the replica reports it.",
    read: (one, pool) => fresh(one, pool, pool.load.running(one.slot)),
  },
  {
    name: "kv_cache_utilization",
    help: "Share of the replica's KV cache in use, as the replica reports it.",
    read: (one, pool) => fresh(one, pool, pool.load.kvUsage(one.slot)),
  },
];

/** The state of the pool, read from the router when the page is requested. */
export function stateGauges(view: RouterView): string {
  const { pool } = view;
  return endpointGauges(pool) + phaseGauge(pool) + rewriteGauges(view) + prefixIndexGauges(pool);
}

function endpointGauges(pool: Pool): string {
  const families = ENDPOINT_GAUGES.map(({ name, help, read }) => {
    const samples = pool.endpoints.map((endpoint) => {
      const value = read(endpoint, pool);
      return Number.isNaN(value) ? "" : sampleLine(`signalbox_endpoint_${name}`, ["endpoint"], [endpoint.name], value);
    });
    return familyHead(`signalbox_endpoint_${name}`, "gauge", help) + samples.join("");
  });
  return families.join("");
}

/** Only the phase that it is in has a sample. */
function phaseGauge({ endpoints }: Pool): string {
  const name = "signalbox_endpoint_phase";
  const samples = endpoints.map((endpoint) => sampleLine(name, ["endpoint", "phase"], [endpoint.name, endpoint.phase], 1));
  return familyHead(name, "gauge", "1 for the phase that the endpoint is in; other phases have no sample.") + samples.join("");
}

function rewriteGauges({ pool, config }: RouterView): string {
  const available = pool.endpoints.filter(isServing);
  let weights = familyHead(
    "signalbox_rewrite_target_weight",
    "gauge",
    "Weight of a rule's target, relative to the rule's other targets.",
  );
  let serving = familyHead(
    "signalbox_rewrite_target_ready_endpoints",
    "gauge",
    "Ready endpoints that serve a rule's target. With 0 and a weight above 0, requests are refused or get another target.",
  );
  const labels = ["rule", "target"];
  for (const { name, targets } of config.mappings) {
    for (const target of targets) {
      const values = [name, target.name];
      const count = available.filter(({ models }) => models.has(target.name)).length;
      weights += sampleLine("signalbox_rewrite_target_weight", labels, values, target.weight);
      serving += sampleLine("signalbox_rewrite_target_ready_endpoints", labels, values, count);
    }
  }
  return weights + serving;
}

function prefixIndexGauges({ prefixIndex }: Pool): string {
  if (prefixIndex === undefined) return "";
  const gauge = (name: string, help: string, value: number) => single(`signalbox_prefix_index_${name}`, "gauge", help, value);
  return (
    gauge("entries", "Prompt blocks that are believed cached, summed over all endpoints.", prefixIndex.entries) +
    gauge("max_entries", "Most entries that the index can hold.", prefixIndex.maxEntries) +
    gauge("bytes", "Memory that the index has reserved.", prefixIndex.bytes)
  );
}
