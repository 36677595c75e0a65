import { errorClassOf } from "../../core/contract/blame.ts";
import type { Attempt, Outcome } from "../../core/contract/outcome.ts";
import { printable } from "../../core/contract/printable.ts";
import { observe, REQUEST_SECONDS, SHORT_SECONDS } from "./buckets.ts";
import { CounterFamily } from "./counter-family.ts";
import { OTHER } from "./exposition.ts";
import { HistogramFamily } from "./histogram-family.ts";
import {
  AT,
  ERROR_CLASSES,
  makeSizes,
  STATUS_CLASSES,
  TOKEN_COUNTS,
  TOKEN_SECONDS,
  type TrafficRow,
  TrafficTable,
} from "./traffic-table.ts";

/** The label's value if there is no API, target, endpoint or status. */
export const NONE = "none";
/** Longer names of targets are cut. */
const MOST_NAME = 256;

/** Reasons of an engine to stop; other words, which a replica may make up, are counted as "other". */
const FINISH_REASONS: ReadonlySet<string> = new Set([
  ...["stop", "length", "tool_calls", "function_call", "content_filter", "abort", "error", "repetition"],
  ...["end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal"],
  ...["completed", "incomplete", "failed", "max_output_tokens"],
]);

export type Families = ReturnType<typeof makeFamilies>;

/** All label values come from the config, the replicas or the router itself, so clients can't create series. */
export function makeFamilies(maxSeries: number, maxTraffic: number) {
  const counter = (name: string, help: string, ...labels: readonly string[]) =>
    new CounterFamily(`signalbox_${name}_total`, help, labels, maxSeries);
  const short = (name: string, help: string) => new HistogramFamily(`signalbox_${name}_seconds`, help, "", SHORT_SECONDS);
  return {
    traffic: new TrafficTable(maxTraffic),
    /** Whether the tokens of single requests are counted in buckets too. */
    hasSizes: false,
    errors: counter("request_errors", "Requests that the router ended with an error of its own.", "code"),
    attempts: counter("attempts", "Tries at endpoints, by status or failure.", "endpoint", "result"),
    retries: retryCounter(maxSeries),
    rewrites: counter("rewrite", "Requests whose model name a rewrite rule turned into a target.", "rule", "target"),
    finishReasons: counter("finish_reasons", "Responses by the reason that the replica gave for their end.", "target", "reason"),
    clientLeft: counter("client_left", "Requests whose client left before the response was complete."),
    broken: counter("stream_broken", "Responses that broke off after their head was sent."),
    requestBytes: counter("request_bytes", "Bytes of request bodies.", "api"),
    responseBytes: counter("response_bytes", "Bytes of response bodies that came from replicas.", "api"),
    ttftEstimates: counter("ttft_estimates", "Streamed responses of which a time to the first token was expected.", "endpoint"),
    ttftExpected: counter("ttft_expected_seconds", "Times to the first token that were expected of them, added up.", "endpoint"),
    ttftSeen: counter("ttft_seen_seconds", "Times to the first token that they had, added up.", "endpoint"),
    ttftError: counter("ttft_error_seconds", "Absolute differences between the two of each response, added up.", "endpoint"),
    ttftErrorRatio: counter("ttft_error_ratio", `${RATIO_HELP} times to the first token.`, "endpoint", "sign"),
    tpotEstimates: counter("tpot_estimates", "Streamed responses of which a time per output token was expected.", "endpoint"),
    tpotErrorRatio: counter("tpot_error_ratio", `${RATIO_HELP} times per output token.`, "endpoint", "sign"),
    targets: counter("latency_targets", TARGETS_HELP, "endpoint", "target", "met"),
    firstBytes: new HistogramFamily("signalbox_time_to_first_byte_seconds", FIRST_BYTE_HELP, "api", REQUEST_SECONDS),
    admissions: short("admission_wait", "Seconds that requests waited to be admitted."),
    decisions: short("decision", "Seconds that the decision for an endpoint took."),
    overheads: short("overhead", "Seconds that the router took itself, from the last byte of a request until it was sent on."),
    loopDelays: short("event_loop_delay", "Seconds that a timer of the process was late, sampled ten times a second."),
  };
}

