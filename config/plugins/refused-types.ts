type Grouped = readonly (readonly [instead: string, types: string])[];

/** Types of the reference router for which a section of a Router document stands, grouped by what to write there. */
const BY_SECTION: Grouped = [
  [
    "Use spec.kvEvents (docs/kv-events.md) and prefix-cache-scorer; in an EndpointPickerConfig it is read with its own name.",
    "precise-prefix-cache-scorer precise-prefix-cache-producer",
  ],
  [
    "Use spec.admission, and the parameters of fair-queue; in an EndpointPickerConfig it is read with its own name.",
    `global-strict-fairness-policy round-robin-fairness-policy program-aware-fairness fcfs-ordering-policy edf-ordering-policy
    slo-deadline-ordering-policy static-usage-limit-policy priority-holdback-policy soft-reflective-ceiling-policy`,
  ],
];

/** Types of the reference router without a counterpart here, grouped by what to do instead. */
const INSTEAD: Grouped = [
  [
    "Media are encoded where their prompt is processed: leave out the encode decider and its profile.",
    "always-disagg-multimodal-decider",
  ],
  ["Caches go from a prompt's endpoint to its answer's only: leave it out.", "p2p-source-producer topology-stamp-handler"],
  ["There is one profile for all requests: list one, and leave the handler out.", "header-profile-handler"],
  [
    "The default policy does as well without predicted latencies: leave it out, or load examples/latency-predictor/ with from.",
    "latency-scorer predicted-latency-producer slo-headroom-tier-filter latency-slo-admitter",
  ],
  [
    "Media are hashed as part of the prompt here: use prefix-cache-scorer.",
    "mm-embeddings-cache-scorer mm-embeddings-cache-producer",
  ],
  [
    "Use spec.admission: requests below priority 0 are the first to wait and to be sent away; tenantHeaders names who they belong to.",
    "sheddable-eviction-filter eviction-priority-then-time-ordering probabilistic-admitter agent-identity thunder-agent",
  ],
  ["Sessions are identified by a header here: use session-affinity-scorer or session-affinity-filter.", "session-id-producer"],
  [
    "Use labels: label-selector-filter, by-label.",
    "header-label-affinity header-label-affinity-scorer header-based-testing-filter",
  ],
  [
    "Ranks with ports of their own are endpoints of their own here (ports of an endpoint); those behind one port share the work themselves.",
    "dp-rank-header-handler",
  ],
  ["Use utilization-detector, which is a filter too.", "utilization-filter"],
  [
    "One router has the replicas of one cluster: run one in each, and name their URLs as endpoints of another.",
    `multicluster-file-discovery multicluster-metrics-data-source multicluster-metrics-extractor multicluster-queue-scorer
    multicluster-kv-cache-utilization-scorer multicluster-prefix-cache-scorer multicluster-approx-prefix-cache-producer
    multicluster-session-affinity-filter multicluster-topology-scorer`,
  ],
  ["No cluster is watched here: list the replicas, or use file-discovery.", "k8s-notification-source"],
  [
    "The access log and the response header x-signalbox-endpoint show it.",
    "request-attribute-reporter destination-endpoint-served-verifier",
  ],
  [
    "Only HTTP APIs are read: use openai-parser, anthropic-parser, vllmhttp-parser, or passthrough-parser.",
    "vllmgrpc-parser vertexai-parser sglanghttp-parser",
  ],
];

const byType = (groups: Grouped) =>
  new Map(groups.flatMap(([instead, types]) => types.split(/\s+/).map((type) => [type, instead] as const)));

/** Those that only an EndpointPickerConfig has as plugins. */
export const SECTION_TYPES: ReadonlyMap<string, string> = byType(BY_SECTION);

/** All types of the reference router that are no plugins of a Router document, with what to do instead. */
export const REFUSED_TYPES: ReadonlyMap<string, string> = new Map([...SECTION_TYPES, ...byType(INSTEAD)]);
