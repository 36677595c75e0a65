import type { Attempt, Outcome } from "../../core/contract/outcome.ts";
import { printable } from "../../core/contract/printable.ts";
import { errorClassOf, wasServed } from "../../core/report/blame.ts";
import { cachedTokensOf } from "../../core/report/cached-tokens.ts";
import { ENDPOINT_AT, RESULTS, resultIndex, statusIndex } from "./endpoint-counts.ts";
import { OTHER } from "./exposition.ts";
import type { Families } from "./families.ts";
import { AT, ERROR_CLASSES, FINISH_REASONS, makeSizes, NONE, type TrafficRow, type TrafficTable } from "./traffic-table.ts";

/** Longer names of targets are cut. */
const MOST_NAME = 256;
/** Relative errors count as at most this: one response that waited for a reason of its own must not hide all others. */
const MOST_ERROR = 10;

/** Counts one ended request. */
export function countRequest(families: Families, outcome: Outcome): void {
  const { attempts, decision, error, ending } = outcome;
  const last = attempts.length === 0 ? NONE : attempts[attempts.length - 1]!.endpoint;
  const row = rowOf(families.traffic, outcome, last === "" ? NONE : last);
  row.counts[AT.statuses + statusIndex(outcome.status)]! += 1;
  const errorClass = errorClassOf(outcome);
  if (errorClass !== undefined) row.counts[AT.errors + ERROR_CLASSES.indexOf(errorClass)]! += 1;
  if (error !== undefined) families.errors.counts(error.code)[0]! += 1;
  if (outcome.prefill !== undefined) countAttempts(families, outcome.prefill.attempts);
  const endpoint = countAttempts(families, attempts);
  if (decision !== undefined && decision.rule !== "") families.rewrites.counts(decision.rule, decision.target)[0]! += 1;
  if (ending === "client-left") families.clientsLeft += 1;
  if (ending === "broken") families.broken += 1;
  if (outcome.api === "") return;
  row.counts[AT.requestBytes]! += outcome.requestBytes;
  row.counts[AT.responseBytes]! += outcome.responseBytes;
  countTimes(families, row, endpoint, outcome);
  countTokens(families, row, outcome);
}

function rowOf(traffic: TrafficTable, outcome: Outcome, endpoint: string): TrafficRow {
  const api = outcome.api === "" ? NONE : outcome.api;
  const target = outcome.decision?.target ?? "";
  return traffic.find(api, target === "" ? NONE : target, endpoint) ?? traffic.open(api, targetLabel(outcome), endpoint);
}

/** A client may ask for any name. Only those are shown that a rule of the config gave, or that a replica lists. */
function targetLabel({ decision }: Outcome): string {
  const target = decision?.target ?? "";
  if (decision === undefined || target === "") return NONE;
  const isNamed = decision.rule !== "" || decision.endpoints.some(({ models }) => models.has(target));
  return isNamed ? printable(target.slice(0, MOST_NAME)) : OTHER;
}

/** Returns the counts of the last one's endpoint. */
function countAttempts({ endpoints, retries }: Families, attempts: readonly Attempt[]): Float64Array | undefined {
  let counts: Float64Array | undefined;
  for (let index = 0; index < attempts.length; index++) {
    const { endpoint, result } = attempts[index]!;
    const at = resultIndex(result);
    counts = endpoints.counts(endpoint === "" ? NONE : endpoint);
    counts[ENDPOINT_AT.results + at]! += 1;
    if (index + 1 < attempts.length) retries.counts(RESULTS[at]!)[0]! += 1;
  }
  return counts;
}

function countTimes(families: Families, row: TrafficRow, endpoint: Float64Array | undefined, outcome: Outcome): void {
  const { times, firstByteMs, request } = outcome;
  row.durations.add(outcome.durationMs / 1000);
  row.firstBytes.add(firstByteMs / 1000);
  families.admissions.add((times.admittedMs - times.receivedMs) / 1000);
  families.decisions.add((times.decidedMs - times.admittedMs) / 1000);
  families.overheads.add(outcome.overheadUs / 1_000_000);
  if (request === undefined || !request.isStream || !wasServed(outcome)) return;
  row.firstTokens.add(firstByteMs / 1000);
  const isWhole = outcome.ending === "complete" && outcome.outputTokens >= 2;
  const tokenMs = isWhole ? (times.endMs - times.firstByteMs) / (outcome.outputTokens - 1) : Number.NaN;
  row.tokenTimes.add(tokenMs / 1000);
  // What was expected of the last endpoint says nothing about the time of those before.
  if (endpoint !== undefined && outcome.attempts.length === 1) countExpectation(endpoint, outcome);
}

function countExpectation(counts: Float64Array, { expectedFirstByteMs, firstByteMs }: Outcome): void {
  if (!Number.isFinite(expectedFirstByteMs) || !Number.isFinite(firstByteMs)) return;
  counts[ENDPOINT_AT.ttftEstimates]! += 1;
  counts[ENDPOINT_AT.ttftExpectedS]! += expectedFirstByteMs / 1000;
  counts[ENDPOINT_AT.ttftSeenS]! += firstByteMs / 1000;
  counts[ENDPOINT_AT.ttftErrorS]! += Math.abs(expectedFirstByteMs - firstByteMs) / 1000;
  countRatio(counts, ENDPOINT_AT.ttftRatios, expectedFirstByteMs, firstByteMs);
}

function countRatio(counts: Float64Array, at: number, expectedMs: number, seenMs: number): void {
  const ratio = Math.min(MOST_ERROR, Math.abs(seenMs - expectedMs) / Math.max(expectedMs, Number.MIN_VALUE));
  counts[at + (seenMs > expectedMs ? 0 : 1)]! += ratio;
}

function countTokens(families: Families, row: TrafficRow, outcome: Outcome): void {
  const { counts } = row;
  const { usage, predictedTokens, outputTokens, finishReason } = outcome;
  const promptTokens = usage === undefined ? Number.NaN : usage.promptTokens;
  if (finishReason !== "") counts[AT.finishReasons + reasonIndex(finishReason)]! += 1;
  if (families.hasSizes) {
    row.sizes ??= makeSizes();
    row.sizes.input.add(promptTokens);
    row.sizes.output.add(outputTokens);
  }
  if (!Number.isNaN(outputTokens)) {
    counts[AT.outputTokens]! += outputTokens;
    if (outcome.isOutputEstimated) counts[AT.estimatedTokens]! += outputTokens;
  }
  if (usage === undefined || Number.isNaN(promptTokens)) return;
  counts[AT.inputTokens]! += promptTokens;
  const cachedTokens = cachedTokensOf(outcome);
  if (cachedTokens === undefined) return;
  counts[AT.promptTokens]! += promptTokens;
  counts[AT.cachedTokens]! += cachedTokens;
  if (predictedTokens === undefined) return;
  counts[AT.predictedTokens]! += predictedTokens;
  counts[AT.tokenError]! += Math.abs(predictedTokens - cachedTokens);
}

function reasonIndex(reason: string): number {
  const index = FINISH_REASONS.indexOf(reason);
  return index < 0 ? FINISH_REASONS.length - 1 : index;
}
