import type { OptionSchema, SchemaIssue } from "../core/contract/options.ts";
import type { Definition } from "../core/contract/plugin.ts";

/** Our plugin for a plugin name of the reference router (llm-d). */
interface ReferenceName {
  /** Our type that does the same job. */
  readonly type: string;
  /** Parameters of the reference that are accepted and have no effect, because we build that part differently. */
  readonly unneeded?: readonly string[];
  /** Parameters that can't be supported, and what to do instead; `false` is no request for one. */
  readonly refused?: Readonly<Record<string, string>>;
  /** Fixed values of our parameters; the reference's type then has no parameters. */
  readonly preset?: Readonly<Record<string, unknown>>;
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

const CHECKED_TLS = { insecureSkipVerify: "no insecureSkipVerify: certificates are checked here as they are for requests" };

const FROM_URL: Readonly<Record<string, string>> = { scheme: "no scheme: it is that of each endpoint's url", ...CHECKED_TLS };

const FROM_ENDPOINT = "endpoint, or leave it out: no other proxy hands values to this one";

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
      source: FROM_ENDPOINT,
      metadataNamespace: `nothing here: source is ${FROM_ENDPOINT}`,
      metadataField: `nothing here: source is ${FROM_ENDPOINT}`,
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
  "metrics-data-source": { type: "metrics", refused: FROM_URL },
  "dcgm-data-source": {
    type: "dcgm",
    refused: { ...CHECKED_TLS, useNodeAddress: "no useNodeAddress: addressLabel names a label with the exporter's address" },
  },
  "models-data-source": { type: "model-list", refused: { ...FROM_URL, path: "no path: it is /v1/models" } },
};

/** Our definitions under the reference's names; they make the same plugins. */
export function referenceDefinitions(own: ReadonlyMap<string, Definition>): readonly (readonly [string, Definition])[] {
  return Object.entries(REFERENCE_NAMES).map(([name, reference]) => {
    const definition = own.get(reference.type);
    if (definition === undefined) throw new Error(`There is no plugin type "${reference.type}" for "${name}" to stand for`);
    const ignores = reference.unneeded?.filter((key) => !NAMES_OF_PRODUCERS.has(key)) ?? [];
    return [name, { ...definition, options: referenceOptions(definition.options, reference), ignores }];
  });
}

/** How Zod gives a schema's JSON Schema; `config/read/json-schema.ts` reads it for editors and for the keys in messages. */
interface Described {
  readonly jsonSchema?: { readonly input: (options: { target: string }) => Readonly<Record<string, unknown>> };
}

function referenceOptions(own: OptionSchema<unknown>, reference: ReferenceName): OptionSchema<unknown> {
  const { unneeded = [], refused = {}, preset } = reference;
  if (unneeded.length === 0 && Object.keys(refused).length === 0 && preset === undefined) return own;
  const { validate } = own["~standard"];
  const described = (own["~standard"] as Described).jsonSchema;
  const jsonSchema = described && {
    input(options: { target: string }) {
      const schema = preset === undefined ? described.input(options) : { type: "object", additionalProperties: false };
      const known = (schema["properties"] ?? {}) as Readonly<Record<string, unknown>>;
      return { ...schema, properties: { ...known, ...Object.fromEntries(unneeded.map((key) => [key, {}])) } };
    },
  };
  return {
    "~standard": {
      version: 1,
      vendor: "signalbox",
      validate(value) {
        if (typeof value !== "object" || value === null || Array.isArray(value)) return validate(value);
        const isNothing = ([key, each]: readonly [string, unknown]) =>
          unneeded.includes(key) || (each === false && Object.hasOwn(refused, key));
        const given = Object.entries(value as Readonly<Record<string, unknown>>).filter((entry) => !isNothing(entry));
        const issues = refusals(given, refused, preset !== undefined);
        if (issues.length > 0) return { issues };
        return validate(preset ?? Object.fromEntries(given));
      },
      ...(jsonSchema && { jsonSchema }),
    },
  };
}

/** Problems with the reference's parameters, found before our own schema checks the rest. */
function refusals(
  given: readonly (readonly [string, unknown])[],
  refused: Readonly<Record<string, string>>,
  takesNone: boolean,
): readonly SchemaIssue[] {
  const named = given.flatMap(([key]) => (Object.hasOwn(refused, key) ? [{ message: refused[key]!, path: [key] }] : []));
  if (!takesNone || given.length === 0) return named;
  const unknown = { message: "Unrecognized keys", path: [], code: "unrecognized_keys", keys: given.map(([key]) => key) };
  return [...named, unknown];
}
