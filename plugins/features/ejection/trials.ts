import type { JudgedPool } from "../../../core/judge.ts";
import type { EjectionSettings } from "./ejection-config.ts";
import type { Row } from "./ejector-row.ts";

/** Whether it has passed a probe since it left, and failed none since: a trial before that costs a client its time for nothing. */
export function mayBeTried({ endpoint, sinceMs }: Row, { probePassedMs }: JudgedPool): boolean {
  return probePassedMs(endpoint) > sinceMs;
}

/**
 * Whether an ejected endpoint gets its trial now: its time is over, or it shows life again, because it passes probes after it failed
 * some, or sends tokens after it sent none. After a trial that failed, signs of life count again when the shortest time is over.
 */
export function isTrialDue(row: Row, pool: JudgedPool, { baseMs }: EjectionSettings, nowMs: number): boolean {
  const { endpoint, ejection, sinceMs } = row;
  if (ejection === undefined) return false;
  row.hasFailedProbe ||= pool.probePassedMs(endpoint) === Number.NEGATIVE_INFINITY;
  const showsLife = row.hasFailedProbe || (row.isStuck && pool.tries.lastByteMs(endpoint) > sinceMs);
  const isFirst = ejection.sinceMs === sinceMs;
  const isWanted = nowMs >= ejection.untilMs || (showsLife && (isFirst || nowMs - sinceMs >= baseMs));
  if (!isWanted) return false;
  if (mayBeTried(row, pool)) return true;
  pool.probeSoon(endpoint);
  return false;
}
