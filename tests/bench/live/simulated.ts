import type { EngineTimes } from "../../../apps/lab/engine/engine-times.ts";
import type { SessionLoop } from "../../../apps/lab/simulate/session-arrivals.ts";
import { Simulation, type SimulationMetrics } from "../../../apps/lab/simulate/simulation.ts";
import type { Trace } from "../../../apps/lab/simulate/trace.ts";
import { loadConfig } from "../../../config/load.ts";
import { formatProblems } from "../../../config/read/problems.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { type FirstTokens, meanOf } from "./figures.ts";

/** One policy in the simulator. */
export interface Simulated {
  /** The mean of each seed, in seconds of the trace's own time. */
  readonly means: readonly number[];
  /** Averaged over the seeds. */
  readonly firstTokens: FirstTokens;
  readonly hitRatio: number;
}

export interface SimulatedSettings {
  readonly replicas: number;
  /** Of real time; the simulated replicas compute `speed` times as fast, as the mock ones do. */
  readonly model: EngineTimes;
  readonly speed: number;
  readonly seeds: number;
  /** In hours of real time; absent where requests come as they were recorded. */
  readonly sessions?: SessionLoop;
}

/** Simulates what the live run does: the same requests at the same times, the same config, replicas as fast as the mock ones. */
export async function simulated(trace: Trace, configFile: string, settings: SimulatedSettings): Promise<Simulated> {
  const { speed } = settings;
  const runs = await simulations(trace, configFile, settings);
  const mean = (read: (run: (typeof runs)[number]) => number) => meanOf(runs.map(read));
  return {
    means: runs.map(({ ttftSeconds }) => ttftSeconds.mean * speed),
    firstTokens: {
      mean: mean(({ ttftSeconds }) => ttftSeconds.mean * speed),
      p50: mean(({ ttftSeconds }) => ttftSeconds.p50 * speed),
      p99: mean(({ ttftSeconds }) => ttftSeconds.p99 * speed),
    },
    hitRatio: mean((run) => run.hitRatio),
  };
}

/** A run for each seed, from 1 on, in real time. */
export async function simulations(
  trace: Trace,
  configFile: string,
  settings: SimulatedSettings,
): Promise<readonly SimulationMetrics[]> {
  const { replicas, speed, seeds, sessions } = settings;
  const loaded = await loadConfig([configFile], builtIns);
  if (loaded.problems !== undefined) throw new Error(formatProblems(loaded.problems));
  const model = fasterBy(speed, settings.model);
  const fast = { replicas, model, speeds: [], timeScale: 1 / speed, tokenError: 0, faults: [], ...(sessions && { sessions }) };
  // As mock replicas do.
  const all = { ...fast, reportsCached: true };
  return Array.from({ length: seeds }, (_, seed) => new Simulation(trace, loaded, { ...all, seed: seed + 1 }).run());
}

export function fasterBy(speed: number, model: EngineTimes): EngineTimes {
  return {
    ...model,
    prefillTokensPerS: model.prefillTokensPerS * speed,
    decodeStepMs: model.decodeStepMs / speed,
    decodePerRequestMs: model.decodePerRequestMs / speed,
    overheadMs: model.overheadMs / speed,
  };
}
