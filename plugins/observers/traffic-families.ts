import type { Histogram } from "../../core/contract/histogram.ts";
import { bucketLines } from "./buckets.ts";
import { type RowCounter, rowCounter, rowsText } from "./count-table.ts";
import { familyHead } from "./exposition.ts";
import { AT, ERROR_CLASSES, FINISH_REASONS, NONE, rowsBy, STATUS_CLASSES, type TrafficRow } from "./traffic-table.ts";

const pairsOf = (label: string, values: readonly string[]) => values.map((value) => `,${label}="${value}"`);

const REQUESTS_HELP = "Requests that have ended, by the endpoint that was tried last and the class of the status.";
const ERRORS_HELP = "Requests that failed, by whose fault it was: the client's, the router's or the replica's.";
const OUTPUT_HELP = "Generated tokens, as replicas report them, or counted in the stream where they report none.";
const ESTIMATED_HELP = "Of the generated tokens, those that were counted in streams because nothing was reported.";

const COUNTERS: readonly RowCounter[] = [
  rowCounter("requests", REQUESTS_HELP, AT.statuses, pairsOf("status", STATUS_CLASSES)),
  { ...rowCounter("errors", ERRORS_HELP, AT.errors, pairsOf("class", ERROR_CLASSES)), hasZeros: true },
  rowCounter("input_tokens", "Prompt tokens, as replicas report them.", AT.inputTokens),
  rowCounter("output_tokens", OUTPUT_HELP, AT.outputTokens),
  rowCounter("estimated_output_tokens", ESTIMATED_HELP, AT.estimatedTokens),
  rowCounter("prefix_prompt_tokens", "Prompt tokens of requests whose response reports how many were cached.", AT.promptTokens),
  rowCounter(
    "prefix_reported_tokens",
    "Prompt tokens that the replica's cache held, as the replica reports them.",
    AT.cachedTokens,
  ),
  rowCounter(
    "prefix_predicted_tokens",
    "Prompt tokens of the same requests that the router believed cached.",
    AT.predictedTokens,
  ),
  rowCounter(
    "prefix_error_tokens",
    "Absolute differences between reported and predicted tokens of each request, added up.",
    AT.tokenError,
  ),
];

const FINISH_HELP = "Responses by the reason that the replica gave for their end.";
const FINISHES = rowCounter("finish_reasons", FINISH_HELP, AT.finishReasons, pairsOf("reason", FINISH_REASONS));

const BYTES: readonly RowCounter[] = [
  { ...rowCounter("request_bytes", "Bytes of request bodies.", AT.requestBytes), hasZeros: true },
  { ...rowCounter("response_bytes", "Bytes of response bodies that came from replicas.", AT.responseBytes), hasZeros: true },
];

/** A histogram of which each row has one series. */
type RowHistogram = readonly [name: string, help: string, of: (row: TrafficRow) => Histogram];

const DURATION_HELP = "Seconds from a request's head to the end of its response.";
const TOKEN_HELP = "Seconds from the first body byte to the end of a streamed response, for each output token after the first.";
const FIRST_TOKEN_HELP =
  "Seconds from the last byte of a request to the first body byte of its response, for streamed responses.";
const FIRST_BYTE_HELP =
  "Seconds from the last byte of a request to the first body byte of its response, streamed or not. Without streaming that is the whole generation.";

const HISTOGRAMS: readonly RowHistogram[] = [
  ["request_duration_seconds", DURATION_HELP, ({ durations }) => durations],
  ["time_to_first_token_seconds", FIRST_TOKEN_HELP, ({ firstTokens }) => firstTokens],
  ["time_per_output_token_seconds", TOKEN_HELP, ({ tokenTimes }) => tokenTimes],
];
const FIRST_BYTES: RowHistogram = ["time_to_first_byte_seconds", FIRST_BYTE_HELP, ({ firstBytes }) => firstBytes];

/** The families that have all labels of the rows. */
export function trafficText(rows: readonly TrafficRow[]): string {
  return (
    COUNTERS.map((counter) => rowsText(counter, rows)).join("") + HISTOGRAMS.map((one) => histogramsText(one, rows)).join("")
  );
}

export function finishText(rows: readonly TrafficRow[]): string {
  return rowsText(FINISHES, rowsBy("target", rows));
}

/** Requests that no parser read have no bytes that count. */
export function bytesText(rows: readonly TrafficRow[]): string {
  const byApi = rowsBy("api", rows).filter(({ api }) => api !== NONE);
  return BYTES.map((counter) => rowsText(counter, byApi)).join("");
}

export function firstBytesText(rows: readonly TrafficRow[]): string {
  return histogramsText(FIRST_BYTES, rowsBy("api", rows));
}

function histogramsText([bare, help, of]: RowHistogram, rows: readonly TrafficRow[]): string {
  const name = `signalbox_${bare}`;
  let text = familyHead(name, "histogram", help);
  for (const row of rows) if (of(row).count > 0) text += bucketLines(name, row.pairs, of(row));
  return text;
}
