import type { ProbeSpec, Probes } from "./probes.ts";
import { isInService, type ReplicaHealth } from "./reducer.ts";

/** First pause between two rounds of a replica that is not in service; it doubles from there. */
export const BACKOFF_START_MS = 250;
/** Longest pause while a replica starts, so that one that has come up is routed to within about two seconds. */
const BACKOFF_CAP_MS = 2_000;
/** A pause is shortened by up to this share, so that many replicas don't stay in step. */
const JITTER_SHARE = 0.1;

/**
 * Pause before a replica's next startup or readiness round.
 *
 * The router did not start the container: a replica on its list may have been up for days, so the first probe goes out at
 * once, and `initialDelayMs` and `periodMs` bound the pauses from above. While a replica starts they grow from 250 ms to
 * two seconds; one that fell out of service is asked at the same quick pace at first, then once a readiness period.
 *
 * @param misses rounds in a row that did not bring it into service, at least one unless it is ready
 * @param random a number in [0, 1)
 */
export function roundPauseMs(
  health: Pick<ReplicaHealth, "phase" | "isStarted" | "isServing" | "isAlive">,
  misses: number,
  probes: Probes,
  random: number,
): number {
  return jittered(pauseMs(health, misses, probes), random);
}

function pauseMs(
  health: Pick<ReplicaHealth, "phase" | "isStarted" | "isServing" | "isAlive">,
  misses: number,
  { startup, readiness }: Probes,
): number {
  if (isInService(health)) return readiness.periodMs;
  const backoffMs = BACKOFF_START_MS * 2 ** (misses - 1);
  if (health.isStarted) return Math.min(backoffMs, readiness.periodMs);
  if (health.phase === "starting") return Math.min(backoffMs, BACKOFF_CAP_MS, startup.periodMs);
  return startup.periodMs;
}

/** A pause of at most `ms`, a little shorter by chance. */
export function jittered(ms: number, random: number): number {
  return ms * (1 - JITTER_SHARE * random);
}

/** How long a startup may take before it counts as failed; the replica is still probed after that. */
export function startupWindowMs(startup: ProbeSpec): number {
  return startup.initialDelayMs + startup.periodMs * startup.failureThreshold;
}
