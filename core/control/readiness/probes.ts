/** One probe of a replica; the fields are the orchestrator's own, in milliseconds. */
export interface ProbeSpec {
  readonly path: string;
  readonly initialDelayMs: number;
  readonly periodMs: number;
  readonly timeoutMs: number;
  /** Failures in a row that count. */
  readonly failureThreshold: number;
}

export interface Probes {
  /** Has the model been loaded? Asked until it has. */
  readonly startup: ProbeSpec;
  /** Does the process still answer? */
  readonly liveness: ProbeSpec;
  /** May it be routed to? */
  readonly readiness: ProbeSpec;
}

export const PROBE_DEFAULTS: Probes = {
  startup: { path: "/v1/models", initialDelayMs: 15_000, periodMs: 30_000, timeoutMs: 5_000, failureThreshold: 60 },
  liveness: { path: "/health", initialDelayMs: 0, periodMs: 10_000, timeoutMs: 5_000, failureThreshold: 3 },
  readiness: { path: "/v1/models", initialDelayMs: 0, periodMs: 5_000, timeoutMs: 2_000, failureThreshold: 3 },
};
