import { meanOf } from "../../../apps/lab/simulate/metrics.ts";
import { table } from "../../../core/report/table.ts";
import type { LoopFigures, SessionRun } from "./session-run.ts";
import { lateReason } from "./verdict.ts";

const TITLES = ["", "", "turns/h", "hits", "p50 s", "p99 s", "router cpu"];
const ALIGNMENTS = ["left", "left", "right", "right", "right", "right", "right"] as const;
const KEYS = ["turnsPerHour", "hitRatio", "p50", "p99"] as const;

/** For each config: over sockets, the mean of the simulator's runs, one divided by the other, and how far these runs are apart. */
export function sessionLines(runs: readonly SessionRun[], speed: number): readonly string[] {
  return [...table(ALIGNMENTS, [TITLES, ...runs.flatMap(rows)]), "", ...runs.flatMap((run) => remarks(run, speed))];
}

function rows({ name, live, simulated, routerCpu }: SessionRun): readonly (readonly string[])[] {
  const mean = meanOf(simulated);
  const range = (key: keyof LoopFigures) => {
    const values = simulated.map((each) => each[key]);
    return `${shown(key, Math.min(...values))} to ${shown(key, Math.max(...values))}`;
  };
  return [
    [name, "sockets", ...KEYS.map((key) => shown(key, live[key])), `${(100 * routerCpu).toFixed(0)}%`],
    ["", "simulator", ...KEYS.map((key) => shown(key, mean[key])), ""],
    ["", "sockets / simulator", ...KEYS.map((key) => ratio(live[key], mean[key])), ""],
    ["", `the simulator's ${simulated.length} runs`, ...KEYS.map(range), ""],
  ];
}

function remarks({ name, lateness, failures, incidents }: SessionRun, speed: number): readonly string[] {
  const { sendP99Ms, senderLoopP99Ms, replicasLoopP99Ms, longestStallMs } = lateness;
  const ms = [sendP99Ms, senderLoopP99Ms, replicasLoopP99Ms, longestStallMs].map((each) => each.toFixed(0));
  const late = lateReason(lateness, speed);
  return [
    `${name}: in real time turns were sent ${ms[0]} ms late (p99), the sender's event loop ${ms[1]} ms, the replicas' ${ms[2]} ms, at most ${ms[3]} ms.`,
    ...(late === undefined ? [] : [`${name}: ${late}; take a smaller --speed or a machine that does nothing else.`]),
    ...(failures.length === 0 ? [] : [`${name}: ${failures.length} turns failed: ${[...new Set(failures)].join(", ")}.`]),
    ...incidents.map((incident) => `${name} lost a replica: ${incident}.`),
  ];
}

/** Of no hits at all there is none. */
function ratio(one: number, other: number): string {
  return other === 0 ? "-" : (one / other).toFixed(2);
}

function shown(key: keyof LoopFigures, value: number): string {
  if (key === "turnsPerHour") return value.toFixed(0);
  return key === "hitRatio" ? `${(100 * value).toFixed(1)}%` : value.toFixed(2);
}
