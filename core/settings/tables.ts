import { type ChoiceSetting, type NumberRow, numbers, onOff, type SettingsTable, seconds } from "./row.ts";

// The settings besides limits, and besides those of features, which are in their own folders: the types, the defaults and the schema are made of these rows.

/** `spec.retries`: what may be tried again, and how often. */
export const RETRIES = {
  stale: onOff(true, "A fresh try on the same replica when a kept-alive connection ends before a byte of the response."),
  wedged: onOff(false, "A try on another replica for requests that were cut because theirs makes no progress."),
  budgetShare: {
    ...numbers("share", 0, 1),
    default: 0.2,
    text: "Tries on other replicas, as a share of the requests of the last ten seconds.",
  },
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
