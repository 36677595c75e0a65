import { ENGINE_TIMES } from "../../../apps/lab/engine/engine-times.ts";
import type { SimulatedTargets } from "../../../apps/lab/simulate/metrics.ts";
import { withPromptScale } from "../../../apps/lab/simulate/prompt-scale.ts";
import type { SimulationSettings } from "../../../apps/lab/simulate/simulation.ts";
import { sliceOf } from "../../../apps/lab/simulate/slice.ts";
import type { Trace } from "../../../apps/lab/simulate/trace.ts";

/** Requests that a pool gets, and what they should get. */
export interface Traffic {
  readonly name: string;
  /** The file's name in the traces beside the checkout. */
  readonly file: string;
  /** The part of an open trace that is replayed; 0 for sessions. */
  readonly minutes: number;
  readonly timeScale: number;
  readonly promptScale: number;
  /** Sessions under way for each replica; 0 for requests that come when they were recorded. */
  readonly sessionsPerReplica: number;
  readonly targets: SimulatedTargets;
}

export const REPLICAS = 8;
/** How many of them compute prompts for the others. */
export const SPLITS = [2, 6];
const HOURS = 0.5;

const OPEN = { minutes: 10, timeScale: 1, promptScale: 1, sessionsPerReplica: 0 };

export const TRAFFICS: readonly Traffic[] = [
  {
    ...OPEN,
    name: "conversations",
    file: "mooncake_conversation_trace",
    targets: { ttftMs: 3_000, tpotMs: 30 },
  },
  {
    ...OPEN,
    name: "conversations, prompts 4 times as long, a fourth as often",
    file: "mooncake_conversation_trace",
    timeScale: 4,
    promptScale: 4,
    targets: { ttftMs: 12_000, tpotMs: 30 },
  },
  { ...OPEN, name: "coding", file: "agentic_coding_trace", timeScale: 0.5, targets: { ttftMs: 3_000, tpotMs: 30 } },
  {
    ...OPEN,
    name: "sessions of agents, 4 for each replica",
    file: "agentic_sessions",
    minutes: 0,
    sessionsPerReplica: 4,
    targets: { ttftMs: 3_000, tpotMs: 30 },
  },
];

/** What is replayed of a trace. */
export function traceFor({ minutes, timeScale, promptScale }: Traffic, trace: Trace): Trace {
  const part = { fromMinute: 0, minutes: minutes / timeScale, mostRequests: Number.POSITIVE_INFINITY };
  return withPromptScale(minutes === 0 ? trace : sliceOf(trace, part), promptScale);
}

/** `prefillers`: undefined where all replicas do the same. */
export function settingsFor(
  { timeScale, sessionsPerReplica: perReplica, targets }: Traffic,
  prefillers: number | undefined,
): SimulationSettings {
  return {
    ...{ replicas: REPLICAS, model: ENGINE_TIMES, speeds: [], timeScale, seed: 1, tokenError: 0, faults: [], targets: [targets] },
    ...(prefillers !== undefined && { prefillers }),
    ...(perReplica > 0 && { sessions: { perReplica, hours: HOURS, warmUpHours: HOURS / 4 } }),
  };
}
