import { type Input, UsageError } from "../../../config/command.ts";
import { type FeatureText, featureTexts } from "../../../config/feature.ts";
import { didYouMean } from "../../../config/read/problems.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import { counted, milliseconds, whole } from "../../../core/report/number-text.ts";
import { columnTable } from "../../../core/report/table.ts";
import { cut, cutMiddle, widthOf } from "../../../core/report/text-width.ts";
import type { EndpointStatus } from "../../admin/endpoint-schema.ts";
import type { EndpointFigures, PoolFigures } from "../../admin/figures/request-figures.ts";
import type { Status } from "../../admin/status.ts";
import { type Size, watch } from "../admin/watch.ts";
import { badFirst, reasonLines } from "../show/endpoint-table.ts";
import { poolLine } from "./status.ts";

const WARNINGS_SHOWN = 3;
/** Where the terminal is narrow, names are cut to a third of it, and to no less than this. */
const LEAST_NAME = 16;
/** Stands behind the titles where columns are left out. */
const LEFT_OUT = " …";

/** What requests met lately. A router of another version may have less of it, or none. */
type Figures = Partial<PoolFigures & EndpointFigures>;

type Value = string | number | null | undefined;

interface Column {
  readonly title: string;
  /** Its name for --sort; "" if one can't sort by it. */
  readonly key: string;
  /** Null or undefined where nothing is known. */
  readonly value: (row: EndpointStatus) => Value;
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
  { title: "refused", key: "refused", value: ({ figures }) => figures?.overloads, text: whole, rank: 9 },
  { title: "TTFT p50", key: "ttft", value: ({ figures }) => figures?.ttftP50Ms, text: milliseconds, rank: 5 },
  { title: "p95", key: "", value: ({ figures }) => figures?.ttftP95Ms, text: milliseconds, rank: 8 },
  { title: "hit rate", key: "hits", value: ({ figures }) => figures?.hitRate, text: percent, rank: 10 },
  { title: "tokens/s", key: "tokens", value: ({ figures }) => figures?.outputTokensPerS, text: rate, rank: 11 },
  { title: "prefill tokens", key: "", value: ({ prefillTokens }) => prefillTokens, text: whole, rank: 12 },
  { title: "running", key: "", value: ({ running }) => running, text: whole, rank: 13 },
  { title: "connections", key: "", value: ({ connections }) => connections, text: whole, rank: 14 },
];

export const SORT_KEYS: readonly string[] = COLUMNS.map(({ key }) => key).filter((key) => key !== "");

/** `signalbox top`: draws a table of the replicas until a signal comes. Returns the exit code. */
export function top(input: Input, registry: ReadonlyMap<string, Definition>): Promise<number> {
  const texts = featureTexts(registry);
  const sort = input.text("sort") ?? "name";
  if (!SORT_KEYS.includes(sort))
    throw new UsageError(`--sort wants one of ${SORT_KEYS.join(", ")}, not "${sort}". ${didYouMean(sort, SORT_KEYS)}`.trimEnd());
  return watch(input, (now, size) => topLines(now, texts, sort, size).map(input.asCalled));
}

/** The pool in a few lines, then a table of its replicas that fits; names sort upwards, numbers downwards. */
export function topLines(now: Status, texts: readonly FeatureText[], sort: string, { columns, rows }: Size): readonly string[] {
  const hidden = now.warnings.length - WARNINGS_SHOWN;
  const head = [
    poolLine(now),
    totalsLine(now),
    ...texts.flatMap((text) => text.top?.(now) ?? []),
    ...now.warnings.slice(0, WARNINGS_SHOWN).map((warning) => `! ${warning}`),
    ...(hidden > 0 ? [`! and ${hidden} more, which signalbox status lists`] : []),
    "",
  ];
  const inOrder = sorted(now.endpoints, sort);
  const endpoints = sort === "name" ? badFirst(inOrder) : inOrder;
  const reasons = new Map(endpoints.map((endpoint) => [endpoint, reasonLine(endpoint, columns)]));
  // One line for the titles, one for what does not fit.
  const shown = fittingRows(endpoints, reasons, Math.max(1, rows - head.length - 2));
  const more = endpoints.length - shown.length;
  const known = COLUMNS.filter(({ value }) => endpoints.some((row) => isKnown(value(row))));
  const [titles = "", ...lines] = fittingTable(known, shown, columns);
  const body = shown.flatMap((endpoint, index) => [lines[index]!, ...reasons.get(endpoint)!]);
  return [...head, titles, ...body, ...(more > 0 ? [`… and ${counted(more, "more replica")}`] : [])];
}

