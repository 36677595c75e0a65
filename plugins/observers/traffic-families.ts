import { type Buckets, bucketLines, REQUEST_SECONDS } from "./buckets.ts";
import { familyHead } from "./exposition.ts";
import { AT, ERROR_CLASSES, STATUS_CLASSES, TOKEN_SECONDS, type TrafficRow } from "./traffic-table.ts";

/** A counter of which each row has one sample, or one for each value of a further label. */
interface RowCounter {
  readonly name: string;
  readonly help: string;
  /** Where the first of its numbers is in a row's `counts`. */
  readonly at: number;
  readonly label?: string;
  readonly values?: readonly string[];
  /** Shows zeros too, so that the first increase is seen: rates know nothing of a sample that was not there before. */
  readonly hasZeros?: boolean;
}

const COUNTERS: readonly RowCounter[] = [
  {
    name: "signalbox_requests_total",
    help: "Requests that have ended, by the endpoint that was tried last and the class of the status.",
    at: AT.statuses,
    label: "status",
    values: STATUS_CLASSES,
  },
  {
    name: "signalbox_errors_total",
    help: "Requests that failed, by whose fault it was: the client's, the router's or the replica's.",
    at: AT.errors,
    label: "class",
    values: ERROR_CLASSES,
    hasZeros: true,
  },
  { name: "signalbox_input_tokens_total", help: "Prompt tokens, as replicas report them.", at: AT.inputTokens },
  {
    name: "signalbox_output_tokens_total",
    help: "Generated tokens, as replicas report them, or counted in the stream where they report none.",
    at: AT.outputTokens,
  },
  {
    name: "signalbox_estimated_output_tokens_total",
    help: "Of the generated tokens, those that were counted in streams because nothing was reported.",
    at: AT.estimatedTokens,
  },
  {
    name: "signalbox_prefix_prompt_tokens_total",
    help: "Prompt tokens of requests whose response reports how many were cached.",
    at: AT.promptTokens,
  },
  {
    name: "signalbox_prefix_reported_tokens_total",
    help: "Prompt tokens that the replica's cache held, as the replica reports them.",
    at: AT.cachedTokens,
  },
  {
    name: "signalbox_prefix_predicted_tokens_total",
    help: "Prompt tokens of the same requests that the router believed cached.",
    at: AT.predictedTokens,
  },
  {
    name: "signalbox_prefix_error_tokens_total",
    help: "Absolute differences between reported and predicted tokens of each request, added up.",
    at: AT.tokenError,
  },
];

/** A histogram of which each row has one series. */
interface RowHistogram {
  readonly name: string;
  readonly help: string;
  readonly bounds: readonly number[];
  readonly of: (row: TrafficRow) => Buckets;
}

const HISTOGRAMS: readonly RowHistogram[] = [
  {
    name: "signalbox_request_duration_seconds",
    help: "Seconds from a request's head to the end of its response.",
    bounds: REQUEST_SECONDS,
    of: ({ durations }) => durations,
  },
  {
    name: "signalbox_time_to_first_token_seconds",
    help: "Seconds from the last byte of a request to the first body byte of its response, for streamed responses.",
    bounds: REQUEST_SECONDS,
    of: ({ firstTokens }) => firstTokens,
  },
  {
    name: "signalbox_time_per_output_token_seconds",
    help: "Seconds from the first body byte to the end of a streamed response, for each output token after the first.",
    bounds: TOKEN_SECONDS,
    of: ({ tokenTimes }) => tokenTimes,
  },
];

/** The families of the rows as text. */
export function trafficText(rows: readonly TrafficRow[]): string {
  return [...COUNTERS.map((counter) => counterText(counter, rows)), ...HISTOGRAMS.map((one) => histogramText(one, rows))].join(
    "",
  );
}

function counterText({ name, help, at, label, values, hasZeros = false }: RowCounter, rows: readonly TrafficRow[]): string {
  let text = familyHead(name, "counter", help);
  for (const { counts, pairs } of rows) {
    if (values === undefined) text += counts[at] === 0 ? "" : `${name}{${pairs}} ${counts[at]}\n`;
    else
      for (let index = 0; index < values.length; index++) {
        const count = counts[at + index]!;
        if (count > 0 || hasZeros) text += `${name}{${pairs},${label}="${values[index]}"} ${count}\n`;
      }
  }
  return text;
}

function histogramText({ name, help, bounds, of }: RowHistogram, rows: readonly TrafficRow[]): string {
  let text = familyHead(name, "histogram", help);
  for (const row of rows) text += bucketLines(name, row.pairs, bounds, of(row));
  return text;
}
