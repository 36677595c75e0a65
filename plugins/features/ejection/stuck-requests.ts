import type { EndpointRecord } from "../../../core/contract/detector.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { WatchedTry } from "../../../core/wire/watched-try.ts";
import type { EjectionSettings } from "./ejection-config.ts";
import { isOut, type Row } from "./ejector-row.ts";
import type { EndpointRecords } from "./endpoint-records.ts";
import type { NeedingPool } from "./needed-rows.ts";

export interface StuckRequestsOptions extends NeedingPool {
  readonly settings: () => EjectionSettings;
  readonly records: EndpointRecords;
  /** Whether it may be loading a target that it does not list. */
  readonly isLoading: (endpoint: Endpoint) => boolean;
}

/** A stream that has sent tokens gets so many times as long as a request that waits for its first: more is lost with it. */
const STREAM_FACTOR = 2;
/** So much longer than its own longest gap so far a stream may be silent. */
const GAP_FACTOR = 4;
/** Connections count their silence on another clock than the ejector, which may be so far behind. */
const CLOCKS_DIFFER_MS = 500;
/** One sign may have a cause of its own. Two that have different causes at the same moment are rare, unless the endpoint hangs. */
const ENOUGH_SIGNS = 2;
/** Silent streams are one sign at most: agents call tools in parallel, and an engine may hold back each call until it is whole. */
const SIGN_OF_STREAM = 0.5;
/** Where no new request goes, none can be a further sign. */
const SIGN_OF_ABSENCE = 0.5;

/** How long tries may be silent, in milliseconds. */
interface Patience {
  /** For a stream that has sent no token. */
  readonly streamMs: number;
  /** For a response that comes whole. */
  readonly wholeMs: number;
  /** For a stream that has sent tokens, beside its own longest gap. */
  readonly flowingMs: number;
}

/**
 * Ends requests at an endpoint that makes no progress. Whether it leaves the pool is another question: it may be out already, or
 * too many others are. Each request gets the time that a silence there may last, from when it was sent or got its last byte: one
 * that came a moment ago is not given up for the others' silence. A false cut costs an answer and a late one costs seconds, so the
 * time is longer where only one sign speaks against the endpoint. `isOnly`: no other endpoint has one of its models, so more proof is
 * asked for.
 */
export function cutStuck(row: Row, record: EndpointRecord, isOnly: boolean, options: StuckRequestsOptions, nowMs: number): void {
  const { settings, isLoading } = options;
  const { endpoint } = row;
  if (!settings().cutWaiting || (isOnly && isLoading(endpoint))) return;
  const tries = options.tries.triesAt(endpoint);
  // A detector may find a silence too long that is explained.
  const usualMs = Math.min(record.explainedQuietMs, record.quietMs);
  const signs = signsAgainst(row, tries, usualMs, options);
  if (signs < 1) return;
  const isSure = !isOnly && (signs >= ENOUGH_SIGNS || usualMs < record.explainedQuietMs);
  const patience = isSure ? patienceOf(usualMs, usualMs) : longPatience(row, isOnly, signs, options);
  for (const each of tries) {
    if (!hasWaited(each, patience)) continue;
    if (each.watchState === "waiting") row.givenUp += 1;
    else row.givenUpStreams += 1;
    row.givenUpMs = nowMs;
    each.cut();
  }
}

/**
 * How many signs say that the endpoint hangs: requests that have got no token for `usualMs`, streams that are silent for longer than
 * that and their own pace explain, and what else is wrong with it. A response that comes whole is no sign where a stream would show more.
 */
function signsAgainst(row: Row, tries: readonly WatchedTry[], usualMs: number, options: StuckRequestsOptions): number {
  const isIll = (isOut(row) && !row.isStuck) || row.hasLeft || options.probePassedMs(row.endpoint) === Number.NEGATIVE_INFINITY;
  const hasStreams = tries.some(({ watchState, isStream }) => watchState !== "idle" && isStream);
  const patience = patienceOf(usualMs, hasStreams ? Number.POSITIVE_INFINITY : usualMs);
  const silent = tries.filter((each) => hasWaited(each, patience));
  const waiting = silent.filter(({ watchState }) => watchState === "waiting").length;
  const stopped = row.givenUpStreams + silent.length - waiting;
  const ownSigns = isIll ? 1 : isShunned(row) ? SIGN_OF_ABSENCE : 0;
  return row.givenUp + ownSigns + waiting + Math.min(1, SIGN_OF_STREAM * stopped);
}

function longPatience(row: Row, isOnly: boolean, signs: number, { records }: StuckRequestsOptions): Patience {
  const { endpoint } = row;
  const isInDoubt = isDoubted(row);
  if (isOnly) {
    const certainMs = records.certainQuietMs(endpoint, isInDoubt);
    return patienceOf(certainMs, certainMs);
  }
  const streamMs = records.loneQuietMs(endpoint, isInDoubt, true);
  const patience = patienceOf(streamMs, records.loneQuietMs(endpoint, isInDoubt, false));
  return signs > 1 && isShunned(row) ? { ...patience, flowingMs: streamMs } : patience;
}

const patienceOf = (streamMs: number, wholeMs: number): Patience => ({ streamMs, wholeMs, flowingMs: STREAM_FACTOR * streamMs });

/** Whether new requests, which would show more in the time that its streams are given, go elsewhere for another reason than its silence. */
function isShunned(row: Row): boolean {
  const { phase } = row.endpoint;
  return (isOut(row) && !row.isStuck) || row.hasLeft || (phase !== "ready" && phase !== "ejected");
}

function hasWaited({ watchState, isStream, silenceMs, longestGapMs }: WatchedTry, patience: Patience): boolean {
  if (watchState === "waiting") return silenceMs >= (isStream ? patience.streamMs : patience.wholeMs) - CLOCKS_DIFFER_MS;
  return watchState === "streaming" && silenceMs >= patience.flowingMs + GAP_FACTOR * longestGapMs;
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

/** A token came: whom it lost before says nothing of now. */
export function forgetGivenUp(row: Row): void {
  row.givenUp = 0;
  row.givenUpStreams = 0;
}

/** Whether requests there got no token, and none has come since. */
export const isDoubted = (row: Row) => row.givenUp > 0 || (row.isStuck && isOut(row));
