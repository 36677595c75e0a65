/** One probe of a replica: the fields of a Kubernetes probe, with times in milliseconds. */
export interface ProbeSpec {
  readonly path: string;
  readonly initialDelayMs: number;
  readonly periodMs: number;
  readonly timeoutMs: number;
  /** So many failures in a row make the probe fail. */
  readonly failureThreshold: number;
}

export interface Probes {
  /** Is the model loaded? Runs until it is. */
  readonly startup: ProbeSpec;
  /** Does the process still respond? */
  readonly liveness: ProbeSpec;
  /** May the replica get requests? */
  readonly readiness: ProbeSpec;
}

export const PROBE_DEFAULTS: Probes = {
  startup: { path: "/v1/models", initialDelayMs: 15_000, periodMs: 30_000, timeoutMs: 5_000, failureThreshold: 60 },
  liveness: { path: "/health", initialDelayMs: 0, periodMs: 10_000, timeoutMs: 5_000, failureThreshold: 3 },
  readiness: { path: "/v1/models", initialDelayMs: 0, periodMs: 5_000, timeoutMs: 2_000, failureThreshold: 3 },
};
