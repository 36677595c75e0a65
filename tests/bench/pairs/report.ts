import { markdownTable } from "../../support/documents/markdown-table.ts";

/** What one config does. */
export interface Figures {
  /** To the first token, in seconds. */
  readonly mean: number;
  readonly p99: number;
  /** Between tokens, in milliseconds. */
  readonly tokenP99: number;
  /** Requests within both limits: of all, and in a second. */
  readonly share: number;
  readonly goodput: number;
  /** Of the served requests, those that two replicas shared. */
  readonly pairs: number;
}

/** One traffic on one pool. */
export interface Cell {
  readonly traffic: string;
  /** What its limits are, in words. */
  readonly limits: string;
  /** How many replicas compute prompts for the others; undefined where all do the same. */
  readonly prefillers: number | undefined;
  /** By the decider's name. */
  readonly figures: Readonly<Record<string, Figures>>;
}

/** Nobody calls less than that a loss. */
const MARGIN = 1.02;

/** A row for each decider on each pool. */
export function pairTable(cells: readonly Cell[]): string {
  const rows = cells.flatMap((cell, index) =>
    Object.entries(cell.figures).map(([decider, figures], at) => [
      at === 0 && cells[index - 1]?.traffic !== cell.traffic ? `${cell.traffic} (${cell.limits})` : "",
      at > 0 ? "" : cell.prefillers === undefined ? "none" : String(cell.prefillers),
      decider,
      ...[seconds(figures.mean), seconds(figures.p99), figures.tokenP99.toFixed(0)],
      ...[percent(figures.share), figures.goodput.toFixed(3), percent(figures.pairs)],
    ]),
  );
  const head = ["traffic", "replicas for prompts", "decider", "mean, s", "p99, s", "between tokens p99, ms"];
  return markdownTable([[...head, "within the limits", "a second", "pairs"], ...rows]);
}

/** In words, where the decider by cost has less within the limits than the better of always and never. */
export function lossesOf(cells: readonly Cell[]): readonly string[] {
  return cells.flatMap(({ traffic, prefillers, figures: { cost, always, never } }) => {
    if (cost === undefined || always === undefined || never === undefined) return [];
    const best = Math.max(always.goodput, never.goodput);
    if (best <= MARGIN * cost.goodput) return [];
    return [`${traffic}, ${prefillers} for prompts: ${cost.goodput.toFixed(3)}, not ${best.toFixed(3)} a second`];
  });
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
const seconds = (value: number) => (value < 10 ? value.toFixed(2) : value.toFixed(value < 100 ? 1 : 0));
