import { addBuckets, type Buckets, makeBuckets, REQUEST_SECONDS } from "./buckets.ts";
import { labelPairs, OTHER } from "./exposition.ts";

/** Upper ends of buckets for the time of one output token: engines need between a millisecond and a second. */
export const TOKEN_SECONDS: readonly number[] = [
  ...[0.001, 0.002, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03],
  ...[0.05, 0.075, 0.1, 0.2, 0.5, 1, 10],
];
/** The same for tokens of one request, as OpenTelemetry's conventions have them. */
export const TOKEN_COUNTS: readonly number[] = Array.from({ length: 14 }, (_, power) => 4 ** power);

export const STATUS_CLASSES: readonly string[] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];
export const ERROR_CLASSES: readonly string[] = ["client", "router", "replica"];

/** Where each count of a row is in its `counts`. Statuses and errors take as many places as there are classes. */
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
} as const;
const COUNTS = 16;

/** Of an outcome's labels, a row has none but these. */
const ROW_LABELS: readonly string[] = ["api", "target", "endpoint"];

/** What was counted of one API, target and endpoint. */
export interface TrafficRow {
  readonly api: string;
  readonly target: string;
  readonly endpoint: string;
  /** The labels as text, made once. */
  readonly pairs: string;
  readonly counts: Float64Array;
  readonly durations: Buckets;
  readonly firstTokens: Buckets;
  readonly tokenTimes: Buckets;
  /** Tokens of single requests; undefined until they are asked for. */
  sizes: TokenSizes | undefined;
}

interface TokenSizes {
  readonly input: Buckets;
  readonly output: Buckets;
}

export function makeSizes(): TokenSizes {
  return { input: makeBuckets(TOKEN_COUNTS), output: makeBuckets(TOKEN_COUNTS) };
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
    const row = makeRow(api, target, endpoint);
    this.#rows.set(api, byTarget);
    byTarget.set(target, byEndpoint);
    byEndpoint.set(endpoint, row);
    this.#size += 1;
    return row;
  }
}

function makeRow(api: string, target: string, endpoint: string): TrafficRow {
  return {
    api,
    target,
    endpoint,
    pairs: labelPairs(ROW_LABELS, [api, target, endpoint]),
    counts: new Float64Array(COUNTS),
    durations: makeBuckets(REQUEST_SECONDS),
    firstTokens: makeBuckets(REQUEST_SECONDS),
    tokenTimes: makeBuckets(TOKEN_SECONDS),
    sizes: undefined,
  };
}

function addRow(into: TrafficRow, from: TrafficRow): void {
  addBuckets(into.counts, from.counts);
  addBuckets(into.durations, from.durations);
  addBuckets(into.firstTokens, from.firstTokens);
  addBuckets(into.tokenTimes, from.tokenTimes);
  if (from.sizes === undefined) return;
  into.sizes ??= makeSizes();
  addBuckets(into.sizes.input, from.sizes.input);
  addBuckets(into.sizes.output, from.sizes.output);
}
