import type { Ejection, Endpoint } from "../../contract/endpoint.ts";

/** in: nothing is held against it. ejected: no requests. trial: one request decides. warming: a share that grows. */
type Stage = "in" | "ejected" | "trial" | "warming";

/** What the ejector holds against one endpoint. Times are in milliseconds on the router's clock. */
export type Row = ReturnType<typeof newRow>;

/** An endpoint that has nothing held against it. `total`: ejections of this name so far. */
export function newRow(endpoint: Endpoint, nowMs: number, total: number) {
  return {
    endpoint,
    stage: "in" as Stage,
    // Ejections that count towards the next one's length, of all of them.
    count: 0,
    total,
    ejection: undefined as Ejection | undefined,
    // When its stage began.
    sinceMs: nowMs,
    // Requests under way that were sent since its trial began, and when the last one was.
    trialRequests: 0,
    triedAtMs: nowMs,
    // What it had served when its warm-up began.
    servedBefore: 0,
    wasHealthy: false,
    // It is out, and can't be done without.
    isNeeded: false,
  };
}

/** Whether the success of a request that was sent at `sentAtMs` brings the endpoint back. */
export function bringsBack(row: Row, sentAtMs: number): boolean {
  return decidesTrial(row, sentAtMs) || (row.isNeeded && row.ejection !== undefined && sentAtMs >= row.sinceMs);
}

/** Whether a request that was sent at `sentAtMs` is the endpoint's trial: what was sent before it says nothing of now. */
export function decidesTrial({ stage, sinceMs }: Row, sentAtMs: number): boolean {
  return stage === "trial" && sentAtMs >= sinceMs;
}

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
