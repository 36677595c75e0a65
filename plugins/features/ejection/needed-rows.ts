import type { Log } from "../../../core/contract/log.ts";
import type { JudgedPool } from "../../../core/judge.ts";
import { isOut, type Row } from "./ejector-row.ts";

/** Uses ejected endpoints that can't be done without, and leaves them alone again when others are back. */
export function useNeeded(rows: readonly Row[], maxShare: number, { isHealthy, changed }: JudgedPool, log: Log): void {
  const needed = new Set(neededAgain(rows, maxShare, ({ endpoint }) => isHealthy(endpoint.name)));
  for (const row of rows) {
    const isNeeded = needed.has(row);
    if (row.isNeeded === isNeeded) continue;
    row.isNeeded = isNeeded;
    const { name } = row.endpoint;
    if (isNeeded) log.warn("An ejected endpoint is used all the same: too few others are left", { endpoint: name });
    changed(name);
  }
}

/**
 * Ejected endpoints that can't be done without, because others have left the pool, fail their probes or drain since then: all of
 * them, where more are out than may be; else those with a model that no other one serves. Ejections were allowed
 * for the pool as it was then.
 */
function neededAgain(rows: readonly Row[], maxShare: number, isHealthy: (row: Row) => boolean): readonly Row[] {
  if (!rows.some(isOut)) return [];
  const up = rows.filter((row) => row.endpoint.intent !== "drain" && isHealthy(row));
  const out = up.filter(isOut);
  if (out.length > maxShare * up.length) return out;
  const rest = up.filter((row) => !isOut(row));
  return out.filter((row) => servesAlone(row, rest));
}

/** Whether it has a model that none of the others has. */
export function servesAlone(row: Row, others: readonly Row[]): boolean {
  return [...row.endpoint.models].some((model) => !others.some(({ endpoint }) => endpoint.models.has(model)));
}
