import { z } from "../../core/contract/options.ts";
import type { EntryEffect } from "../router/read.ts";
import { durationMs } from "../schema/units.ts";

/** What to do instead of a parameter, unless its value asks for nothing else than what is so here. Without `agrees`, false does. */
export interface RefusedValue {
  readonly why: string;
  readonly agrees?: (value: unknown) => boolean;
}

/** Names of engines in the reference whose series are known here. */
const KNOWN_ENGINES = ["", "vllm", "sglang", "trtllm-serve", "triton-tensorrt-llm", "triton"];

/** A type of the reference that needs no plugin here, because the router itself does its job. */
export interface BuiltInJob extends EntryEffect {
  readonly role: "profile handler" | "decider" | "header handler" | "producer" | "source" | "extractor" | "responder";
  /** Parameters that are accepted and ignored, because they only describe the reference's implementation. */
  readonly parameters?: readonly string[];
  /** Parameters of which some values are unsupported. */
  readonly refused?: Readonly<Record<string, RefusedValue>>;
  /** Checks all parameters, where their values mean something. */
  readonly schema?: z.ZodType;
}

export const BURST_PRODUCER = "burst-prefix-cache-producer";
export const TOPOLOGY_EXTRACTOR = "topology-extractor";

const count = z.int().max(1_000_000);

/** The reference's parameters of that type, with its defaults. */
export const burstParameters = z.strictObject({
  windowDurationMs: z.int().min(1).max(60_000).default(100),
  maxPerReplica: count
    .min(-1)
    .refine((most) => most !== 0, "-1 for all, or at least 1")
    .default(-1),
  blockSizeTokens: count.min(1).default(64),
  minColocateBlocks: z.int().min(0).max(100_000).default(0),
  maxPrefixTokensToMatch: z.int().min(0).default(0),
  maxBatchSize: count
    .min(-1)
    .refine((most) => most !== 0, "-1 for any, or at least 1")
    .default(-1),
});

const label = z.string().min(1).exactOptional();

/** Names of labels. */
export const topologyParameters = z.strictObject({ hostname: label, rack: label, zone: label, region: label });

const primaryPort = z.int().min(0).max(65_535).exactOptional();

/** How often a source is read. */
export const interval = z.string().refine((text) => {
  const ms = durationMs(text, Number.NaN) ?? Number.NaN;
  return ms >= 50 && ms <= 3_600_000;
}, "a time from 50ms to 1h, such as 1s");

export const BUILT_IN_JOBS: Readonly<Record<string, BuiltInJob>> = {
  "single-profile-handler": { role: "profile handler", effect: "taken over", why: "each request is decided by the one profile" },
  "data-parallel-profile-handler": {
    role: "profile handler",
    effect: "changed",
    why: "each rank is an endpoint of its own, and gets its requests at its own port instead of the primary one",
    schema: z.strictObject({ primaryPort }),
  },
  "approx-prefix-cache-producer": {
    role: "producer",
    effect: "changed",
    why: "the router's prefix index has the size of each replica's cache",
    parameters: ["autoTune", "blockSizeTokens", "maxPrefixBlocksToMatch", "maxPrefixTokensToMatch", "lruCapacityPerServer"],
    refused: { prefixHashSource: { why: "nothing here: the router hashes the prompts itself" } },
  },
  [BURST_PRODUCER]: {
    role: "producer",
    effect: "changed",
    why: "no request waits for the window to end; each goes at once to where its group is (burst-prefix)",
    schema: burstParameters,
  },
  "token-producer": {
    role: "producer",
    effect: "no meaning here",
    why: "prompts are hashed as bytes; with spec.kvEvents a replica is asked for a prompt's tokens, and no tokenizer beside it",
    parameters: ["modelName", "estimate", "vllm", "udsTokenizer", "udsTokenizerConfig"],
  },
  "inflight-load-producer": {
    role: "producer",
    effect: "taken over",
    why: "the router counts what it has sent",
    parameters: ["prefixMatchInfoProducerName"],
    refused: {
      addEstimatedOutputTokens: { why: "nothing here: only prompt tokens count, until the first byte of the response" },
    },
  },
  "endpoint-notification-source": {
    role: "source",
    effect: "taken over",
    why: "the router knows of endpoints that come and go from its discovery",
  },
  "core-metrics-extractor": {
    role: "extractor",
    effect: "taken over",
    why: "the metrics source knows the series of every engine",
    parameters: ["engineLabelKey"],
    refused: {
      defaultEngine: {
        why: `one of ${KNOWN_ENGINES.filter(Boolean).join(", ")}: the series of others are not known here`,
        agrees: (value) => typeof value === "string" && KNOWN_ENGINES.includes(value),
      },
      engineConfigs: {
        why: "nothing here: the series of every engine are known; a metrics source's `engine` narrows them",
        agrees: (value) => Array.isArray(value) && value.length === 0,
      },
    },
  },
  "models-data-extractor": { role: "extractor", effect: "taken over", why: "the models source reads the list itself" },
  "dcgm-extractor": { role: "extractor", effect: "taken over", why: "the dcgm source reads GPUUtilization itself" },
  [TOPOLOGY_EXTRACTOR]: {
    role: "extractor",
    effect: "taken over",
    why: "topology plugins read the labels themselves",
    schema: topologyParameters,
  },
  "models-responder": { role: "responder", effect: "taken over", why: "the router answers GET /v1/models" },
};