/** Why a replica is in its phase, for the line below its own: what one sees at a glance, so it is one line. */
function reasonLine(endpoint: EndpointStatus, columns: number): readonly string[] {
  const [text] = reasonLines(endpoint, Number.POSITIVE_INFINITY);
  return text === undefined ? [] : [cut(text, columns)];
}

/** The first replicas whose lines fit in `room`; all of them if one line more is enough. */
function fittingRows(
  endpoints: readonly EndpointStatus[],
  reasons: ReadonlyMap<EndpointStatus, readonly string[]>,
  room: number,
): readonly EndpointStatus[] {
  let height = 0;
  let fitting = 0;
  for (const endpoint of endpoints) {
    height += 1 + reasons.get(endpoint)!.length;
    if (height <= room) fitting++;
  }
  return height <= room + 1 ? endpoints : endpoints.slice(0, Math.max(1, fitting));
}

function fittingTable(known: readonly Column[], rows: readonly EndpointStatus[], columns: number): readonly string[] {
  const isFitting = (lines: readonly string[]) => lines.every((line) => widthOf(line) <= columns);
  const asTold = ([titles = "", ...others]: readonly string[], isWhole: boolean) => [
    isWhole ? titles : titles + LEFT_OUT,
    ...others,
  ];
  const whole = tableOf(known, rows, columns);
  if (isFitting(whole)) return whole;
  const nameColumns = Math.max(LEAST_NAME, Math.floor(columns / 3));
  for (let most = known.length; ; most--) {
    const ranks = known.map(({ rank }) => rank).sort((one, other) => one - other);
    const kept = known.filter(({ rank }) => rank <= (ranks[most - 1] ?? 0));
    const lines = asTold(tableOf(kept, rows, nameColumns), kept.length === known.length);
    if (most <= 1 || isFitting(lines)) return lines;
  }
}

function tableOf(columns: readonly Column[], rows: readonly EndpointStatus[], nameColumns: number): readonly string[] {
  const shown = columns.map(({ title, value, text, rank }) => {
    const textOf = (row: EndpointStatus) => cell(value(row), text);
    const cellOf = rank === 0 ? (row: EndpointStatus) => cutMiddle(textOf(row), nameColumns) : textOf;
    return [title, cellOf, rank < 2 ? "left" : "right"] as const;
  });
  return columnTable(shown, rows);
}

function cell(value: Value, text: Column["text"]): string {
  if (!isKnown(value)) return "-";
  return typeof value === "string" ? value : text(value);
}

function sorted(endpoints: readonly EndpointStatus[], sort: string): readonly EndpointStatus[] {
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

const isKnown = <Known>(value: Known): value is NonNullable<Known> => value !== null && value !== undefined;

/** All replicas together; rates only where the router counts. */
function totalsLine(now: Status): string {
  const { traffic, endpoints } = now;
  const inFlight = endpoints.reduce((sum, endpoint) => sum + endpoint.inFlight, 0);
  const errors = (traffic?.routerErrors ?? 0) + (traffic?.replicaErrors ?? 0);
  const requests = perSecond(traffic, traffic?.requests);
  const tokens = traffic?.outputTokensPerS;
  const parts = [
    `${counted(inFlight, "request")} in flight`,
    ...(requests === undefined ? [] : [`${rate(requests)} a second`, `${rate(perSecond(traffic, errors) ?? 0)} errors a second`]),
    ...(isKnown(tokens) ? [`${rate(tokens)} tokens a second`] : []),
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
