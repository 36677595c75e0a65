import type { Row } from "./ejector-row.ts";

/**
 * Ejected endpoints that can't be done without, because others have left the pool, fail their probes or drain since then: all of
 * them, where more are out than may be; else those with a model that no other one serves. Ejections were allowed
 * for the pool as it was then.
 */
export function neededAgain(rows: readonly Row[], maxShare: number, isHealthy: (row: Row) => boolean): readonly Row[] {
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

/** Whether it is ejected, or on trial. */
export const isOut = ({ stage }: Row) => stage === "ejected" || stage === "trial";
