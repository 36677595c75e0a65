import { type ChoiceSetting, LONGEST_TIMER_MS, type NumberRow, numbers, onOff, type SettingsTable } from "./row.ts";

// The settings besides limits: the types, the defaults and the schema are made of these rows.

const seconds = (min = 1, max = LONGEST_TIMER_MS) => numbers("seconds", min, max);
const SHARE = numbers("share", 0, 1);
const PERCENT = numbers("percent", 0, 100);

/** `spec.ejection`: how endpoints leave the pool for what their responses are, and return. */
export const EJECTION = {
  baseMs: {
    ...seconds(),
    key: "baseSeconds",
    default: 10_000,
    text: "How long the first ejection of an endpoint lasts; each further one twice as long.",
  },
  maxMs: { ...seconds(), key: "maxSeconds", default: 300_000, text: "How long one may last at most." },
  maxShare: { ...SHARE, default: 0.5, text: "Of the endpoints that are up, the largest share that may be out at once." },
  warmUpTokens: {
    ...numbers("count", 1, 1_000_000_000),
    default: 20_000,
    text: "Prompt tokens that a returning or new endpoint serves until it has its whole share, unless `warmUpRequests` comes first.",
  },
  warmUpRequests: {
    ...numbers("count", 1, 1_000_000),
    default: 20,
    text: "Requests that it serves until it has its whole share, unless `warmUpTokens` comes first: short prompts are few tokens.",
  },
  cutWaiting: onOff(true, "Whether requests that wait without a byte on an endpoint that makes no progress are cut."),
} satisfies SettingsTable;

/** `spec.retries`: what may be tried again, and how often. */
export const RETRIES = {
  stale: onOff(true, "A fresh try on the same replica when a kept-alive connection ends before a byte of the response."),
  wedged: onOff(false, "A try on another replica for requests that were cut because theirs makes no progress."),
  budgetShare: { ...SHARE, default: 0.2, text: "Tries on other replicas, as a share of the requests of the last ten seconds." },
  budgetLeast: {
    ...numbers("count", 0, 1_000_000),
    default: 3,
    text: "So many of them are allowed however few the requests are.",
  },
  backoffMs: {
    ...numbers("milliseconds", 0, 60_000),
    default: 25,
    text: "The pause before the first retry is a random part of this; 0 for none.",
  },
} satisfies SettingsTable;

/** `spec.keepAlive`. */
export const KEEP_ALIVE = {
  periodMs: {
    ...seconds(),
    key: "periodSeconds",
    // Less than the shortest idle timeout that load balancers commonly have, half a minute.
    default: 15_000,
    text: "Silence of the replica between two events, after which the client gets one that means nothing.",
  },
} satisfies SettingsTable;

/** One entry of `spec.mirrors`. */
export const MIRROR = {
  percent: { ...PERCENT, default: 100, text: "Of the rule's requests, how many are copied." },
  maxInFlight: {
    ...numbers("count", 1, 1024),
    default: 16,
    text: "Most copies under way at the same time; requests beyond it are not copied.",
  },
  timeoutMs: {
    ...seconds(1_000, 3_600_000),
    key: "timeoutSeconds",
    default: 60_000,
    text: "How long one copy may take before it is ended.",
  },
} satisfies SettingsTable;

/** One entry of `spec.guards`. */
export const GUARD = {
  confidence: {
    ...numbers("part", 0.5, 1),
    default: 0.95,
    text: "1 minus the probability that this guard ever stops a target that is not worse.",
  },
  minRequests: {
    ...numbers("count", 1, 1_000_000_000),
    default: 50,
    text: "Requests to the target before which it is not stopped.",
  },
} satisfies SettingsTable;

/** `spec.shadow.percent`. */
export const SHADOW_PERCENT = { ...PERCENT, default: 100, text: "Of the requests, how many it decides too." };

/** `spec.listen.cors.maxAgeS`. */
export const CORS_MAX_AGE_S = {
  ...numbers("count", 0, 86_400),
  default: 600,
  text: "Seconds that a browser may keep the answer to a preflight.",
};

/** `spec.responseHeaders`. */
export const RESPONSE_HEADERS = onOff(true, "Whether responses name the endpoint and the model that served.");

/** `spec.pool.adapters.unlisted`. */
export const UNLISTED: ChoiceSetting<"targets" | "any" | "none"> = {
  default: "targets",
  choices: ["targets", "any", "none"],
  text: "Names that replicas may get though they do not list them, so that they load them: the targets of rewrites (targets, the default), also names that clients ask for (any), or none.",
};

/** `spec.forwardedFor`. */
export const FORWARDED_FOR: ChoiceSetting<"append" | "replace" | "drop"> = {
  default: "replace",
  choices: ["append", "replace", "drop"],
  text: "X-Forwarded-For for replicas: the client's address only (replace, the default), behind those that came with the request (append, only where all clients are proxies that you trust), or none (drop).",
};

/** The fields of a Kubernetes probe. A probe's defaults are its own. */
export const PROBE = {
  initialDelayMs: { ...seconds(0), key: "initialDelaySeconds", text: "Wait before the first scheduled try." },
  periodMs: { ...seconds(), key: "periodSeconds", text: "Time between tries." },
  timeoutMs: { ...seconds(), key: "timeoutSeconds", text: "How long one try may take." },
  failureThreshold: {
    ...numbers("count", 1, 1_000_000),
    text: "Failures in a row after which the probe counts as failed.",
  },
} satisfies Readonly<Record<string, NumberRow>>;
