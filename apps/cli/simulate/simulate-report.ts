import { counted, whole } from "../../../core/report/number-text.ts";
import { type Column, columnTable } from "../../../core/report/table.ts";
import { CAUSES, type Cause, type Loss, type Losses } from "../../lab/simulate/losses.ts";
import type { Run } from "../../lab/simulate/run.ts";
import type { SimulationSettings } from "../../lab/simulate/simulation.ts";
import type { Trace } from "../../lab/simulate/trace.ts";
import { faultText } from "./simulate-arguments.ts";

const COLUMNS: readonly Column<Run>[] = [
  ["", (run) => run.name, "left"],
  ["hits", (run) => percent(run.hitRatio)],
  ["TTFT mean", (run) => seconds(run.ttftSeconds.mean)],
  ["p50", (run) => seconds(run.ttftSeconds.p50)],
  ["p90", (run) => seconds(run.ttftSeconds.p90)],
  ["p99", (run) => seconds(run.ttftSeconds.p99)],
  ["<= 2 s", (run) => percent(run.shareUnder2Seconds)],
  ["ITL p99", (run) => `${(run.interTokenSeconds.p99 * 1000).toFixed(0)} ms`],
  ["imbalance", (run) => run.imbalance.toFixed(2)],
  ["busy", (run) => percent(run.utilization)],
  ["completed", (run) => percent(run.completionRatio)],
];

/** Whether the requests met their targets, and how far off what was expected of them was, typically. */
const TARGET_COLUMNS: readonly Column<Run>[] = [
  ["in target", (run) => percent(run.inTargetShare)],
  ["goodput", (run) => `${(run.goodputPerS ?? 0).toFixed(3)}/s`],
  ["TTFT error", (run) => percent(run.ttftError.p50)],
];

/** Configs that separate nothing have none. */
const PAIR_COLUMNS: readonly Column<Run>[] = [
  ["pairs", ({ pairs }) => (pairs === undefined ? "" : count(pairs.made))],
  ["alone", ({ pairs }) => (pairs === undefined ? "" : count(pairs.alone))],
  ["failed pairs", ({ pairs }) => (pairs === undefined ? "" : count(pairs.failed))],
];

const ADAPTER_COLUMNS: readonly Column<Run>[] = [["loads", (run) => count(run.adapterLoads ?? 0)]];

const FAULT_COLUMNS: readonly Column<Run>[] = [
  ["failed", (run) => count(run.failedRequests)],
  ["retries", (run) => count(run.retries)],
  ["ejections", (run) => ejectionsOf(run)],
];

/** Times are those of whole turns. */
const SESSION_COLUMNS: readonly Column<Run>[] = [
  ["sessions/h", (run) => count(run.sessionsPerHour ?? 0)],
  ["turns/h", (run) => count(run.turnsPerHour ?? 0)],
  ["turn p50", (run) => seconds(run.turnSeconds?.p50 ?? 0)],
  ["p99", (run) => seconds(run.turnSeconds?.p99 ?? 0)],
  ["slowdown p50", (run) => (run.sessionSlowdown?.p50 ?? 0).toFixed(2)],
  ["p90", (run) => (run.sessionSlowdown?.p90 ?? 0).toFixed(2)],
  ["fairness", (run) => (run.fairness ?? 0).toFixed(2)],
];

/** The result as text: what was simulated, a table with a row for each run, and warnings about its meaning. */
export function report(traces: readonly Trace[], runs: readonly Run[], settings: SimulationSettings, seeds: number): string {
  const { faults, targets, adapters } = settings;
  const hasSessions = runs.some(({ sessionsPerHour }) => sessionsPerHour !== undefined);
  const hasPairs = runs.some(({ pairs }) => pairs !== undefined);
  const columns = [
    ...COLUMNS,
    ...(hasPairs ? PAIR_COLUMNS : []),
    ...(targets === undefined ? [] : TARGET_COLUMNS),
    ...(adapters === undefined ? [] : ADAPTER_COLUMNS),
    ...(faults.length === 0 ? [] : FAULT_COLUMNS),
  ];
  const sessionRows = hasSessions ? ["", ...columnTable([COLUMNS[0]!, ...SESSION_COLUMNS], runs)] : [];
  const faultLines = faults.length === 0 ? [] : [`faults: ${faults.map(faultText).join(", ")}`];
  const head = [...traces.map(traceLine), settingsLine(settings, seeds), ...targetLines(settings), ...faultLines];
  return `${[...head, "", ...columnTable(columns, runs), ...sessionRows, ...notes(traces, runs)].join("\n")}\n`;
}

