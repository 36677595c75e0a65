import type { Secret } from "./contract/secret.ts";

/** What the config sets besides plugins and endpoints. All limits are finite; times are in milliseconds, sizes in bytes. */
export interface Settings {
  readonly limits: Limits;
  readonly ejection: EjectionSettings;
  readonly retries: RetrySettings;
  /** Which names may be sent to replicas that do not list them: the config's targets, any name that clients ask for, or none. */
  readonly unlisted: "targets" | "any" | "none";
  /** Undefined: nothing is sent into silent streams. */
  readonly keepAlive: KeepAliveSettings | undefined;
  /** What replicas are told of a request's addresses: the peer's behind those that came, the peer's alone, or nothing. */
  readonly forwardedFor: "append" | "replace" | "drop";
  /** Undefined: replicas get the keys that came with the requests. */
  readonly credentials: CredentialSettings | undefined;
  /** Undefined: web pages of other origins can't read responses. */
  readonly cors: CorsSettings | undefined;
  /** Whether responses have the headers x-signalbox-endpoint and x-signalbox-model. */
  readonly hasRoutingHeaders: boolean;
  /** Empty for most configs. */
  readonly mirrors: readonly MirrorSettings[];
}

/** A share of a rule's requests is also sent to a target whose responses are thrown away. */
export interface MirrorSettings {
  /** Name of the rewrite rule. */
  readonly rule: string;
  /** The model name that copies are sent with. */
  readonly target: string;
  /** Of the rule's requests, how many are copied: above 0, at most 100. */
  readonly percent: number;
  /** Most copies under way at the same time. */
  readonly maxInFlight: number;
  /** How long one copy may take. */
  readonly timeoutMs: number;
}

export const DEFAULT_MIRROR: Pick<MirrorSettings, "percent" | "maxInFlight" | "timeoutMs"> = {
  percent: 100,
  maxInFlight: 16,
  timeoutMs: 60_000,
};

/** How endpoints leave the pool for what their responses are, and return. */
export interface EjectionSettings {
  /** False turns all of it off. */
  readonly isOn: boolean;
  /** How long the first ejection lasts; each further one twice as long, up to `maxMs`. */
  readonly baseMs: number;
  readonly maxMs: number;
  /** Of the endpoints that are up, the largest share that may be out at once. */
  readonly maxShare: number;
  /** Prompt tokens that an endpoint serves until it has its whole share again. */
  readonly warmUpTokens: number;
  /** Whether requests that wait without a byte on an endpoint that makes no progress are cut. */
  readonly cutWaiting: boolean;
}

/** What is sent to clients while a replica is silent. */
export interface KeepAliveSettings {
  /** Silence between two events of a stream, after which the client gets a comment or a ping. */
  readonly periodMs: number;
  /** Paths whose streams get them. */
  readonly paths: readonly string[];
}

/** Who shows a key to replicas: the router its own, or clients theirs. */
export interface CredentialSettings {
  /** The key for replicas that have none of their own. */
  readonly ofPool: Secret | undefined;
  /** Keys of single endpoints, by their names. */
  readonly ofEndpoint: ReadonlyMap<string, Secret>;
  /** Whether a client's own key goes to replicas for which the router has none. */
  readonly isForwarded: boolean;
}

/** Which web pages may read responses. */
export interface CorsSettings {
  /** As browsers write them, such as "https://chat.example"; undefined for pages of every origin. */
  readonly origins: ReadonlySet<string> | undefined;
  /** Request headers that pages may send; undefined for all that they ask for. */
  readonly headers: readonly string[] | undefined;
  /** How long a browser may keep the answer to a preflight. */
  readonly maxAgeS: number;
}

export const DEFAULT_CORS_MAX_AGE_S = 600;

/** What may be tried again, and how often. */
export interface RetrySettings {
  /** A fresh try on the same replica when a kept-alive connection ends before a byte of the response. */
  readonly stale: boolean;
  /** A try on another replica when a request was cut because its replica makes no progress, where the API's requests are repeatable. */
  readonly wedged: boolean;
  /** Tries on other replicas, all requests together: this share of the requests of the last ten seconds … */
  readonly budgetShare: number;
  /** … and at least so many. */
  readonly budgetLeast: number;
  /** The pause before the first retry is a random part of this; it doubles with each. 0 for none. */
  readonly backoffMs: number;
}

