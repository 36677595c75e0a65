import type { EndpointStatus } from "../../admin/api/endpoint-schema.ts";
import type { Status } from "../../admin/status.ts";
import { FEATURES } from "../../features/list.ts";
import { milliseconds, whole } from "../../report/number-text.ts";
import type { EndpointFigures, PoolFigures } from "../../state/request-figures.ts";
import type { Input } from "../frame/command.ts";
import { UsageError } from "../frame/usage.ts";
import { columnTable } from "../show/table.ts";
import { widthOf } from "../show/text-width.ts";
import { type Size, watch } from "../show/watch.ts";
import { poolLine } from "./status.ts";

const WARNINGS_SHOWN = 3;

/** What requests met lately. A router of another version may have less of it, or none. */
type Figures = Partial<PoolFigures & EndpointFigures>;

type Row = Omit<EndpointStatus, "figures"> & { readonly figures?: Figures };
type Value = string | number | null | undefined;

interface Column {
  readonly title: string;
  /** Its name for --sort; "" if one can't sort by it. */
  readonly key: string;
  /** Null or undefined where nothing is known. */
  readonly value: (row: Row) => Value;
  readonly text: (value: number) => string;
  /** Columns with the highest numbers are left out first where the terminal is narrow. */
  readonly rank: number;
}

const COLUMNS: readonly Column[] = [
  { title: "replica", key: "name", value: ({ name }) => name, text: String, rank: 0 },
  { title: "phase", key: "", value: ({ phase }) => phase, text: String, rank: 1 },
  { title: "in flight", key: "inflight", value: ({ inFlight }) => inFlight, text: whole, rank: 2 },
  { title: "waiting", key: "waiting", value: ({ waiting }) => waiting, text: whole, rank: 6 },
  { title: "KV cache", key: "kv", value: ({ kvUsage }) => kvUsage, text: percent, rank: 7 },
  { title: "requests/s", key: "requests", value: ({ figures }) => perSecond(figures, figures?.requests), text: rate, rank: 3 },
  { title: "errors", key: "errors", value: ({ figures }) => figures?.replicaErrors, text: whole, rank: 4 },
  { title: "TTFT p50", key: "ttft", value: ({ figures }) => figures?.ttftP50Ms, text: milliseconds, rank: 5 },
  { title: "p95", key: "", value: ({ figures }) => figures?.ttftP95Ms, text: milliseconds, rank: 8 },
  { title: "hit rate", key: "hits", value: ({ figures }) => figures?.hitRate, text: percent, rank: 9 },
  { title: "tokens/s", key: "tokens", value: ({ figures }) => figures?.outputTokensPerS, text: rate, rank: 10 },
  { title: "prefill tokens", key: "", value: ({ prefillTokens }) => prefillTokens, text: whole, rank: 11 },
  { title: "running", key: "", value: ({ running }) => running, text: whole, rank: 12 },
  { title: "connections", key: "", value: ({ connections }) => connections, text: whole, rank: 13 },
];

export const SORT_KEYS: readonly string[] = COLUMNS.map(({ key }) => key).filter((key) => key !== "");

/** `signalbox top`: draws a table of the replicas until a signal comes. Returns the exit code. */
export function top(input: Input): Promise<number> {
  const sort = input.text("sort") ?? "name";
  if (!SORT_KEYS.includes(sort)) throw new UsageError(`--sort wants one of ${SORT_KEYS.join(", ")}, not "${sort}".`);
  return watch(input, (now, size) => topLines(now, sort, size));
}

/** The pool in a few lines, then a table of its replicas that fits; names sort upwards, numbers downwards. */
export function topLines(now: Status, sort: string, { columns, rows }: Size): readonly string[] {
  const hidden = now.warnings.length - WARNINGS_SHOWN;
  const head = [
    poolLine(now),
    totalsLine(now),
    ...FEATURES.flatMap(({ text }) => text?.top?.(now) ?? []),
    ...now.warnings.slice(0, WARNINGS_SHOWN).map((warning) => `! ${warning}`),
    ...(hidden > 0 ? [`! and ${hidden} more, which signalbox status lists`] : []),
    "",
  ];
  const endpoints: readonly Row[] = sorted(now.endpoints, sort);
  // One line for the titles, one for what does not fit.
  const room = Math.max(1, rows - head.length - 2);
  const shown = endpoints.length <= room + 1 ? endpoints : endpoints.slice(0, room);
  const more = endpoints.length - shown.length;
  const known = COLUMNS.filter(({ value }) => endpoints.some((row) => isKnown(value(row))));
  return [...head, ...fittingTable(known, shown, columns), ...(more > 0 ? [`… and ${more} more replicas`] : [])];
}

function fittingTable(known: readonly Column[], rows: readonly Row[], columns: number): readonly string[] {
  for (let most = known.length; ; most--) {
    const ranks = known.map(({ rank }) => rank).sort((one, other) => one - other);
    const kept = known.filter(({ rank }) => rank <= (ranks[most - 1] ?? 0));
    const lines = tableOf(kept, rows);
    if (most <= 1 || lines.every((line) => widthOf(line) <= columns)) return lines;
  }
}

function tableOf(columns: readonly Column[], rows: readonly Row[]): readonly string[] {
  const shown = columns.map(({ title, value, text, rank }) => {
    return [title, (row: Row) => cell(value(row), text), rank < 2 ? "left" : "right"] as const;
  });
  return columnTable(shown, rows);
}

function cell(value: Value, text: Column["text"]): string {
  if (!isKnown(value)) return "-";
  return typeof value === "string" ? value : text(value);
}

function sorted(endpoints: readonly Row[], sort: string): readonly Row[] {
  const { value } = COLUMNS.find(({ key }) => key === sort) ?? COLUMNS[0]!;
  return [...endpoints].sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (typeof a === "string" && typeof b === "string") return BY_NAME.compare(a, b);
    return numberOf(b) - numberOf(a);
  });
}

/** "gpu-2" comes before "gpu-10". */
const BY_NAME = new Intl.Collator("en", { numeric: true });

const numberOf = (value: Value) => (typeof value === "number" ? value : -1);

const isKnown = (value: Value): value is string | number => value !== null && value !== undefined;

/** All replicas together; rates only where the router counts. */
function totalsLine(now: Omit<Status, "traffic"> & { readonly traffic?: Figures }): string {
  const { traffic, endpoints } = now;
  const inFlight = endpoints.reduce((sum, endpoint) => sum + endpoint.inFlight, 0);
  const errors = (traffic?.routerErrors ?? 0) + (traffic?.replicaErrors ?? 0);
  const requests = perSecond(traffic, traffic?.requests);
  const parts = [
    `${whole(inFlight)} requests in flight`,
    ...(requests === undefined ? [] : [`${rate(requests)} a second`, `${rate(perSecond(traffic, errors) ?? 0)} errors a second`]),
    ...(traffic?.outputTokensPerS === undefined ? [] : [`${rate(traffic.outputTokensPerS)} tokens a second`]),
  ];
  const minutes = traffic?.windowS === undefined ? "" : ` (in the last ${Math.max(1, Math.round(traffic.windowS / 60))} min)`;
  return `${parts.join(", ")}${minutes}`;
}

function perSecond(figures: Figures | undefined, count: number | undefined): number | undefined {
  if (figures?.windowS === undefined || count === undefined) return undefined;
  return count / Math.max(1, figures.windowS);
}

function rate(value: number): string {
  return value >= 100 ? whole(value) : value.toFixed(value >= 10 ? 1 : 2);
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}
