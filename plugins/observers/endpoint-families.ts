import { type CountedRow, rowCounter, rowsText } from "./count-table.ts";
import { ENDPOINT_AT as AT, RESULTS } from "./endpoint-counts.ts";

const RESULT_PAIRS = RESULTS.map((result) => `,result="${result}"`);
const ATTEMPTS = rowCounter("attempts", "Tries at endpoints, by status or failure.", AT.results, RESULT_PAIRS);

/** Each of them has a sample for every endpoint that has the first. */
const TTFT_SUMS = [
  rowCounter("ttft_estimates", "Streamed responses of which a time to the first token was expected.", AT.ttftEstimates),
  rowCounter("ttft_expected_seconds", "Times to the first token that were expected of them, added up.", AT.ttftExpectedS),
  rowCounter("ttft_seen_seconds", "Times to the first token that they had, added up.", AT.ttftSeenS),
  rowCounter("ttft_error_seconds", "Absolute differences between the two of each response, added up.", AT.ttftErrorS),
].map((counter) => ({ ...counter, hasZeros: true }));

const RATIO_HELP =
  "Relative errors of what was expected, (seen - expected) / expected without its sign and at most 10, added up; late: it took longer. Of times to the first token.";
const RATIOS = rowCounter("ttft_error_ratio", RATIO_HELP, AT.ttftRatios, [',sign="late"', ',sign="early"']);

export function attemptsText(endpoints: readonly CountedRow[]): string {
  return rowsText(ATTEMPTS, endpoints);
}

/** What was expected of the endpoints, and what came of it. */
export function expectationsText(endpoints: readonly CountedRow[]): string {
  const estimated = endpoints.filter(({ counts }) => counts[AT.ttftEstimates]! > 0);
  const sums = TTFT_SUMS.map((counter) => rowsText(counter, estimated));
  return sums.join("") + rowsText(RATIOS, endpoints);
}