export const SOURCE_TYPES: ReadonlySet<string> = new Set(["metrics-data-source", "models-data-source", "dcgm-data-source"]);
export const METRICS_SOURCE = "metrics-data-source";
export const FILE_DISCOVERY = "file-discovery";
export const UTILIZATION_DETECTOR = "utilization-detector";
export const CONCURRENCY_DETECTOR = "concurrency-detector";
export const DETECTOR_TYPES: ReadonlySet<string> = new Set([UTILIZATION_DETECTOR, CONCURRENCY_DETECTOR]);
export const PASSTHROUGH_PARSER = "passthrough-parser";

/** Parsers of the reference and our equivalents. */
export const PARSER_TYPES: Readonly<Record<string, readonly string[]>> = {
  "openai-parser": ["completions", "chat-completions", "responses", "embeddings"],
  "anthropic-parser": ["messages"],
  "vllmhttp-parser": ["generate"],
  [PASSTHROUGH_PARSER]: [],
};

/** Inference paths of model servers. The passthrough parser forwards those whose own parser is not chosen. */
export const PATHS_BY_PARSER: Readonly<Record<string, readonly string[]>> = {
  completions: ["/v1/completions"],
  "chat-completions": ["/v1/chat/completions"],
  responses: ["/v1/responses"],
  embeddings: ["/v1/embeddings"],
  messages: ["/v1/messages", "/v1/messages/count_tokens"],
  generate: ["/inference/v1/generate"],
};
export const OTHER_PATHS: readonly string[] = [
  ...["/tokenize", "/detokenize", "/pooling", "/classify", "/score", "/v1/score", "/rerank", "/v1/rerank", "/v2/rerank"],
  ...["/v1/audio/transcriptions", "/v1/audio/translations", "/generate"],
];

/** Scorers of a config that lists neither profiles nor scorers. */
export const DEFAULT_SCORERS: readonly (readonly [type: string, weight: number])[] = [
  ["queue-scorer", 2],
  ["kv-cache-utilization-scorer", 2],
  ["prefix-cache-scorer", 3],
];

/** Policies of flow control, by what they decide: what each one means to fair-queue. */
export const FLOW_POLICIES: Readonly<Record<"fairness" | "ordering" | "ceiling", Readonly<Record<string, string>>>> = {
  fairness: {
    "global-strict-fairness-policy": "none",
    "round-robin-fairness-policy": "requests",
    "program-aware-fairness": "tokens",
  },
  ordering: {
    "fcfs-ordering-policy": "arrival",
    // Each request may wait as long, so who came first has the first deadline.
    "edf-ordering-policy": "arrival",
    "slo-deadline-ordering-policy": "deadline",
  },
  ceiling: {
    "static-usage-limit-policy": "static",
    "priority-holdback-policy": "holdback",
    "soft-reflective-ceiling-policy": "reflective",
  },
};

/** Feature gates: those features are always on here, or always off. */
export const FEATURE_GATES: Readonly<Record<string, { readonly is: "on" | "either"; readonly why: string }>> = {
  dataLayer: { is: "on", why: "Replicas are always probed here; dataLayer.injectDefaults: false leaves out their metrics." },
  prepareDataPlugins: { is: "on", why: "Data for plugins is always prepared here." },
  flowControl: { is: "either", why: "" },
};

const PEERS = "Routers tell each other by spec.shared of a Router document (docs/several-routers.md): leave it out here.";

const refusing = (reason: string, keys: string) => Object.fromEntries(keys.split(/\s+/).map((key) => [key, reason]));

/** Unsupported keys of a section, with what to do instead. */
export const REFUSED_KEYS = {
  dataLayer: refusing(PEERS, "peerDiscovery crossReplicaSyncerPluginRef crossReplicaSyncInterval"),
};

export const REFUSED_PARSER_PARAMETERS: Readonly<Record<string, RefusedValue>> = {
  propagatePriority: { why: "nothing here: spec.admission.enginePriority writes priorities into bodies" },
};