function traceLine({ name, requests, skippedLines }: Trace): string {
  const minutes = (requests.at(-1)?.atMs ?? 0) / 60_000;
  const skipped = skippedLines === 0 ? "" : `, ${counted(skippedLines, "other line")} skipped`;
  return `${name}: ${counted(requests.length, "request")} in ${minutes.toFixed(1)} minutes${skipped}`;
}

function settingsLine(settings: SimulationSettings, seeds: number): string {
  const { replicas, model, timeScale, seed, sessions, prefillers } = settings;
  const seedText = seeds === 1 ? `seed ${seed}` : `mean of the seeds ${seed} to ${seed + seeds - 1}`;
  const { kvTokens, prefillTokensPerS } = model;
  const kept =
    sessions === undefined
      ? ""
      : `, ${counted(sessions.perReplica, "session")} each for ${sessions.hours} h (measured after ${sessions.warmUpHours} h)`;
  const roles = prefillers === undefined ? "" : ` (${prefillers} for prompts)`;
  return `${counted(replicas, "replica")}${roles} of ${whole(kvTokens)} KV tokens at ${whole(prefillTokensPerS)} tokens/s${kept}, time scale ${timeScale}, ${seedText}`;
}

/** "targets: the first token within 500 or 5,000 ms". */
function targetLines({ targets }: SimulationSettings): readonly string[] {
  if (targets === undefined) return [];
  const among = (values: readonly number[]) => [...new Set(values)].filter(Number.isFinite).map(whole).join(" or ");
  const ttft = among(targets.map(({ ttftMs }) => ttftMs));
  const tpot = among(targets.map(({ tpotMs }) => tpotMs));
  const wanted = [
    ...(ttft === "" ? [] : [`the first token within ${ttft} ms`]),
    ...(tpot === "" ? [] : [`a further one every ${tpot} ms`]),
  ];
  return [`targets: ${wanted.join(", ")}`];
}

function notes(traces: readonly Trace[], runs: readonly Run[]): readonly string[] {
  const blind = traces.filter((trace) => !trace.hasPrefixes).map(({ name }) => name);
  const faulty = runs.filter((run) => run.faultyDecisions > 0).map(({ name }) => name);
  const all: string[] = [];
  if (blind.length > 0) {
    all.push(`${blind.join(", ")} does not show which prompts share a prefix, so no prompt is ever cached;`);
    all.push(`record the access log with the parameter "replay: true" to see what prefix-aware routing gains.`);
  }
  if (faulty.length > 0) all.push(`A plugin broke its contract in ${faulty.join(", ")}: the affected decisions ignored it.`);
  return all.length === 0 ? [] : ["", ...all];
}

/** "1: 3, 5: 1" for three of the first replica and one of the fifth. */
function ejectionsOf({ ejections }: Run): string {
  const some = ejections.flatMap((times, index) => (times === 0 ? [] : [`${index + 1}: ${count(times)}`]));
  return some.length === 0 ? "none" : some.join(", ");
}

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
  return `${["", head, "", ...causes(losses), ...(losses.worst.length === 0 ? [] : ["", ...columnTable(WORST, losses.worst)])].join("\n")}\n`;
}

function causes({ decisions, worsePicks, lostMs, byCause }: Losses): readonly string[] {
  const rows = [
    ...CAUSES.map((cause) => ({ title: NAMES[cause], ...byCause[cause] })),
    { title: "all", lostMs, picks: worsePicks },
  ];
  return columnTable<(typeof rows)[number]>(
    [
      ["lost by", ({ title }) => title, "left"],
      ["time", (row) => `${count(row.lostMs / 1000)} s`],
      ["a request", (row) => `${count(row.lostMs / (decisions || 1))} ms`],
      ["share", (row) => (lostMs === 0 ? "" : `${((100 * row.lostMs) / lostMs).toFixed(1)}%`)],
      ["picks", ({ picks }) => count(picks)],
    ],
    rows,
  );
}

const WORST: readonly Column<Loss>[] = [
  ["line", ({ line }) => count(line)],
  ["at", ({ atMs }) => `${(atMs / 1000).toFixed(1)} s`],
  ["picked", ({ picked }) => picked, "left"],
  ["better", ({ better }) => better, "left"],
  ["lost", ({ lostMs }) => `${(lostMs / 1000).toFixed(2)} s`],
  ["by", mainCauses, "left"],
];

function mainCauses({ byCause, lostMs }: Loss): string {
  return CAUSES.filter((cause) => Math.abs(byCause[cause]) >= 0.05 * lostMs)
    .map((cause) => `${NAMES[cause]} ${((100 * byCause[cause]) / lostMs).toFixed(0)}%`)
    .join(", ");
}

const count = (value: number) => value.toLocaleString("en-US", { maximumFractionDigits: 1 });
const percent = (share: number) => `${(share * 100).toFixed(1)}%`;
const seconds = (value: number) => `${value.toFixed(2)} s`;
