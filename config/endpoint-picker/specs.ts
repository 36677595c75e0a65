import type { PluginSource } from "../plugins/read.ts";
import { REFUSED_TYPES } from "../plugins/refused-types.ts";
import { describe, didYouMean, isMapping, quoted } from "../read/problems.ts";
import { durationMs } from "../schema/units.ts";
import { PRECISE_PRODUCER, PRECISE_SCORER } from "./cache-event-jobs.ts";
import { type Entry, entryNamed, firstWith, type PickerResource, referredTo } from "./entries.ts";
import { BURST_PRODUCER, burstParameters, interval, SOURCE_TYPES, TOPOLOGY_EXTRACTOR, topologyParameters } from "./types.ts";

const BURST = "burst-prefix";
const PREFIX_SCORER = "prefix-cache-scorer";
const TOPOLOGY_TYPES: ReadonlySet<string> = new Set(["topology-affinity-filter", "topology-affinity-scorer"]);
const ATTRIBUTE_TYPES: ReadonlySet<string> = new Set(["endpoint-attribute-filter", "endpoint-attribute-scorer"]);
const ATTRIBUTE_KEYS = ["attribute", "attributeKey"];
const MODELS_SOURCE = "models-data-source";
const PRODUCER_KEY = "prefixMatchInfoProducerName";

/** Parameters that name another entry, and of which types it may be. */
const PRODUCERS: Readonly<Record<string, readonly string[]>> = {
  [PRODUCER_KEY]: ["approx-prefix-cache-producer", PRECISE_PRODUCER, BURST_PRODUCER],
  inFlightLoadProducerName: ["inflight-load-producer"],
  topologyProducerName: [TOPOLOGY_EXTRACTOR],
  producer: ["dcgm-extractor"],
};

const NONE: readonly never[] = [];

type Parameters = Readonly<Record<string, unknown>>;

/** The name of an entry's instance: one that becomes a plugin of another type can't keep the name of a type. */
export function instanceName(name: string, entries: readonly Entry[]): string {
  const entry = name === PREFIX_SCORER ? entryOf(name, PREFIX_SCORER, entries) : undefined;
  return entry !== undefined && burstOf(entry, entries) !== undefined ? BURST : name;
}

/**
 * An entry as an instance of ours, with the parameters that the reference writes into other entries. `hasPairs`: an endpoint for a prompt
 * is chosen when the one for its answer is known.
 */
export function specOf(
  entry: Entry,
  entries: readonly Entry[],
  hasPairs: boolean,
  resource: PickerResource,
): PluginSource["spec"] {
  const { type, parameters } = entry;
  const name = instanceName(entry.name, entries);
  // Its parameters are about the events, which `spec.kvEvents` follows.
  if (type === PRECISE_SCORER) return { name, type: PREFIX_SCORER, parameters: {} };
  if (parameters !== undefined && parameters !== null && !isMapping(parameters)) return { name, type, parameters };
  const given = ATTRIBUTE_TYPES.has(type) ? withAttribute(parameters ?? {}) : (parameters ?? {});
  checkProducers(entry, given, entries, resource);
  const burst = burstOf(entry, entries);
  if (burst !== undefined) return { name, type: BURST, parameters: { ...without(given, PRODUCER_KEY), ...ofBurst(burst) } };
  if (TOPOLOGY_TYPES.has(type))
    return { name, type, parameters: { ...ofTopology(given, entries), ...(hasPairs && { nearPeer: true }), ...given } };
  if (SOURCE_TYPES.has(type)) return { name, type, parameters: withPeriod(entry, given, resource) };
  return { name, type, parameters: given };
}

