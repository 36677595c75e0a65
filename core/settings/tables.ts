import { bytes, type ChoiceSetting, count, KIB, LONGEST_TIMER_MS, MIB, onOff, type Row, share, time } from "./row.ts";

// The settings that are numbers, switches and choices, but those of features, which are in their folders: the types, the defaults and
// the schema are made of these rows.

/** `spec.limits`. All limits are finite. `config/LIMITS.md` says what happens beyond each one, and why it has this value. */
export const LIMITS = {
  headBytes: bytes(32 * KIB, "Largest request head, all lines together.", KIB, MIB),
  headerCount: count(128, "Most header lines in a head.", 1, 10_000),
  bodyBytes: bytes(32 * MIB, "Largest request body.", 1, 1024 * MIB),
  memoryBytes: {
    ...bytes(
      0,
      "All request bodies under way and all unread responses together, 1 MiB at least; 0 for a quarter of the memory, at most 1 GiB.",
      0,
      1024 * 1024 * MIB,
    ),
    least: MIB,
  },
  bodyDepth: count(256, "Deepest nesting of a JSON body.", 1, 10_000),
  headTimeoutMs: time(20_000, "From the first byte of a request head to its last."),
  bodyTimeoutMs: time(60_000, "From the end of the head to the end of the body."),
  idleTimeoutMs: time(120_000, "How long a client connection may stay open without a request."),
  writeTimeoutMs: time(60_000, "How long a client may read nothing of a response."),
  connectTimeoutMs: time(1_000, "Opening a connection to a replica, TLS included."),
  responseTimeoutMs: time(600_000, "From the request's last byte sent to the response's head."),
  streamIdleTimeoutMs: time(600_000, "Longest silence inside a response."),
  upstreamIdleTimeoutMs: time(3_000, "How long an unused connection to a replica is kept."),
  upstreamConnections: count(4_096, "Connections to one replica at once.", 1, 65_535),
  clientConnections: count(16_384, "Client connections at once; some more wait for their turn, the others are closed."),
  perClientConnections: count(
    0,
    "Connections of one client address at once; those beyond it are closed at once. 0 turns it off.",
    0,
  ),
  perClientRequests: count(0, "Requests of one client address under way at once; those beyond it get 429. 0 turns it off.", 0),
  pluginMs: time(2, "Time that a filter, scorer or picker may take for one request.", 1, 60_000),
  featureWaitMs: time(30_000, "How long a request waits for a feature that is not one of the router's own."),
  stuckMs: time(
    30_000,
    "How long one call, such as of a plugin that never returns, may keep everything else from running before the process ends itself; 0 for ever. Time without a processor does not count.",
    0,
  ),
  retries: count(2, "Extra tries on other replicas after the first.", 0, 100),
  gatewayFallbacks: count(
    0,
    "`signalbox epp`: endpoints that a gateway is told of behind the first, for it to try in their order.",
    0,
    100,
  ),
  settleMs: time(0, "How long a stop still accepts connections while /ready says 503, so that load balancers notice.", 0),
  drainTimeoutMs: time(25_000, "How long a stop waits for requests under way.", 0),
};

/** `spec.retries`: what may be tried again, and how often. */
export const RETRIES = {
  stale: onOff(
    true,
    "One more try when a kept-alive connection ends before a byte of the response: on a fresh one to the same replica.",
  ),
  wedged: onOff(true, "A try on another replica for requests that were cut because theirs makes no progress."),
  budgetShare: share(0.2, "Tries on other replicas, as a share of the requests of the last ten seconds."),
  budgetLeast: count(3, "So many of them are allowed however few the requests are.", 0),
  backoffMs: time(25, "The pause before the first retry is a random part of this; 0 for none.", 0, 60_000),
};

/** `spec.responseHeaders`. */
export const RESPONSE_HEADERS = onOff(true, "Whether responses name the endpoint and the model that served.");

/** `spec.pool.adapters.unlisted`. */
export const UNLISTED: ChoiceSetting<"targets" | "any" | "none"> = {
  default: "targets",
  choices: ["targets", "any", "none"],
  text: "Which names replicas are asked for that they do not list, so that they load them: targets of rewrites (targets, the default), any name that clients ask for (any), or none.",
};

/** `spec.pool.adapters.byClients`. */
export const ADAPTERS_BY_CLIENTS = {
  ...onOff(
    true,
    "Whether clients may load and unload adapters at the router's own port (/v1/load_lora_adapter, /v1/unload_lora_adapter).",
  ),
  key: "byClients",
};

/** `spec.forwardedFor`. */
export const FORWARDED_FOR: ChoiceSetting<"append" | "replace" | "drop"> = {
  default: "replace",
  choices: ["append", "replace", "drop"],
  text: "X-Forwarded-For for replicas: the client's address only (replace, the default), the addresses that came with the request and then the client's (append, only where all clients are proxies that you trust), or none (drop).",
};

/** `spec.listen.tls.minVersion` and `spec.admin.tls.minVersion`. */
export const MIN_TLS_VERSION: ChoiceSetting<"TLSv1.2" | "TLSv1.3"> = {
  default: "TLSv1.2",
  choices: ["TLSv1.2", "TLSv1.3"],
  text: "The oldest version of TLS that is accepted: TLSv1.2 (the default) or TLSv1.3.",
};
/** Of `spec.listen`. */
export const DEFAULT_LISTEN = { host: "127.0.0.1", port: 8080, isPortShared: false };

/** The fields of a Kubernetes probe, besides its path. Each probe has defaults of its own. */
export const PROBE = {
  initialDelayMs: {
    key: "initialDelaySeconds",
    unit: "seconds",
    min: 0,
    max: LONGEST_TIMER_MS,
    text: "Wait before the first scheduled try.",
  },
  periodMs: { key: "periodSeconds", unit: "seconds", min: 1, max: LONGEST_TIMER_MS, text: "Time between tries." },
  timeoutMs: { key: "timeoutSeconds", unit: "seconds", min: 1, max: LONGEST_TIMER_MS, text: "How long one try may take." },
  failureThreshold: { unit: "count", min: 1, max: 1_000_000, text: "Failures in a row after which the probe counts as failed." },
} satisfies Readonly<Record<string, Row>>;
export const PROBE_DEFAULTS = {
  startup: { path: "/v1/models", initialDelayMs: 15_000, periodMs: 30_000, timeoutMs: 5_000, failureThreshold: 60 },
  liveness: { path: "/health", initialDelayMs: 0, periodMs: 10_000, timeoutMs: 5_000, failureThreshold: 3 },
  readiness: { path: "/v1/models", initialDelayMs: 0, periodMs: 5_000, timeoutMs: 2_000, failureThreshold: 3 },
};
