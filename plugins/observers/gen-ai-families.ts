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

interface GenAiHistogram {
  readonly name: string;
  readonly help: string;
  readonly of: (row: TrafficRow) => Histogram | undefined;
  /** Further labels. */
  readonly pairs?: string;
}

const SERVER: readonly GenAiHistogram[] = [
  {
    name: "gen_ai_server_request_duration_seconds",
    help: "Generative AI server request duration.",
    of: ({ durations }) => durations,
  },
  {
    name: "gen_ai_server_time_to_first_token_seconds",
    help: "Time to generate the first token, for streamed responses.",
    of: ({ firstTokens }) => firstTokens,
  },
  {
    name: "gen_ai_server_time_per_output_token_seconds",
    help: "Time per output token after the first token, for streamed responses.",
    of: ({ tokenTimes }) => tokenTimes,
  },
];

const USAGE_NAME = "gen_ai_client_token_usage";
const USAGE: readonly GenAiHistogram[] = [
  { name: USAGE_NAME, help: "", of: ({ sizes }) => sizes?.input, pairs: 'gen_ai_token_type="input"' },
  { name: USAGE_NAME, help: "", of: ({ sizes }) => sizes?.output, pairs: 'gen_ai_token_type="output"' },
];

/** With the API, because several are the same operation, and no two series may have the same labels. */
const LABELS = ["gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model", "server_address", "api"];

/** The rows under those names; requests that no parser read are in none of them. */
export function genAiText(rows: readonly TrafficRow[]): string {
  const labelled = rows.filter(({ api }) => api !== NONE).map((row) => ({ row, pairs: pairsOf(row) }));
  const text = SERVER.map((one) => familyHead(one.name, "histogram", one.help) + samples(one, labelled));
  const usage = USAGE.map((one) => samples(one, labelled));
  return [...text, familyHead(USAGE_NAME, "histogram", "Number of input and output tokens of a request."), ...usage].join("");
}

function samples({ name, of, pairs: more = "" }: GenAiHistogram, rows: readonly Labelled[]): string {
  let text = "";
  for (const { row, pairs } of rows) {
    const histogram = of(row);
    if (histogram === undefined || histogram.count === 0) continue;
    text += bucketLines(name, more === "" ? pairs : `${pairs},${more}`, histogram);
  }
  return text;
}

interface Labelled {
  readonly row: TrafficRow;
  readonly pairs: string;
}

/** The convention wants a provider; whose models a replica serves is not known here. Replicas are named, never addressed. */
function pairsOf({ api, target, endpoint }: TrafficRow): string {
  return labelPairs(LABELS, [OPERATIONS[api] ?? api, "signalbox", target, endpoint, api]);
}
