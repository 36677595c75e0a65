import type { Ejection, Endpoint } from "../../../core/contract/endpoint.ts";
import { type EjectionStanding, NOTHING } from "../../../core/judge.ts";
import type { EjectionSettings } from "./ejection-config.ts";
import { NOTHING_SERVED } from "./warm-up.ts";

/** Ejections are shortened or lengthened by up to this share, so that endpoints that failed together don't return together. */
const JITTER = 0.2;
/** Of an equal share, what an ejected endpoint gets when too many are ejected: one that fails at once looks idle. */
const PANIC_SHARE = 0.25;
/** What one gets whose last answers were all empty. Who gets it is drawn, so that answers can be compared. */
const DOUBT_SHARE = 0.05;

/** An endpoint that joins a pool older than this warms up; before that, all are new. */
const YOUNG_POOL_MS = 10_000;

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
    // Requests under way that were sent since its trial began, and when the first of them was.
    trialRequests: 0,
    triedAtMs: nowMs,
    // Requests there that were given up without a token since its last byte came, streams that were, and when the last of them was.
    givenUp: 0,
    givenUpStreams: 0,
    givenUpMs: Number.NEGATIVE_INFINITY,
    // It is out because it makes no progress.
    isStuck: false,
    // Since it left, it has failed a probe.
    hasFailedProbe: false,
    // What it had served when its warm-up began.
    servedBefore: NOTHING_SERVED,
    wasHealthy: false,
    // Its last answers were all empty.
    isDoubted: false,
    // It is out, and can't be done without.
    isNeeded: false,
    // The pool has it no more.
    hasLeft: false,
  };
}

/** Whether it has been in service for long enough, so that the pool is not a new one. */
export function hasSettled({ stage, sinceMs, wasHealthy }: Row, nowMs: number): boolean {
  return stage === "in" && wasHealthy && nowMs - sinceMs > YOUNG_POOL_MS;
}

/** What is said of an endpoint with this row, if any. `warmUp`: how far it is warmed up. */
export function standing(row: Row | undefined, isPanicking: boolean, warmUp: number): EjectionStanding {
  if (row === undefined) return NOTHING;
  if (row.stage === "in") return row.isDoubted ? { ...NOTHING, warmUp: DOUBT_SHARE } : NOTHING;
  if (row.stage === "warming") return { ...NOTHING, warmUp: row.isDoubted ? Math.min(warmUp, DOUBT_SHARE) : warmUp };
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

/** Takes over what another router says; one that is out already stays so until the later of both. */
export function takeEjection(row: Row, { reason, untilMs }: Ejection, settings: EjectionSettings, nowMs: number): void {
  const lastMs = Math.min(untilMs, nowMs + settings.maxMs * (1 + JITTER));
  if (row.ejection !== undefined && row.ejection.untilMs >= lastMs) return;
  if (!isOut(row)) countedLengthMs(row, settings, 0, nowMs);
  row.ejection = { reason: row.ejection?.reason ?? reason, sinceMs: row.ejection?.sinceMs ?? nowMs, untilMs: lastMs };
  row.stage = "ejected";
  row.sinceMs = nowMs;
}

/** It was ejected for what others did wrong. */
export function pardon(row: Row, nowMs: number): void {
  row.stage = "in";
  row.ejection = undefined;
  row.count = Math.max(0, row.count - 1);
  row.sinceMs = nowMs;
}

/** Whether the success of a request that was sent at `sentAtMs` brings the endpoint back. */
export function bringsBack(row: Row, sentAtMs: number): boolean {
  return decidesTrial(row, sentAtMs) || (row.isNeeded && row.ejection !== undefined && sentAtMs >= row.sinceMs);
}

/** Whether a request that was sent at `sentAtMs` is the endpoint's trial: what was sent before it says nothing of now. */
export function decidesTrial({ stage, sinceMs }: Row, sentAtMs: number): boolean {
  return stage === "trial" && sentAtMs >= sinceMs;
}

/** Whether it is ejected, or on trial. */
export const isOut = ({ stage }: Row) => stage === "ejected" || stage === "trial";
