/** A type of the reference that needs no plugin here, because the router itself does its job. */
export interface BuiltInJob {
  readonly role: "profile handler" | "producer" | "source" | "extractor" | "responder";
  /** Parameters that are accepted and ignored, because they only describe the reference's implementation. */
  readonly parameters?: readonly string[];
  /** Unsupported parameters, with what to do instead. */
  readonly refused?: Readonly<Record<string, string>>;
}

const NO_TOKENIZER = "nothing here: prompts are hashed as bytes, so no tokenizer is asked";

export const BUILT_IN_JOBS: Readonly<Record<string, BuiltInJob>> = {
  "single-profile-handler": { role: "profile handler" },
  "approx-prefix-cache-producer": {
    role: "producer",
    parameters: ["autoTune", "blockSizeTokens", "maxPrefixBlocksToMatch", "maxPrefixTokensToMatch", "lruCapacityPerServer"],
  },
  "token-producer": {
    role: "producer",
    parameters: ["modelName", "estimate"],
    refused: { vllm: NO_TOKENIZER, udsTokenizer: NO_TOKENIZER, udsTokenizerConfig: NO_TOKENIZER },
  },
  "inflight-load-producer": {
    role: "producer",
    parameters: ["prefixMatchInfoProducerName"],
    refused: { addEstimatedOutputTokens: "nothing here: only prompt tokens count, until the first byte of the response" },
  },
  "endpoint-notification-source": { role: "source" },
  "core-metrics-extractor": {
    role: "extractor",
    refused: { engineConfigs: "nothing here: the series of every engine are known; a metrics source's `engine` narrows them" },
  },
  "models-data-extractor": { role: "extractor" },
  "models-responder": { role: "responder" },
};

export const SOURCE_TYPES: ReadonlySet<string> = new Set(["metrics-data-source", "models-data-source"]);
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

const NO_PEERS = "Routers do not share state here: leave it out.";

const refusing = (reason: string, keys: string) => Object.fromEntries(keys.split(/\s+/).map((key) => [key, reason]));

/** Unsupported keys of a section, with what to do instead. */
export const REFUSED_KEYS = {
  dataLayer: refusing(NO_PEERS, "peerDiscovery crossReplicaSyncerPluginRef crossReplicaSyncInterval"),
};

export const REFUSED_PARSER_PARAMETERS: Readonly<Record<string, string>> = {
  propagatePriority: "nothing here: of a body, only the model is changed",
};
