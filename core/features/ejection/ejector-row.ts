import type { Ejection, Endpoint } from "../../contract/endpoint.ts";
import type { EjectionSettings } from "../../settings.ts";

/** Ejections are shortened or lengthened by up to this share, so that endpoints that failed together don't return together. */
const JITTER = 0.2;
/** Of an equal share, what an ejected endpoint gets when too many are ejected: one that fails at once looks idle. */
const PANIC_SHARE = 0.25;

/** in: nothing is held against it. ejected: no requests. trial: one request decides. warming: a share that grows. */
type Stage = "in" | "ejected" | "trial" | "warming";

/** What the ejector holds against one endpoint. Times are in milliseconds on the router's clock. */
export interface Row {
  endpoint: Endpoint;
  stage: Stage;
  /** Ejections that count towards the next one's length. */
  count: number;
  /** All of them. */
  total: number;
  ejection: Ejection | undefined;
  /** When its stage began. */
  sinceMs: number;
  /** Requests under way that were sent since its trial began, and when the first of them was. */
  trialRequests: number;
  triedAtMs: number;
  /** When a request there was last given up that had waited for as long as a silence may last; -Infinity before. */
  lastGivenUpMs: number;
  /** What it had served when its warm-up began. */
  servedBefore: number;
  wasHealthy: boolean;
  /** It is out, and can't be done without. */
  isNeeded: boolean;
}

/** What the ejector says of an endpoint's standing. */
export interface EjectionStanding {
  readonly ejection: Ejection | undefined;
  /** The next request decides whether it returns; false while that one is under way. */
  readonly isOnTrial: boolean;
  /** It is out but used, because too many are out, or no other endpoint serves one of its models. */
  readonly isNeeded: boolean;
  /** How far it is warmed up, in (0, 1]. */
  readonly warmUp: number;
}

/** Of an endpoint that has nothing held against it. */
export const NOTHING: EjectionStanding = { ejection: undefined, isOnTrial: false, isNeeded: false, warmUp: 1 };

/** An endpoint that has nothing held against it. `total`: ejections of this name so far. */
export function newRow(endpoint: Endpoint, nowMs: number, total: number): Row {
  return {
    endpoint,
    stage: "in",
    count: 0,
    total,
    ejection: undefined,
    sinceMs: nowMs,
    trialRequests: 0,
    triedAtMs: nowMs,
    lastGivenUpMs: Number.NEGATIVE_INFINITY,
    servedBefore: 0,
    wasHealthy: false,
    isNeeded: false,
  };
}

/** What is said of an endpoint with this row, if any. `warmUp`: how far it is warmed up. */
export function standing(row: Row | undefined, isPanicking: boolean, warmUp: number): EjectionStanding {
  if (row === undefined || row.stage === "in") return NOTHING;
  if (row.stage === "warming") return { ...NOTHING, warmUp };
  const isNeeded = row.isNeeded || (row.stage === "ejected" && isPanicking);
  const isOnTrial = row.stage === "trial" && row.trialRequests === 0;
  return { ejection: row.ejection, isOnTrial, isNeeded, warmUp: isNeeded ? PANIC_SHARE : 1 };
}

/** Counts one more ejection, and returns how long it lasts. `random` is drawn from [0, 1). */
export function countedLengthMs(row: Row, settings: EjectionSettings, random: number, nowMs: number): number {
  // Long ago is forgotten, one ejection for each of its own lengths.
  if (row.stage === "in") row.count = Math.max(0, row.count - Math.floor((nowMs - row.sinceMs) / lengthMs(row.count, settings)));
  row.count += 1;
  row.total += 1;
  return lengthMs(row.count, settings) * (1 + JITTER * (2 * random - 1));
}

function lengthMs(count: number, { baseMs, maxMs }: EjectionSettings): number {
  return Math.min(maxMs, baseMs * 2 ** Math.max(0, count - 1));
}

/** Whether the success of a request that was sent at `sentAtMs` brings the endpoint back. */
export function bringsBack(row: Row, sentAtMs: number): boolean {
  return decidesTrial(row, sentAtMs) || (row.isNeeded && row.ejection !== undefined && sentAtMs >= row.sinceMs);
}

/** Whether a request that was sent at `sentAtMs` is the endpoint's trial: what was sent before it says nothing of now. */
export function decidesTrial({ stage, sinceMs }: Row, sentAtMs: number): boolean {
  return stage === "trial" && sentAtMs >= sinceMs;
}
