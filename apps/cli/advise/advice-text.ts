import { type Column, columnTable } from "../../../core/report/table.ts";
import type { Trace } from "../../lab/simulate/trace.ts";
import type { Outlook } from "./run-advice.ts";

/** What was found out, and on what it rests. */
export interface Advice {
  readonly requests: number;
  readonly minutes: number;
  readonly replicas: number;
  readonly seeds: number;
  readonly model: { readonly kvTokens: number; readonly prefillTokensPerS: number };
  readonly outlooks: readonly Outlook[];
}

const COLUMNS: readonly Column<Outlook>[] = [
  ["replicas", ({ replicas }) => String(replicas)],
  ["TTFT mean", ({ ttftMeanS }) => seconds(ttftMeanS)],
  ["p99", ({ ttftP99S }) => seconds(ttftP99S)],
  ["busy", ({ busy }) => `${(100 * busy).toFixed(0)}%`],
  ["completed", ({ completed }) => `${(100 * completed).toFixed(1)}%`],
];

export function adviceText({ name, hasPrefixes }: Trace, advice: Advice): string {
  const { requests, minutes, replicas, model, outlooks, seeds } = advice;
  const at = (count: number) => outlooks.find((each) => each.replicas === count);
  const [fewer, now, more] = [at(replicas - 1), at(replicas)!, at(replicas + 1)!];
  const head = [
    `${name}: ${whole(requests)} requests in ${minutes} minutes, on modelled replicas of ${whole(model.kvTokens)} KV tokens at ${whole(model.prefillTokensPerS)} tokens/s, mean of ${seeds} seeds`,
    "",
    ...columnTable(COLUMNS, outlooks),
    "",
  ];
  const less = fewer === undefined ? "it is the only one." : `one fewer ${change(now, fewer)}.`;
  const blind = hasPrefixes
    ? []
    : ['The log does not show shared prefixes, so no prompt is cached; record it with "replay: true".'];
  return [...head, `One more replica ${change(now, more)}; ${less}`, ...blind].join("\n");
}

/** "saves 3.10 s of p99 (0.40 s of the mean)". */
function change(now: Outlook, then: Outlook): string {
  const p99 = now.ttftP99S - then.ttftP99S;
  const mean = now.ttftMeanS - then.ttftMeanS;
  const verb = p99 >= 0 ? "saves" : "costs";
  const word = (value: number) => seconds(p99 >= 0 ? value : -value);
  return `${verb} ${word(p99)} of p99 (${word(mean)} of the mean)`;
}

/** Below ten milliseconds runs differ by chance. */
const seconds = (value: number) => `${(Math.abs(value) < 0.005 ? 0 : value).toFixed(2)} s`;
const whole = (value: number) => value.toLocaleString("en-US");
