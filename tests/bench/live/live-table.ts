import { table } from "../../../core/report/table.ts";
import type { PolicyRun } from "./policy-run.ts";
import { type Lateness, lateReason, orderVerdict } from "./verdict.ts";

const ALIGNMENTS = ["left", ...Array.from({ length: 13 }, () => "right" as const)] as const;
const TITLES = [
  "",
  "mean s",
  "sim",
  "p50 s",
  "sim",
  "p99 s",
  "sim",
  "hits",
  "sim",
  "predicted",
  "outside",
  "failed",
  "tries",
  "cpu",
];

/** A row for each policy, over sockets beside the simulator, and below it whether the order is the same. */
export function liveLines(runs: readonly PolicyRun[], speed: number): readonly string[] {
  return [
    ...table(ALIGNMENTS, [TITLES, ...runs.map(row)]),
    "",
    latenessLine(runs),
    ...incidentLines(runs),
    ...verdictLines(runs, speed),
  ];
}

/** All runs have one sender. */
function latenessLine(runs: readonly PolicyRun[]): string {
  const ms = (read: (lateness: Lateness) => number) => `${Math.max(...runs.map((run) => read(run.lateness))).toFixed(1)} ms`;
  const sender = `requests were sent ${ms((late) => late.sendP99Ms)} late, the sender's event loop was ${ms((late) => late.senderLoopP99Ms)} late`;
  return `At the 99th percentile, in real time: ${sender}, the replicas' ${ms((late) => late.replicasLoopP99Ms)}.`;
}

function row(run: PolicyRun): readonly string[] {
  const { firstTokens: live, simulated } = run;
  const sim = simulated.firstTokens;
  return [
    run.name,
    ...[live.mean, sim.mean, live.p50, sim.p50, live.p99, sim.p99].map((seconds) => seconds.toFixed(2)),
    ...[run.hitRatio, simulated.hitRatio, run.predictedHitRatio, run.outsideShare].map(percent),
    String(run.failures.length),
    String(run.retries),
    percent(run.routerCpu),
  ];
}

function verdictLines(runs: readonly PolicyRun[], speed: number): readonly string[] {
  const lines = runs.flatMap((run) => problemLines(run, speed));
  if (lines.length > 0) return [...lines, "No verdict."];
  const { clear, swapped } = orderVerdict(
    runs.map(({ name, simulated, firstTokens }) => ({ name, simulated: simulated.means, live: firstTokens.mean })),
  );
  if (swapped.length === 0)
    return [`Same order: all ${clear.length} pairs that the simulator tells apart are alike over sockets.`];
  const pairs = swapped.map(([faster, slower]) => `${faster} before ${slower}`);
  return [`Another order: of ${clear.length} pairs the simulator has ${pairs.join(", ")}, and sockets the reverse.`];
}

/** All replicas are sound, so whatever the router took out of service it was wrong about, or the machine was late. */
function incidentLines(runs: readonly PolicyRun[]): readonly string[] {
  return runs.flatMap(({ name, incidents }) => incidents.map((incident) => `${name} lost a replica: ${incident}.`));
}

function problemLines({ name, lateness, failures, errors }: PolicyRun, speed: number): readonly string[] {
  const late = lateReason(lateness, speed);
  const reasons = [...new Set([...failures, ...errors])].join(", ");
  return [
    ...(late === undefined ? [] : [`${name}: ${late}; take a smaller --speed or a machine that does nothing else.`]),
    ...(failures.length === 0 ? [] : [`${name}: ${failures.length} requests failed: ${reasons}.`]),
  ];
}

const percent = (share: number) => `${(100 * share).toFixed(1)}%`;
