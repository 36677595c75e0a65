import { Histogram } from "../../core/contract/histogram.ts";
import { REQUEST_SECONDS, TOKEN_COUNTS, TOKEN_SECONDS } from "./buckets.ts";
import { addCounts } from "./count-table.ts";
import { labelPairs, OTHER } from "./exposition.ts";

/** The label's value if there is no API, target, endpoint or status. */
export const NONE = "none";
export const STATUS_CLASSES: readonly string[] = [NONE, "1xx", "2xx", "3xx", "4xx", "5xx"];
export const ERROR_CLASSES: readonly string[] = ["client", "router", "replica"];
/** Reasons of an engine to stop; other words, which a replica may make up, are counted as "other", the last one. */
export const FINISH_REASONS: readonly string[] = [
  ...["stop", "length", "tool_calls", "function_call", "content_filter", "abort", "error", "repetition"],
  ...["end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal"],
  ...["completed", "incomplete", "failed", "max_output_tokens", OTHER],
];

/** Where each count of a row is in its `counts`. Statuses, errors and reasons take as many places as there are of them. */
export const AT = {
  statuses: 0,
  errors: 6,
  inputTokens: 9,
  outputTokens: 10,
  estimatedTokens: 11,
  promptTokens: 12,
  cachedTokens: 13,
  predictedTokens: 14,
  tokenError: 15,
  requestBytes: 16,
  responseBytes: 17,
  finishReasons: 18,
} as const;
const COUNTS = AT.finishReasons + FINISH_REASONS.length;

/** Of an outcome's labels, a row has none but these. */
const ROW_LABELS: readonly string[] = ["api", "target", "endpoint"];

/** What was counted of one API, target and endpoint. */
export type TrafficRow = ReturnType<typeof makeRow>;

type TokenSizes = ReturnType<typeof makeSizes>;

export function makeSizes() {
  return { input: new Histogram(TOKEN_COUNTS), output: new Histogram(TOKEN_COUNTS) };
}

/**
 * The counts of requests by API, target and endpoint, with a limit of rows: one row has all counts of its labels, so a request
 * finds it once, with three look-ups, and builds no key. The caller passes names of the config and the replicas only.
 */
export class TrafficTable {
  /** May be changed at any time; rows that there are stay. */
  maxRows: number;
  #rows = new Map<string, Map<string, Map<string, TrafficRow>>>();
  #size = 0;

  constructor(maxRows: number) {
    this.maxRows = maxRows;
  }

  /** The row if there is one; in a full table else that of the target's other endpoints. */
  find(api: string, target: string, endpoint: string): TrafficRow | undefined {
    const byEndpoint = this.#rows.get(api)?.get(target);
    return byEndpoint?.get(endpoint) ?? (this.#size < this.maxRows ? undefined : byEndpoint?.get(OTHER));
  }

  /**
   * The row, opened if there is none. In a full table it is the one of that target and all other endpoints; with many targets
   * beyond that, the one of all other targets.
   */
  open(api: string, target: string, endpoint: string): TrafficRow {
    if (this.#size < this.maxRows) return this.#rowAt(api, target, endpoint);
    return this.find(api, target, endpoint) ?? this.#rowAt(api, this.#size < 1.25 * this.maxRows ? target : OTHER, OTHER);
  }

  /** When half of the rows are used: adds those of targets and endpoints that are gone to "other". */
  makeRoom(targets: ReadonlySet<string>, endpoints: ReadonlySet<string>): void {
    if (this.#size < this.maxRows / 2) return;
    const all = this.all();
    if (all.every(({ target, endpoint }) => targets.has(target) && endpoints.has(endpoint))) return;
    this.#rows = new Map();
    this.#size = 0;
    for (const row of all) {
      const { api, target, endpoint } = row;
      const into = this.#rowAt(api, targets.has(target) ? target : OTHER, endpoints.has(endpoint) ? endpoint : OTHER);
      addRow(into, row);
    }
  }

  all(): readonly TrafficRow[] {
    return [...this.#rows.values()].flatMap((byTarget) => [...byTarget.values()].flatMap((rows) => [...rows.values()]));
  }

  #rowAt(api: string, target: string, endpoint: string): TrafficRow {
    const byTarget = this.#rows.get(api) ?? new Map<string, Map<string, TrafficRow>>();
    const byEndpoint = byTarget.get(target) ?? new Map<string, TrafficRow>();
    const known = byEndpoint.get(endpoint);
    if (known !== undefined) return known;
    const row = makeRow(api, target, endpoint, labelPairs(ROW_LABELS, [api, target, endpoint]));
    this.#rows.set(api, byTarget);
    byTarget.set(target, byEndpoint);
    byEndpoint.set(endpoint, row);
    this.#size += 1;
    return row;
  }
}

/** One row for each value of the label, with the sums of all rows that have it; the row has no other label. */
export function rowsBy(label: "api" | "target", rows: readonly TrafficRow[]): readonly TrafficRow[] {
  const sums = new Map<string, TrafficRow>();
  for (const row of rows) {
    const sum = sums.get(row[label]) ?? makeRow(row.api, row.target, row.endpoint, labelPairs([label], [row[label]]));
    sums.set(row[label], sum);
    addRow(sum, row);
  }
  return [...sums.values()];
}

/** `pairs`: the labels as text, made once. */
function makeRow(api: string, target: string, endpoint: string, pairs: string) {
  return {
    api,
    target,
    endpoint,
    pairs,
    counts: new Float64Array(COUNTS),
    durations: new Histogram(REQUEST_SECONDS),
    firstBytes: new Histogram(REQUEST_SECONDS),
    // First bytes of streams only.
    firstTokens: new Histogram(REQUEST_SECONDS),
    tokenTimes: new Histogram(TOKEN_SECONDS),
    // Tokens of single requests; undefined until they are asked for.
    sizes: undefined as TokenSizes | undefined,
  };
}

function addRow(into: TrafficRow, from: TrafficRow): void {
  addCounts(into.counts, from.counts);
  into.durations.addAll(from.durations);
  into.firstBytes.addAll(from.firstBytes);
  into.firstTokens.addAll(from.firstTokens);
  into.tokenTimes.addAll(from.tokenTimes);
  if (from.sizes === undefined) return;
  into.sizes ??= makeSizes();
  into.sizes.input.addAll(from.sizes.input);
  into.sizes.output.addAll(from.sizes.output);
}
