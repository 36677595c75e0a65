import type { OptionSchema, SchemaIssue } from "../core/contract/options.ts";
import type { Definition } from "../core/contract/plugin.ts";

/** Our plugin for a plugin name of the reference router (llm-d). */
interface ReferenceName {
  /** Our type that does the same job. */
  readonly type: string;
  /** Parameters of the reference that are accepted and have no effect, because we build that part differently. */
  readonly unneeded?: readonly string[];
  /** Parameters of which some values can't be supported. Other values are accepted and change nothing. */
  readonly refused?: Readonly<Record<string, Refusal>>;
  /** Parameters that are ours under another name, beside those of the same name: they are taken unless they change nothing. */
  readonly renamed?: Readonly<Record<string, Renamed>>;
  /** Values that say nothing here, although others of the same parameter do. */
  readonly unsaid?: Readonly<Record<string, Refusal["agrees"]>>;
  /** Fixed values of our parameters; the reference's type then has no parameters. */
  readonly preset?: Readonly<Record<string, unknown>>;
}

type Given = Readonly<Record<string, unknown>>;

/** What to do instead of a parameter, unless its value says what is so here, or changes nothing beside the others. */
export interface Refusal {
  readonly why: string;
  agrees(value: unknown, given: Given): boolean;
}

/** Where it is in ours, and which values change nothing. */
interface Renamed {
  readonly to: readonly [section: string, key: string];
  isIdle(value: unknown, given: Given): boolean;
}

const ROLE_LABEL = "llm-d.ai/role";

const role = (validValues: readonly string[], allowsNoLabel = false): ReferenceName => ({
  type: "by-label",
  preset: { label: ROLE_LABEL, validValues, allowsNoLabel },
});

/** Our pickers always order all candidates; `limits.retries` says how many of them are tried. */
const picker = (type: string): ReferenceName => ({ type, unneeded: ["maxNumOfEndpoints"] });

/** Names of data producers. A router has one prefix index and one load table, so they need no name. */
const PRODUCER_NAMES = ["prefixMatchInfoProducerName", "inFlightLoadProducerName"];

/** They say where the reference gets a number from; a router merges what all its sources give. */
const NAMES_OF_PRODUCERS: ReadonlySet<string> = new Set([...PRODUCER_NAMES, "producer", "topologyProducerName"]);

/** Sizes of the reference's index; ours has the size of each replica's KV cache. */
const INDEX_SIZES = "autoTune blockSize blockSizeTokens maxPrefixBlocksToMatch maxPrefixTokensToMatch lruCapacityPerServer".split(
  " ",
);

/** `false`, null and an empty text ask for nothing. */
const isNothing = (value: unknown) => value === false || value === null || value === "";
/** Without TLS, it does not matter how certificates are checked. */
const isPlain = (value: unknown, { scheme }: Given) => isNothing(value) || scheme === undefined || scheme === "http";

const ofPool = (key: string): Refusal => ({
  why: `no such key at https: the router speaks to replicas as spec.pool.tls says, which has ${key}`,
  agrees: isPlain,
});

const OF_POOL: Readonly<Record<string, Refusal>> = {
  insecureSkipVerify: ofPool("insecure"),
  caCertPath: ofPool("caFile"),
  clientCertPath: ofPool("certFile"),
  clientKeyPath: ofPool("keyFile"),
};

/** Of a source with TLS settings of its own. */
const TLS_NAMES: Readonly<Record<string, Renamed>> = Object.fromEntries(
  Object.entries({
    insecureSkipVerify: "insecure",
    caCertPath: "caFile",
    clientCertPath: "certFile",
    clientKeyPath: "keyFile",
  }).map(([name, key]) => [name, { to: ["tls", key], isIdle: isPlain }]),
);

const FROM_ENDPOINT = "endpoint, or leave it out: no other proxy hands values to this one";
const isOfEndpoint = (_value: unknown, { source }: Given) => source === undefined || source === "endpoint";
const ofMetadata: Refusal = { why: `nothing here: source is ${FROM_ENDPOINT}`, agrees: isOfEndpoint };

