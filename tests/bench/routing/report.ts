import { basename } from "node:path";
import { type Alignment, table } from "../../../core/report/table.ts";
import type { Cell } from "./matrix.ts";
import type { Best, Verdict } from "./verdict.ts";

const HEAD = [
  "trace",
  "times x",
  "replicas",
  "KV",
  "with",
  "ours",
  "best mean",
  "best p99",
  "mean",
  "p99",
  "exact",
  "tokens",
  "",
];
const ALIGNMENTS: readonly Alignment[] = [
  ...(["left", "right", "right", "right", "left", "right", "left", "left"] as const),
  ...(["right", "right", "right", "right", "left"] as const),
];
const WORST_SHOWN = 8;

/** The table of all cells, the worst of them, and how many hold. */
export function routingReport(verdicts: readonly Verdict[]): string {
  const served = verdicts.filter(({ isOverload }) => !isOverload);
  const overloaded = verdicts.filter(({ isOverload }) => isOverload);
  const worst = served.filter(({ misses }) => misses.length > 0).sort((a, b) => excess(b) - excess(a));
  return [
    ...rows(verdicts),
    "",
    "ours: mean / p99 time to the first token, in seconds. mean, p99: ours as a multiple of the best other policy's;",
    "exact: our mean as a multiple of the one with the exact state. tokens: the median time between tokens, as a multiple of the shortest.",
    "A cell holds if mean and p99 are at most 1.02 and exact 1.07; where prompts share their beginning, tokens at most 1.02 too.",
    "",
    ...(worst.length === 0 ? [] : ["The worst cells:", "", ...rows(worst.slice(0, WORST_SHOWN)), ""]),
    held("that the pool can serve", served),
    ...(overloaded.length === 0
      ? []
      : [held("of overload, in which requests wait for more than a minute with any policy", overloaded)]),
    "",
  ].join("\n");
}

function rows(verdicts: readonly Verdict[]): readonly string[] {
  return table(ALIGNMENTS, [HEAD, ...verdicts.map(row)]);
}

function row(verdict: Verdict): readonly string[] {
  const { cell, ours, bestMean, bestP99, meanRatio, p99Ratio, exactRatio, tokenRatio, misses, isOverload } = verdict;
  const marks = [...(isOverload ? ["overload"] : []), ...(misses.length === 0 ? ["holds"] : misses.map((miss) => `not ${miss}`))];
  return [
    ...placeOf(cell),
    `${seconds(ours.mean)} / ${seconds(ours.p99)}`,
    bestText(bestMean),
    bestText(bestP99),
    meanRatio.toFixed(2),
    p99Ratio.toFixed(2),
    exactRatio.toFixed(2),
    tokenRatio.toFixed(2),
    marks.join(", "),
  ];
}

/** The first columns: which cell it is. */
export function placeOf({ trace, timeScale, replicas, kvTokens, disturbance }: Cell): readonly string[] {
  const name = basename(trace).replace(/(_trace)?\.jsonl?(\.gz)?$/, "");
  return [name, String(timeScale), String(replicas), `${Math.round(kvTokens / 1000)}k`, disturbance];
}

function held(which: string, verdicts: readonly Verdict[]): string {
  const count = (isHeld: (verdict: Verdict) => boolean) => verdicts.filter(isHeld).length;
  const whole = count(({ misses }) => misses.length === 0);
  const notWorse = count(({ misses }) => !misses.includes("mean") && !misses.includes("p99"));
  const nearExact = count(({ misses }) => !misses.includes("exact"));
  return `${whole} of ${verdicts.length} cells ${which} hold; ${notWorse} by mean and p99, ${nearExact} against the exact state.`;
}

/** How far the cell is from holding. */
function excess({ meanRatio, p99Ratio, exactRatio }: Verdict): number {
  return Math.max(meanRatio, p99Ratio, exactRatio);
}

const bestText = ({ policy, seconds: value }: Best) => `${seconds(value)} ${policy}`;
const seconds = (value: number) => (value < 10 ? value.toFixed(2) : value.toFixed(1));
