import { type Column, columnTable } from "../../../core/report/table.ts";
import type { Trace } from "../../lab/simulate/trace.ts";

/** What a number of replicas gives; times in seconds. */
export interface Outlook {
  readonly replicas: number;
  readonly ttftMeanS: number;
  readonly ttftP99S: number;
  readonly busy: number;
  readonly completed: number;
}

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
    `${name}: ${whole(requests)} requests in ${minutes} minutes, on modelled replicas of ${whole(model.kvTokens)} KV tokens at ${whole(model.prefillTokensPerS)} tokens/s, ${seeds === 1 ? "one seed" : `mean of ${seeds} seeds`}`,
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

/** "saves 3.10 s of p99 and 0.40 s of the mean". */
function change(now: Outlook, then: Outlook): string {
  const p99 = rounded(now.ttftP99S - then.ttftP99S);
  const mean = rounded(now.ttftMeanS - then.ttftMeanS);
  const verb = (saved: number) => (saved >= 0 ? "saves" : "costs");
  // What does not change goes with what does.
  const first = p99 === 0 ? verb(mean) : verb(p99);
  const second = mean === 0 || verb(mean) === first ? "" : `${verb(mean)} `;
  return `${first} ${seconds(Math.abs(p99))} of p99 and ${second}${seconds(Math.abs(mean))} of the mean`;
}

/** Less than that differs by chance. */
const rounded = (value: number) => Math.round(value * 100) / 100;
const seconds = (value: number) => `${value.toFixed(2)} s`;
const whole = (value: number) => value.toLocaleString("en-US");