/** By the reference's name. Types with the same name in both (session-affinity-scorer, context-length-aware …) are not listed. */
export const REFERENCE_NAMES: Readonly<Record<string, ReferenceName>> = {
  "queue-scorer": { type: "queue" },
  "running-requests-size-scorer": { type: "running" },
  "kv-cache-utilization-scorer": { type: "kv-cache-utilization" },
  "load-aware-scorer": { type: "load-aware" },
  "active-request-scorer": { type: "active-request", unneeded: ["requestTimeout"] },
  "token-load-scorer": { type: "token-load", unneeded: PRODUCER_NAMES },
  "lora-affinity-scorer": { type: "lora-affinity" },
  "prefix-cache-scorer": { type: "prefix-cache", unneeded: [...PRODUCER_NAMES, ...INDEX_SIZES] },
  "no-hit-lru-scorer": { type: "no-hit-lru", unneeded: [...PRODUCER_NAMES, "prefixPluginType", "prefixPluginName"] },
  "label-selector-filter": { type: "label-selector" },
  "by-label-selector": { type: "label-selector" },
  "decode-filter": role(["decode", "prefill-decode", "both", "encode-prefill-decode"], true),
  "prefill-filter": role(["prefill", "encode-prefill", "prefill-decode", "both", "encode-prefill-decode"]),
  "encode-filter": role(["encode", "encode-prefill", "encode-prefill-decode"]),
  "endpoint-attribute-filter": { type: "attribute-filter", unneeded: ["producer"] },
  "endpoint-attribute-scorer": {
    type: "attribute-scorer",
    unneeded: ["producer"],
    refused: {
      source: { why: FROM_ENDPOINT, agrees: isOfEndpoint },
      metadataNamespace: ofMetadata,
      metadataField: ofMetadata,
    },
  },
  "topology-affinity-filter": { type: "topology-filter", unneeded: ["topologyProducerName"] },
  "topology-affinity-scorer": { type: "topology-scorer", unneeded: ["topologyProducerName"] },
  "prefix-cache-affinity-filter": { type: "prefix-cache-affinity", unneeded: PRODUCER_NAMES },
  "utilization-detector": { type: "utilization", unneeded: ["metricsStalenessThreshold"] },
  "concurrency-detector": { type: "concurrency" },
  "max-score-picker": picker("max-score"),
  "random-picker": picker("random"),
  "weighted-random-picker": picker("weighted-random"),
  // Only the series that count are read of a text, whatever "families" says.
  "metrics-data-source": {
    type: "metrics",
    unneeded: ["families"],
    renamed: TLS_NAMES,
    unsaid: {
      port: (value) => value === 0 || isNothing(value),
      // At the endpoint's own port it is the scheme of its url; with listed endpoints, that is compared where they are read.
      scheme: (value, { port }) => !port && (value === "http" || value === "https" || isNothing(value)),
    },
  },
  "dcgm-data-source": {
    type: "dcgm",
    renamed: TLS_NAMES,
    refused: {
      useNodeAddress: {
        why: "no useNodeAddress: addressLabel names a label with the exporter's address",
        agrees: (value, { addressLabel }) => isNothing(value) || typeof addressLabel === "string",
      },
    },
  },
  "models-data-source": {
    type: "model-list",
    unneeded: ["scheme"],
    refused: {
      ...OF_POOL,
      path: { why: "no path: it is /v1/models", agrees: (value) => isNothing(value) || value === "/v1/models" },
    },
  },
};

/** Our definitions under the reference's names; they make the same plugins. */
export function referenceDefinitions(own: ReadonlyMap<string, Definition>): readonly (readonly [string, Definition])[] {
  return Object.entries(REFERENCE_NAMES).map(([name, reference]) => {
    const definition = own.get(reference.type);
    if (definition === undefined) throw new Error(`There is no plugin type "${reference.type}" for "${name}" to stand for`);
    const { unneeded = [], refused = {}, renamed = {}, unsaid = {} } = reference;
    const valueless = [...Object.keys(refused), ...Object.keys(renamed), ...Object.keys(unsaid)];
    const ignores = [...unneeded.filter((key) => !NAMES_OF_PRODUCERS.has(key)), ...valueless];
    return [name, { ...definition, options: referenceOptions(definition.options, reference), ignores }];
  });
}

