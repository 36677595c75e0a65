import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { Log } from "../../../core/contract/log.ts";
import type { JudgedPool } from "../../../core/judge.ts";
import { isOut, type Row } from "./ejector-row.ts";

export interface NeedingPool extends JudgedPool {
  /** Whether it may generate answers; others only process prompts for one that does. */
  readonly mayAnswer: (endpoint: Endpoint) => boolean;
}

/** Uses ejected endpoints that can't be done without, and leaves them alone again when others are back. */
export function useNeeded(rows: readonly Row[], maxShare: number, pool: NeedingPool, log: Log): void {
  const needed = new Set(neededAgain(rows, maxShare, pool));
  for (const row of rows) {
    const isNeeded = needed.has(row);
    if (row.isNeeded === isNeeded) continue;
    row.isNeeded = isNeeded;
    const { name } = row.endpoint;
    if (isNeeded) log.warn("An ejected endpoint is used all the same: too few others are left", { endpoint: name });
    pool.changed(name);
  }
}

/**
 * Ejected endpoints that can't be done without, because others have left the pool, fail their probes or drain since then: all of
 * them, where more are out than may be; else those with a model that no other one serves. Ejections were allowed
 * for the pool as it was then.
 */
function neededAgain(rows: readonly Row[], maxShare: number, { isHealthy, mayAnswer }: NeedingPool): readonly Row[] {
  if (!rows.some(isOut)) return [];
  const up = rows.filter(({ endpoint: { intent, name } }) => intent !== "drain" && isHealthy(name));
  const out = up.filter(isOut);
  if (out.length > maxShare * up.length) return out;
  const rest = up.filter((row) => !isOut(row));
  return out.filter((row) => servesAlone(row, rest, mayAnswer));
}

/** Whether it answers for a model for which none of the others does. Without those that only process prompts, others do that too. */
export function servesAlone({ endpoint }: Row, others: readonly Row[], mayAnswer: NeedingPool["mayAnswer"]): boolean {
  if (!mayAnswer(endpoint)) return false;
  const able = others.filter((other) => mayAnswer(other.endpoint));
  return [...endpoint.models].some((model) => !able.some((other) => other.endpoint.models.has(model)));
}
