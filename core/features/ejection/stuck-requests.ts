import type { EndpointRecord } from "../../contract/detector.ts";
import type { Endpoint } from "../../contract/endpoint.ts";
import type { JudgeHost } from "../judge.ts";
import type { EjectionSettings } from "./ejection-config.ts";
import type { Row } from "./ejector-row.ts";
import type { EndpointRecords } from "./endpoint-records.ts";

export interface StuckRequestsOptions extends Pick<JudgeHost, "cutWaiting" | "cutStreams"> {
  readonly settings: () => Pick<EjectionSettings, "cutWaiting">;
  readonly records: Pick<EndpointRecords, "certainQuietMs">;
  /** Whether it may be loading a target that it does not list. */
  readonly isLoading: (endpoint: Endpoint) => boolean;
}

/** A stream that has sent tokens gets so many times as long as a request that waits for its first: more is lost with it. */
const STREAM_FACTOR = 2;
/** Connections count their silence on another clock than the ejector, which may be so far behind. */
const CLOCKS_DIFFER_MS = 500;

/**
 * Ends requests at an endpoint that makes no progress. Whether it leaves the pool is another question: it may be out already, or
 * too many others are. Each request gets the time that a silence there may last, from when it was sent or got its last byte: one
 * that came a moment ago is not given up for the others' silence. Only when the endpoint leaves (`isLeaving`), nobody waits there
 * any longer. `isOnly`: no other endpoint has one of its models, so more proof is asked for.
 */
export function cutStuck(
  row: Row,
  { quietMs, explainedQuietMs }: EndpointRecord,
  isOnly: boolean,
  isLeaving: boolean,
  options: StuckRequestsOptions,
  nowMs: number,
): void {
  const { settings, records, isLoading, cutWaiting, cutStreams } = options;
  const { endpoint } = row;
  if (!settings().cutWaiting || (isOnly && isLoading(endpoint))) return;
  const patienceMs = isOnly ? records.certainQuietMs(endpoint) : explainedQuietMs;
  if (cutWaiting(endpoint, patienceMs - CLOCKS_DIFFER_MS)) row.lastGivenUpMs = nowMs;
  if (isLeaving) cutWaiting(endpoint, 0);
  const isWitnessed = row.lastGivenUpMs >= nowMs - quietMs;
  cutStreams(endpoint, STREAM_FACTOR * patienceMs, isWitnessed);
}

/** What is known of an endpoint on trial, judged by its trial alone: older requests that still wait there don't count. */
export function onTrial(
  { stage, trialRequests, triedAtMs }: Row,
  record: EndpointRecord,
  nowMs: number,
): EndpointRecord | undefined {
  if (stage !== "trial" || trialRequests === 0) return undefined;
  return { ...record, quietMs: Math.min(record.quietMs, nowMs - triedAtMs) };
}

export const isUnexplained = ({ quietMs, explainedQuietMs }: EndpointRecord) => quietMs > explainedQuietMs;