/** How Zod gives a schema's JSON Schema; `config/read/json-schema.ts` reads it for editors and for the keys in messages. */
interface Described {
  readonly jsonSchema?: { readonly input: (options: { target: string }) => Readonly<Record<string, unknown>> };
}

function referenceOptions(own: OptionSchema<unknown>, reference: ReferenceName): OptionSchema<unknown> {
  const { unneeded = [], refused = {}, renamed = {}, unsaid = {}, preset } = reference;
  const keys = [...unneeded, ...Object.keys(refused), ...Object.keys(renamed)];
  if (keys.length === 0 && preset === undefined) return own;
  const { validate } = own["~standard"];
  const described = (own["~standard"] as Described).jsonSchema;
  const jsonSchema = described && {
    input(options: { target: string }) {
      const schema = preset === undefined ? described.input(options) : { type: "object", additionalProperties: false };
      const known = (schema["properties"] ?? {}) as Readonly<Record<string, unknown>>;
      return {
        ...schema,
        properties: { ...known, ...Object.fromEntries([...unneeded, ...Object.keys(renamed)].map((key) => [key, {}])) },
      };
    },
  };
  return {
    "~standard": {
      version: 1,
      vendor: "signalbox",
      validate(value) {
        if (typeof value !== "object" || value === null || Array.isArray(value)) return validate(value);
        const all = value as Given;
        const isIgnored = ([key, each]: readonly [string, unknown]) =>
          unneeded.includes(key) ||
          (Object.hasOwn(unsaid, key) && unsaid[key]!(each, all)) ||
          (Object.hasOwn(renamed, key) && renamed[key]!.isIdle(each, all)) ||
          (Object.hasOwn(refused, key) && refused[key]!.agrees(each, all));
        const given = Object.entries(all).filter((entry) => !isIgnored(entry));
        const issues = refusals(given, refused, preset !== undefined);
        const taken = given.filter(([key]) => !Object.hasOwn(refused, key));
        const checked = validate(preset ?? inOurs(taken, renamed));
        if (checked instanceof Promise || (issues.length === 0 && checked.issues === undefined)) return checked;
        return { issues: [...issues, ...(checked.issues ?? []).map((issue) => inReference(issue, renamed))] };
      },
      ...(jsonSchema && { jsonSchema }),
    },
  };
}

type Renames = Readonly<Record<string, Renamed>>;

/** Parameters by our names. */
function inOurs(given: readonly (readonly [string, unknown])[], renamed: Renames): Given {
  const ours: Record<string, unknown> = {};
  for (const [key, value] of given) {
    const [section, name] = Object.hasOwn(renamed, key) ? renamed[key]!.to : [key];
    ours[section] = name === undefined ? value : { ...(ours[section] as Given), [name]: value };
  }
  return ours;
}

/** A problem at the parameter as it was written. */
function inReference(issue: SchemaIssue, renamed: Renames): SchemaIssue {
  const path = issue.path?.join(".");
  const [written] = Object.entries(renamed).find(([, { to }]) => to.join(".") === path) ?? [];
  return written === undefined ? issue : { ...issue, path: [written] };
}

/** Problems with the reference's parameters, found before our own schema checks the rest. */
function refusals(
  given: readonly (readonly [string, unknown])[],
  refused: Readonly<Record<string, Refusal>>,
  takesNone: boolean,
): readonly SchemaIssue[] {
  const named = given.flatMap(([key]) => (Object.hasOwn(refused, key) ? [{ message: refused[key]!.why, path: [key] }] : []));
  if (!takesNone || given.length === 0) return named;
  const unknown = { message: "Unrecognized keys", path: [], code: "unrecognized_keys", keys: given.map(([key]) => key) };
  return [...named, unknown];
}