/** A parameter that names a producer must name one of the right type; only one scorer can read what the burst producer gives. */
function checkProducers(entry: Entry, given: Parameters, entries: readonly Entry[], { report }: PickerResource): void {
  for (const [key, types] of Object.entries(PRODUCERS)) {
    const name = given[key];
    if (typeof name !== "string" || name === "") continue;
    const { type } = referredTo(name, entries);
    const isBurst = type === BURST_PRODUCER && entry.type !== PREFIX_SCORER;
    if ((types.includes(type) && !isBurst) || REFUSED_TYPES.has(type)) continue;
    const names = () => [...entries.filter((each) => types.includes(each.type)).map((each) => each.name), ...types];
    report([...entry.path, "parameters", key], {
      found: isBurst ? `the ${BURST_PRODUCER} ${quoted(name)}` : quoted(name),
      wanted: `the name of a producer of the type ${types.filter((each) => !isBurst || each !== type).join(" or ")}`,
      hint: isBurst ? "Only prefix-cache-scorer reads what it gives." : () => didYouMean(name, names()),
    });
  }
}

/** An attribute may be written with its producer: "GPUUtilization/dcgm-extractor". */
function withAttribute(given: Parameters): Parameters {
  for (const key of ATTRIBUTE_KEYS) {
    const written = given[key];
    if (typeof written !== "string" || !written.includes("/") || given["producer"] !== undefined) continue;
    const at = written.indexOf("/");
    return { ...given, [key]: written.slice(0, at), producer: written.slice(at + 1) };
  }
  return given;
}

/** The burst producer that a scorer reads. */
function burstOf({ type, parameters }: Entry, entries: readonly Entry[]): Entry | undefined {
  if (type !== PREFIX_SCORER || !isMapping(parameters)) return undefined;
  return entryOf(parameters[PRODUCER_KEY], BURST_PRODUCER, entries);
}

/** A block of the reference is a number of tokens; ours grow. Bad parameters are reported where they stand. */
function ofBurst({ parameters }: Entry): Parameters {
  const { success, data } = burstParameters.safeParse(parameters ?? {});
  if (!success) return {};
  const { windowDurationMs, maxPerReplica, minColocateBlocks, blockSizeTokens } = data;
  return { windowMs: windowDurationMs, maxPerReplica, minSharedTokens: minColocateBlocks * blockSizeTokens };
}

/** The names of the labels; the reference says "hostname" where its levels say "host". */
function ofTopology(given: Parameters, entries: readonly Entry[]): Parameters {
  const named = given["topologyProducerName"] ?? TOPOLOGY_EXTRACTOR;
  const extractor = entryOf(named, TOPOLOGY_EXTRACTOR, entries);
  const { success, data } = topologyParameters.safeParse(extractor?.parameters ?? {});
  if (!success || extractor === undefined) return {};
  const { hostname, ...labels } = data;
  return { labels: { ...labels, ...(hostname !== undefined && { host: hostname }) } };
}

/** The data layer's period of a source, else that in its own parameters. The reference reads as often where nothing runs. */
function withPeriod({ name, type, path }: Entry, given: Parameters, { document, report }: PickerResource): Parameters {
  const listed = firstWith(name, document.dataLayer?.sources ?? NONE, ({ pluginRef }) => pluginRef);
  const written = listed?.interval ?? given["interval"];
  const rest = without(given, "interval");
  if (written === undefined) return rest;
  const { success, data, error } = interval.safeParse(written);
  if (!success) {
    report([...path, "parameters", "interval"], { found: describe(written), wanted: error.issues[0]!.message });
    return rest;
  }
  const periodMs = durationMs(data, 1)!;
  return { ...rest, periodMs, ...(type !== MODELS_SOURCE && { idlePeriodMs: periodMs }) };
}

function entryOf(name: unknown, type: string, entries: readonly Entry[]): Entry | undefined {
  const entry = typeof name === "string" ? entryNamed(name, entries) : undefined;
  return entry?.type === type ? entry : undefined;
}

function without(given: Parameters, key: string): Parameters {
  return Object.fromEntries(Object.entries(given).filter(([each]) => each !== key));
}
