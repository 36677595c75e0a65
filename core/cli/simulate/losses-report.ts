import { CAUSES, type Cause, type Loss, type Losses } from "../../simulate/losses.ts";
import type { Run } from "../../simulate/run.ts";
import { table } from "../show/table.ts";

const NAMES: Readonly<Record<Cause, string>> = {
  length: "prompt length",
  cache: "cache",
  queue: "queue",
  metrics: "old metrics",
  speed: "speed",
  policy: "policy",
};

/** What a run's worse picks cost, by cause, and the worst of them; "" if it was not asked for. */
export function lossesReport({ name, losses }: Run): string {
  if (losses === undefined) return "";
  const { decisions, worsePicks, lostMs } = losses;
  const head = `${name}: ${count(worsePicks)} of ${count(decisions)} picks were worse than the exact state's, by ${count(lostMs / (decisions || 1))} ms a request`;
  return `${["", head, "", ...causes(losses), ...worst(losses.worst)].join("\n")}\n`;
}

function causes({ decisions, worsePicks, lostMs, byCause }: Losses): readonly string[] {
  const row = (title: string, ms: number, picks: number) => [
    title,
    `${count(ms / 1000)} s`,
    `${count(ms / (decisions || 1))} ms`,
    lostMs === 0 ? "" : `${((100 * ms) / lostMs).toFixed(1)}%`,
    count(picks),
  ];
  return table(
    ["left", "right", "right", "right", "right"],
    [
      ["lost by", "time", "a request", "share", "picks"],
      ...CAUSES.map((cause) => row(NAMES[cause], byCause[cause].lostMs, byCause[cause].picks)),
      row("all", lostMs, worsePicks),
    ],
  );
}

function worst(losses: readonly Loss[]): readonly string[] {
  if (losses.length === 0) return [];
  const rows = losses.map(({ line, atMs, picked, better, lostMs, byCause }) => [
    count(line),
    `${(atMs / 1000).toFixed(1)} s`,
    picked,
    better,
    `${(lostMs / 1000).toFixed(2)} s`,
    CAUSES.filter((cause) => Math.abs(byCause[cause]) >= 0.05 * lostMs)
      .map((cause) => `${NAMES[cause]} ${((100 * byCause[cause]) / lostMs).toFixed(0)}%`)
      .join(", "),
  ]);
  return [
    "",
    ...table(["right", "right", "left", "left", "right", "left"], [["line", "at", "picked", "better", "lost", "by"], ...rows]),
  ];
}

const count = (value: number) => value.toLocaleString("en-US", { maximumFractionDigits: 1 });
