import type { AdminAddress, ListenAddress, ProfileConfig } from "./config.ts";

// Defaults for what the config leaves out. Every name here is a built-in type.

export const DEFAULT_LISTEN: ListenAddress = { host: "127.0.0.1", port: 8080, isPortShared: false };
export const DEFAULT_ADMIN: AdminAddress = {
  host: "127.0.0.1",
  port: 9090,
  isPortShared: false,
  hosts: [],
  token: undefined,
  isReadOnly: false,
};

/** Filters in front of every profile that is not `unguarded`: without them requests go to replicas that can't serve them. */
export const GUARDS: readonly string[] = ["ready", "serves-model"];
/** Appended to a profile that lists no picker. */
export const DEFAULT_PICKER = "max-score";
/** Used if the config has neither a profile nor a scorer. */
export const DEFAULT_SCORERS: readonly (readonly [type: string, weight: number])[] = [["outstanding-work", 1]];

/** The profile of a config that lists no profile and no plugin. */
export const DEFAULT_PROFILE: ProfileConfig = {
  name: "default",
  plugins: [
    ...GUARDS.map((pluginRef) => ({ pluginRef })),
    ...DEFAULT_SCORERS.map(([pluginRef, weight]) => ({ pluginRef, weight })),
    { pluginRef: DEFAULT_PICKER },
  ],
};

/** Always run; a listed entry of the same type replaces one. The passthrough parser runs only if it is listed. */
export const DEFAULT_PARSERS: readonly string[] = [
  "completions",
  "chat-completions",
  "responses",
  "embeddings",
  "messages",
  "generate",
];
export const DEFAULT_SOURCES: readonly string[] = ["model-list", "metrics"];
export const DEFAULT_DETECTORS: readonly string[] = [
  "consecutive-failures",
  "missing-model",
  "no-progress",
  "failure-rate",
  "slow-first-token",
];
export const DEFAULT_OBSERVERS: readonly string[] = ["access-log", "request-metrics", "decisions"];

/** Types that are configured by another part of the config, and which part. */
export const CONFIGURED_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["static", "spec.pool.endpoints"],
  ["model-rewrite", "documents of kind InferenceModelRewrite"],
]);