export interface Limits {
  /** Largest request head, all lines together. */
  readonly headBytes: number;
  readonly headerCount: number;
  /** Largest request body. */
  readonly bodyBytes: number;
  /** For all request bodies under way and all unread responses together; 0 for a share of the memory there is. */
  readonly memoryBytes: number;
  /** Deepest nesting of a JSON body. */
  readonly bodyDepth: number;
  /** From the first byte of a request head (or the start of a new connection) to its last byte. */
  readonly headTimeoutMs: number;
  /** From the end of the head to the end of the body. */
  readonly bodyTimeoutMs: number;
  /** How long a client connection may stay open without a request under way. */
  readonly idleTimeoutMs: number;
  /** How long a client may take no bytes while there are some for it. */
  readonly writeTimeoutMs: number;
  /** For opening a connection to a replica, TLS included. */
  readonly connectTimeoutMs: number;
  /** From the last byte of the request to the response's head. */
  readonly responseTimeoutMs: number;
  /** Longest time without a byte inside a response. */
  readonly streamIdleTimeoutMs: number;
  /** How long a pooled connection to a replica may be idle; less than the 5 s after which replicas close it. */
  readonly upstreamIdleTimeoutMs: number;
  /** Most connections to one replica at the same time. */
  readonly upstreamConnections: number;
  /** Most client connections at the same time, bounded by the file descriptors; some further ones wait, the others are closed. */
  readonly clientConnections: number;
  /** Most connections of one client address; 0 for no bound of its own. */
  readonly perClientConnections: number;
  /** Most requests under way of one client address; 0 for no bound of its own. */
  readonly perClientRequests: number;
  /** Time that a filter, scorer or picker may take for one request. */
  readonly pluginMs: number;
  /** Most further tries after the first. */
  readonly retries: number;
  /** How long a stop still serves everything, while /ready says 503 already. */
  readonly settleMs: number;
  /** How long a stop waits for requests under way, after the settle time. */
  readonly drainTimeoutMs: number;
}

export const DEFAULT_LIMITS: Limits = {
  headBytes: 32 * 1024,
  headerCount: 128,
  bodyBytes: 32 * 1024 * 1024,
  memoryBytes: 0,
  bodyDepth: 256,
  headTimeoutMs: 20_000,
  bodyTimeoutMs: 60_000,
  idleTimeoutMs: 75_000,
  writeTimeoutMs: 60_000,
  connectTimeoutMs: 1_000,
  responseTimeoutMs: 600_000,
  streamIdleTimeoutMs: 600_000,
  upstreamIdleTimeoutMs: 3_000,
  upstreamConnections: 4_096,
  clientConnections: 16_384,
  perClientConnections: 0,
  perClientRequests: 0,
  pluginMs: 2,
  retries: 2,
  settleMs: 0,
  drainTimeoutMs: 25_000,
};

export const DEFAULT_EJECTION: EjectionSettings = {
  isOn: true,
  baseMs: 10_000,
  maxMs: 300_000,
  maxShare: 0.5,
  warmUpTokens: 20_000,
  cutWaiting: true,
};

/** Less than the shortest idle timeout that load balancers commonly have, half a minute. */
export const DEFAULT_KEEP_ALIVE_MS = 15_000;

export const DEFAULT_RETRIES: RetrySettings = {
  stale: true,
  wedged: false,
  budgetShare: 0.2,
  budgetLeast: 3,
  backoffMs: 25,
};

export const DEFAULT_SETTINGS: Settings = {
  limits: DEFAULT_LIMITS,
  ejection: DEFAULT_EJECTION,
  retries: DEFAULT_RETRIES,
  unlisted: "targets",
  keepAlive: undefined,
  forwardedFor: "replace",
  credentials: undefined,
  cors: undefined,
  hasRoutingHeaders: true,
  mirrors: [],
};
