import { markdownTable } from "../../support/documents/markdown-table.ts";

/** What one config does with the sessions of one half in one pool. */
export interface Figures {
  readonly sessionsPerHour: number;
  readonly turnsPerHour: number;
  /** To the first token, in seconds. */
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
  readonly hits: number;
  /** Requests that waited in the router. */
  readonly waited: number;
}

export interface Cell {
  readonly pool: string;
  /** Which sessions, or which trace. */
  readonly half: string;
  /** Undefined for a trace that is replayed as it was recorded. */
  readonly perReplica: number | undefined;
  /** By the config's name. */
  readonly figures: Readonly<Record<string, Figures>>;
}

/** Nobody calls less than that a loss. */
const MARGIN = 1.02;

/** One row for each cell; a column has the figures of all configs, in their order. */
export function sessionTable(cells: readonly Cell[], configs: readonly string[]): string {
  const each = ({ figures }: Cell, read: (of: Figures) => string) => configs.map((name) => read(figures[name]!)).join(" / ");
  return markdownTable([
    ["pool", "sessions a replica", "sessions/h", "turns/h", "p50 first token, s", "p99 first token, s"],
    ...cells.map((cell, index) => [
      cells[index - 1]?.pool === cell.pool ? "" : cell.pool,
      `${cell.perReplica}${cell.half === "others" ? ", others" : ""}`,
      each(cell, ({ sessionsPerHour }) => sessionsPerHour.toFixed(1)),
      each(cell, ({ turnsPerHour }) => turnsPerHour.toFixed(0)),
      each(cell, ({ p50 }) => seconds(p50)),
      each(cell, ({ p99 }) => seconds(p99)),
    ]),
  ]);
}

/** A row for each config in each cell. */
export function policyTable(cells: readonly Cell[]): string {
  const rows = cells.flatMap(({ half, perReplica, figures }) =>
    Object.entries(figures).map(([name, { sessionsPerHour, turnsPerHour, p50, p99 }]) => [
      ...[`${perReplica}${half === "others" ? ", others" : ""}`, name],
      ...[sessionsPerHour.toFixed(1), turnsPerHour.toFixed(0), `${seconds(p50)} s`, `${seconds(p99)} s`],
    ]),
  );
  return markdownTable([["sessions a replica", "", "sessions/h", "turns/h", "p50 first token", "p99 first token"], ...rows]);
}

/** Traces that are replayed as they were recorded, where the gate should change nothing. */
export function openTable(cells: readonly Cell[]): string {
  const change = (gate: number, plain: number) => `${gate >= plain ? "+" : ""}${(100 * (gate / plain - 1)).toFixed(2)} %`;
  const rows = cells.map(({ half, figures: { plain, gate } }) => [
    ...[half, `${seconds(plain!.mean)} / ${seconds(gate!.mean)}`, change(gate!.mean, plain!.mean)],
    ...[`${seconds(plain!.p99)} / ${seconds(gate!.p99)}`, change(gate!.p99, plain!.p99)],
    ...[`${percent(plain!.hits)} / ${percent(gate!.hits)}`, String(gate!.waited)],
  ]);
  return markdownTable([["trace", "mean first token, s", "", "p99 first token, s", "", "hits", "requests that waited"], ...rows]);
}

/** In words, where the gate has fewer sessions end, or a later p99 of the first token, than the same config without it. */
export function lossesOf(cells: readonly Cell[]): readonly string[] {
  return cells.flatMap(({ pool, half, perReplica, figures: { plain, gate } }) => {
    const fewer = plain!.sessionsPerHour > MARGIN * gate!.sessionsPerHour;
    const later = gate!.p99 > MARGIN * plain!.p99;
    return [
      ...(fewer ? [`sessions/h ${plain!.sessionsPerHour.toFixed(1)} -> ${gate!.sessionsPerHour.toFixed(1)}`] : []),
      ...(later ? [`p99 ${seconds(plain!.p99)} -> ${seconds(gate!.p99)} s`] : []),
    ].map((text) => `${pool}, ${perReplica} a replica, ${half}: ${text}`);
  });
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
const seconds = (value: number) => (value < 10 ? value.toFixed(2) : value.toFixed(value < 100 ? 1 : 0));
