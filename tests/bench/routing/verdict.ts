import type { Cell } from "./matrix.ts";
import { SHARED_PROMPTS } from "./shared-prompt.ts";

/** The names under which the default config's results stand, with what a router knows and with the exact state. */
export const OURS = "default";
export const EXACT = "exact state";

/** One policy in one cell; times to the first token in seconds. */
export interface Figures {
  readonly mean: number;
  readonly p99: number;
  /** Between two tokens of a response, in seconds: the median. */
  readonly betweenTokens: number;
  /** Share of the requests that got their complete output. */
  readonly completed: number;
}

/** By the policy's name. */
export type CellFigures = ReadonlyMap<string, Figures>;

export interface Best {
  readonly policy: string;
  readonly seconds: number;
}

export interface Verdict {
  readonly cell: Cell;
  readonly ours: Figures;
  /** Of the other policies, by mean and by p99. */
  readonly bestMean: Best;
  readonly bestP99: Best;
  /** Ours / best, ours / exact state, and the time between tokens to the shortest. */
  readonly meanRatio: number;
  readonly p99Ratio: number;
  readonly exactRatio: number;
  readonly tokenRatio: number;
  /** The pool can't serve this load: with any policy and with the exact state, requests wait for more than a minute on average. */
  readonly isOverload: boolean;
  readonly misses: readonly Miss[];
}

/** What a cell does not hold. */
export type Miss = "mean" | "p99" | "exact" | "tokens" | "completed";

/** How much worse than another policy counts as equal. */
const MARGIN = 1.02;
const EXACT_MARGIN = 1.07;
const OVERLOAD_S = 60;

export function judge(cell: Cell, figures: CellFigures): Verdict {
  const ours = figures.get(OURS)!;
  const exact = figures.get(EXACT)!;
  const others = [...figures].filter(([name]) => name !== OURS && name !== EXACT);
  const best = (read: (of: Figures) => number): Best =>
    others
      .map(([policy, of]) => ({ policy, seconds: read(of) }))
      .reduce((least, next) => (next.seconds < least.seconds ? next : least));
  const bestMean = best(({ mean }) => mean);
  const bestP99 = best(({ p99 }) => p99);
  const meanRatio = ours.mean / bestMean.seconds;
  const p99Ratio = ours.p99 / bestP99.seconds;
  const exactRatio = ours.mean / exact.mean;
  const tokenRatio = ours.betweenTokens / best(({ betweenTokens }) => betweenTokens).seconds;
  const mostCompleted = Math.max(...others.map(([, { completed }]) => completed));
  const misses: readonly (readonly [miss: Miss, isMissed: boolean])[] = [
    ["mean", meanRatio > MARGIN],
    ["p99", p99Ratio > MARGIN],
    ["exact", exactRatio > EXACT_MARGIN],
    // Elsewhere prompts decide; here nearly all work is the tokens.
    ["tokens", SHARED_PROMPTS.includes(cell.trace) && tokenRatio > MARGIN],
    ["completed", ours.completed * MARGIN < mostCompleted],
  ];
  return {
    cell,
    ours,
    bestMean,
    bestP99,
    meanRatio,
    p99Ratio,
    exactRatio,
    tokenRatio,
    isOverload: Math.min(ours.mean, bestMean.seconds, exact.mean) > OVERLOAD_S,
    misses: misses.flatMap(([miss, isMissed]) => (isMissed ? [miss] : [])),
  };
}
