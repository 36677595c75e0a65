import type { Ejection, Endpoint } from "../../contract/endpoint.ts";
import { NOTHING_SERVED, type Served } from "./warm-up.ts";

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
  /** Requests under way that were sent since its trial began, and when the last one was. */
  trialRequests: number;
  triedAtMs: number;
  /** What it had served when its warm-up began. */
  servedBefore: Served;
  wasHealthy: boolean;
  /** It is out, and can't be done without. */
  isNeeded: boolean;
}

/** What the ejector says of an endpoint's standing. */
export interface EjectionStanding {
  readonly ejection: Ejection | undefined;
  /** The next request decides whether it returns; false while that one is under way. */
  readonly isOnTrial: boolean;
  /** It is out, and used all the same, because too many are, or no other one serves a model. */
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
    servedBefore: NOTHING_SERVED,
    wasHealthy: false,
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
