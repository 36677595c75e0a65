import type { Log } from "../../contract/log.ts";
import { isInService, type ReplicaHealth } from "./replica-health.ts";

/** Replicas that are ready so soon after the start are in the program's first line. */
const START_MS = 2_000;
const MOST_CHARS = 200;

/** Logs that a replica has become ready, or is not ready any more, and why. `sinceStartMs`: since probing began. */
export function logReadiness(
  log: Log,
  endpoint: string,
  before: ReplicaHealth,
  after: ReplicaHealth,
  sinceStartMs: number,
): void {
  const isReady = isInService(after);
  if (isReady === isInService(before)) return;
  if (!isReady) {
    const cause = after.readinessFailure || after.livenessFailure || "a failed probe";
    log.warn("A replica is not ready any more", { endpoint, cause });
  } else if (sinceStartMs >= START_MS) log.info("A replica is ready", { endpoint, models: shortened(after.models) });
}

function shortened(models: readonly string[]): string {
  return models.slice(0, 8).join(", ").slice(0, MOST_CHARS);
}
