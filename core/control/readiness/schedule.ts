import type { ProbeSpec, Probes } from "../../settings.ts";
import { isInService, type ReplicaHealth } from "./replica-health.ts";

/** When a replica was and will be probed for startup or readiness, on the router's clock; NaN for what was not, or is not planned. */
export interface CheckTimes {
  readonly lastMs: number;
  readonly nextMs: number;
}

/** First pause between two rounds while a replica is not in service; each later pause is twice as long. */
export const BACKOFF_START_MS = 250;
/** Longest pause while a replica starts, so that it gets requests within about two seconds after its start. */
const BACKOFF_CAP_MS = 2_000;
/** A pause is shortened by up to this share, so that many replicas are not probed at the same moments. */
const JITTER_SHARE = 0.1;

/**
 * Pause before a replica's next startup or readiness round, in milliseconds.
 *
 * The router did not start the container, and the replica may have been running for days. So the first probe is sent at once,
 * without `initialDelayMs`, and `periodMs` is an upper bound of the pauses. While a replica starts, they grow from 250 ms to two
 * seconds. When it has fallen out of service, they grow from 250 ms to the readiness period.
 *
 * @param misses rounds in a row that did not bring it into service, at least one unless it is ready
 */
export function roundPauseMs(health: ReplicaHealth, misses: number, { startup, readiness }: Probes): number {
  if (isInService(health)) return readiness.periodMs;
  const backoffMs = BACKOFF_START_MS * 2 ** (misses - 1);
  if (health.isStarted) return Math.min(backoffMs, readiness.periodMs);
  if (health.phase === "starting") return Math.min(backoffMs, BACKOFF_CAP_MS, startup.periodMs);
  return startup.periodMs;
}

/** `ms`, shortened at random by up to a tenth. */
export function jittered(ms: number, random: number): number {
  return ms * (1 - JITTER_SHARE * random);
}

/** How long a startup may take before it counts as failed, in milliseconds; probing goes on after that. */
export function startupWindowMs(startup: ProbeSpec): number {
  return startup.initialDelayMs + startup.periodMs * startup.failureThreshold;
}
