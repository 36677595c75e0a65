// Defaults for what the config leaves out. Every name here is a built-in type.

/** Filters in front of every profile that is not `unguarded`: without them requests go to replicas that can't serve them. */
export const GUARDS: readonly string[] = ["ready", "serves-model"];
/** Appended to a profile that lists no picker. */
export const DEFAULT_PICKER = "max-score";
/** Used if the config has neither a profile nor a scorer. */
export const DEFAULT_SCORERS: readonly (readonly [type: string, weight: number])[] = [["outstanding-work", 1]];

/** Always run; a listed entry of the same type replaces one. The passthrough parser runs only if it is listed. */
export const DEFAULT_PARSERS = ["completions", "chat-completions", "responses", "embeddings", "messages", "generate"] as const;
export const DEFAULT_SOURCES: readonly string[] = ["model-list", "metrics"];
export const DEFAULT_DETECTORS = [
  "consecutive-failures",
  "missing-model",
  "malformed-responses",
  "no-progress",
  "failure-rate",
  "slow-first-token",
] as const;
export const DEFAULT_OBSERVERS: readonly string[] = ["access-log", "request-metrics", "decisions"];

/** Types that are configured by another part of the config, and which part. */
export const CONFIGURED_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["static", "spec.pool.endpoints"],
  ["keys", "spec.auth.keys"],
  ["model-rewrite", "documents of kind InferenceModelRewrite"],
]);
