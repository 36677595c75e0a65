import type { AttemptFailure } from "../../core/contract/outcome.ts";
import { type CountedRow, rowCounter, rowsText } from "./count-table.ts";
import { STATUS_CLASSES } from "./traffic-table.ts";

/** Where each failure of a try is among the results, behind the classes of statuses. */
const FAILURES: Readonly<Record<AttemptFailure, number>> = {
  ...{ "connect-failed": 6, "connect-timeout": 7, stale: 8, reset: 9, timeout: 10, gone: 11 },
  ...{ wedged: 12, invalid: 13, aborted: 14, saturated: 15, removed: 16, malformed: 17, "passed-over": 18 },
};

/** What a try can come to, in words. */
export const RESULTS: readonly string[] = [...STATUS_CLASSES, ...Object.keys(FAILURES)];

/** The place of a try's result among them. */
export function resultIndex(result: number | AttemptFailure): number {
  return typeof result === "number" ? statusIndex(result) : FAILURES[result];
}

/** The place of a status's class. */
export function statusIndex(status: number): number {
  const index = Math.floor(status / 100);
  return index < STATUS_CLASSES.length ? index : 0;
}

/** Where each count of one endpoint is in its row. Results take as many places as there are of them. */
export const ENDPOINT_AT = {
  results: 0,
  ttftEstimates: 19,
  ttftExpectedS: 20,
  ttftSeenS: 21,
  ttftErrorS: 22,
  /** Relative errors: of those that came late, then of the others. */
  ttftRatios: 23,
} as const;
export const ENDPOINT_COUNTS = 25;

const RESULT_PAIRS = RESULTS.map((result) => `,result="${result}"`);
const ATTEMPTS = rowCounter("attempts", "Tries at endpoints, by status or failure.", ENDPOINT_AT.results, RESULT_PAIRS);

/** Each of them has a sample for every endpoint that has the first. */
const TTFT_SUMS = [
  rowCounter("ttft_estimates", "Streamed responses of which a time to the first token was expected.", ENDPOINT_AT.ttftEstimates),
  rowCounter(
    "ttft_expected_seconds",
    "Times to the first token that were expected of them, added up.",
    ENDPOINT_AT.ttftExpectedS,
  ),
  rowCounter("ttft_seen_seconds", "Times to the first token that they had, added up.", ENDPOINT_AT.ttftSeenS),
  rowCounter("ttft_error_seconds", "Absolute differences between the two of each response, added up.", ENDPOINT_AT.ttftErrorS),
].map((counter) => ({ ...counter, hasZeros: true }));

const RATIO_HELP =
  "Relative errors of what was expected, (seen - expected) / expected without its sign and at most 10, added up; late: it took longer. Of times to the first token.";
const RATIOS = rowCounter("ttft_error_ratio", RATIO_HELP, ENDPOINT_AT.ttftRatios, [',sign="late"', ',sign="early"']);

export function attemptsText(endpoints: readonly CountedRow[]): string {
  return rowsText(ATTEMPTS, endpoints);
}

/** What was expected of the endpoints, and what came of it. */
export function expectationsText(endpoints: readonly CountedRow[]): string {
  const estimated = endpoints.filter(({ counts }) => counts[ENDPOINT_AT.ttftEstimates]! > 0);
  const sums = TTFT_SUMS.map((counter) => rowsText(counter, estimated));
  return sums.join("") + rowsText(RATIOS, endpoints);
}