const RATIO_HELP =
  "Relative errors of what was expected, (seen - expected) / expected without its sign and at most 10, added up; late: it took longer. Of";
const TARGETS_HELP =
  "Streamed responses with a target for their time to the first token (ttft) or per output token (tpot), by whether they met it.";
/** One response that waited for a reason of its own must not hide all others. */
const MOST_ERROR = 10;

/** What may be tried again. The counts begin at 0, so that the first retry is an increase. */
const RETRIED = ["connect-failed", "connect-timeout", "stale", "wedged", "saturated", "removed", "4xx", "5xx"];

function retryCounter(maxSeries: number): CounterFamily {
  const help = "Further tries of a request, by what ended the try before.";
  const family = new CounterFamily("signalbox_retries_total", help, ["reason"], maxSeries);
  for (const reason of RETRIED) family.add(0, reason);
  return family;
}

const FIRST_BYTE_HELP =
  "Seconds from the last byte of a request to the first body byte of its response, streamed or not. Without streaming that is the whole generation.";

/** Counts one ended request. */
export function countRequest(families: Families, outcome: Outcome): void {
  const { attempts, decision, error, ending } = outcome;
  const last = attempts.length === 0 ? NONE : attempts[attempts.length - 1]!.endpoint;
  const row = rowOf(families.traffic, outcome, last === "" ? NONE : last);
  row.counts[AT.statuses + statusIndex(outcome.status)]! += 1;
  const errorClass = errorClassOf(outcome);
  if (errorClass !== undefined) row.counts[AT.errors + ERROR_CLASSES.indexOf(errorClass)]! += 1;
  if (error !== undefined) families.errors.add(1, error.code);
  countAttempts(families, attempts);
  if (decision !== undefined && decision.rule !== "") families.rewrites.add(1, decision.rule, decision.target);
  if (ending === "client-left") families.clientLeft.add(1);
  if (ending === "broken") families.broken.add(1);
  if (outcome.api === "") return;
  families.requestBytes.add(outcome.requestBytes, outcome.api);
  families.responseBytes.add(outcome.responseBytes, outcome.api);
  countTimes(families, row, outcome);
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

function countAttempts({ attempts: family, retries }: Families, attempts: readonly Attempt[]): void {
  for (let index = 0; index < attempts.length; index++) {
    const { endpoint, result } = attempts[index]!;
    family.add(1, endpoint === "" ? NONE : endpoint, resultText(result));
    if (index + 1 < attempts.length) retries.add(1, resultText(result));
  }
}

function countTimes(families: Families, row: TrafficRow, outcome: Outcome): void {
  const { times, firstByteMs, request, status } = outcome;
  const firstByteS = firstByteMs / 1000;
  observe(row.durations, REQUEST_SECONDS, outcome.durationMs / 1000);
  families.firstBytes.observe(firstByteS, outcome.api);
  families.admissions.observe((times.admittedMs - times.receivedMs) / 1000);
  families.decisions.observe((times.decidedMs - times.admittedMs) / 1000);
  families.overheads.observe(outcome.overheadUs / 1_000_000);
  if (request === undefined || !request.isStream || status < 200 || status > 299) return;
  observe(row.firstTokens, REQUEST_SECONDS, firstByteS);
  const isWhole = outcome.ending === "complete" && outcome.outputTokens >= 2;
  const tokenMs = isWhole ? (times.endMs - times.firstByteMs) / (outcome.outputTokens - 1) : Number.NaN;
  observe(row.tokenTimes, TOKEN_SECONDS, tokenMs / 1000);
  countTargets(families, row.endpoint, outcome, tokenMs);
  if (outcome.attempts.length !== 1) return;
  countExpectation(families, row.endpoint, outcome.expectedFirstByteMs / 1000, firstByteS);
  countRatio(families.ttftErrorRatio, row.endpoint, outcome.expectedFirstByteMs, firstByteMs);
  if (Number.isNaN(outcome.expectedTokenMs) || Number.isNaN(tokenMs)) return;
  families.tpotEstimates.add(1, row.endpoint);
  countRatio(families.tpotErrorRatio, row.endpoint, outcome.expectedTokenMs, tokenMs);
}

function countRatio(family: CounterFamily, endpoint: string, expectedMs: number, seenMs: number): void {
  if (!Number.isFinite(expectedMs) || !Number.isFinite(seenMs)) return;
  const ratio = Math.min(MOST_ERROR, Math.abs(seenMs - expectedMs) / Math.max(expectedMs, Number.MIN_VALUE));
  family.add(ratio, endpoint, seenMs > expectedMs ? "late" : "early");
}

function countTargets({ targets: family }: Families, endpoint: string, outcome: Outcome, tokenMs: number): void {
  const { targets, firstByteMs, durationMs } = outcome;
  if (targets === undefined) return;
  // A client that left before its first token saw how late it was at least.
  const seenMs = Number.isNaN(firstByteMs) ? durationMs : firstByteMs;
  const isKnown = !Number.isNaN(firstByteMs) || durationMs > targets.firstTokenMs;
  if (targets.firstTokenMs !== Number.POSITIVE_INFINITY && isKnown)
    family.add(1, endpoint, "ttft", String(seenMs <= targets.firstTokenMs));
  if (targets.tokenMs !== Number.POSITIVE_INFINITY && !Number.isNaN(tokenMs))
    family.add(1, endpoint, "tpot", String(tokenMs <= targets.tokenMs));
}

/** Retried requests are left out: what was expected of the last endpoint says nothing about the time of those before. */
function countExpectation(families: Families, endpoint: string, expectedS: number, seenS: number): void {
  if (!Number.isFinite(expectedS) || !Number.isFinite(seenS)) return;
  families.ttftEstimates.add(1, endpoint);
  families.ttftExpected.add(expectedS, endpoint);
  families.ttftSeen.add(seenS, endpoint);
  families.ttftError.add(Math.abs(expectedS - seenS), endpoint);
}

function countTokens(families: Families, row: TrafficRow, outcome: Outcome): void {
  const { counts } = row;
  const { usage, predictedTokens, outputTokens, finishReason } = outcome;
  const promptTokens = usage === undefined ? Number.NaN : usage.promptTokens;
  if (finishReason !== "") families.finishReasons.add(1, row.target, FINISH_REASONS.has(finishReason) ? finishReason : OTHER);
  if (families.hasSizes) {
    row.sizes ??= makeSizes();
    observe(row.sizes.input, TOKEN_COUNTS, promptTokens);
    observe(row.sizes.output, TOKEN_COUNTS, outputTokens);
  }
  if (!Number.isNaN(outputTokens)) {
    counts[AT.outputTokens]! += outputTokens;
    if (outcome.isOutputEstimated) counts[AT.estimatedTokens]! += outputTokens;
  }
  if (usage === undefined || Number.isNaN(promptTokens)) return;
  counts[AT.inputTokens]! += promptTokens;
  const { cachedTokens } = usage;
  if (Number.isNaN(cachedTokens)) return;
  counts[AT.promptTokens]! += promptTokens;
  counts[AT.cachedTokens]! += cachedTokens;
  if (predictedTokens === undefined) return;
  counts[AT.predictedTokens]! += predictedTokens;
  counts[AT.tokenError]! += Math.abs(predictedTokens - cachedTokens);
}

function statusIndex(status: number): number {
  const index = Math.floor(status / 100);
  return index < STATUS_CLASSES.length ? index : 0;
}

function resultText(result: Attempt["result"]): string {
  return typeof result === "number" ? STATUS_CLASSES[statusIndex(result)]! : result;
}
