import type { Histogram } from "../../core/contract/histogram.ts";
import { bucketLines } from "./buckets.ts";
import { familyHead, labelPairs } from "./exposition.ts";
import { NONE, type TrafficRow } from "./traffic-table.ts";

// The same measurements under the names and labels of OpenTelemetry's conventions for generative AI, as Prometheus writes them.
// The conventions have the status "Development", so the names may change.

/** The convention's words for what an API does; an API without one keeps its own name. */
const OPERATIONS: Readonly<Record<string, string>> = {
  "chat-completions": "chat",
  responses: "chat",
  messages: "chat",
  completions: "text_completion",
  generate: "text_completion",
  embeddings: "embeddings",
};

type Read = (row: TrafficRow) => Histogram | undefined;

const FIRST_HELP = "Time to generate the first token, for streamed responses.";
const TOKEN_HELP = "Time per output token after the first token, for streamed responses.";
const SERVER: readonly (readonly [name: string, help: string, of: Read])[] = [
  ["gen_ai_server_request_duration_seconds", "Generative AI server request duration.", ({ durations }) => durations],
  ["gen_ai_server_time_to_first_token_seconds", FIRST_HELP, ({ firstTokens }) => firstTokens],
  ["gen_ai_server_time_per_output_token_seconds", TOKEN_HELP, ({ tokenTimes }) => tokenTimes],
];

const USAGE_NAME = "gen_ai_client_token_usage";

/** With the API, because several are the same operation, and no two series may have the same labels. */
const LABELS = ["gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model", "server_address", "api"];

/** The rows under those names; requests that no parser read are in none of them. */
export function genAiText(rows: readonly TrafficRow[]): string {
  const labelled = rows.filter(({ api }) => api !== NONE).map((row) => ({ row, pairs: pairsOf(row) }));
  const text = SERVER.map(([name, help, of]) => familyHead(name, "histogram", help) + samples(name, of, labelled));
  return (
    text.join("") +
    familyHead(USAGE_NAME, "histogram", "Number of input and output tokens of a request.") +
    samples(USAGE_NAME, ({ sizes }) => sizes?.input, labelled, ',gen_ai_token_type="input"') +
    samples(USAGE_NAME, ({ sizes }) => sizes?.output, labelled, ',gen_ai_token_type="output"')
  );
}

function samples(name: string, of: Read, rows: readonly Labelled[], more = ""): string {
  const shown = rows.map(({ row, pairs }) => {
    const histogram = of(row);
    return histogram === undefined || histogram.count === 0 ? "" : bucketLines(name, pairs + more, histogram);
  });
  return shown.join("");
}

interface Labelled {
  readonly row: TrafficRow;
  readonly pairs: string;
}

/** The convention wants a provider; whose models a replica serves is not known here. Replicas are named, never addressed. */
function pairsOf({ api, target, endpoint }: TrafficRow): string {
  return labelPairs(LABELS, [OPERATIONS[api] ?? api, "signalbox", target, endpoint, api]);
}
