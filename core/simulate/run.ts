import type { LoadedConfig } from "../../config/load.ts";
import { decideExactly } from "./exact-state.ts";
import { type Metrics, meanOf } from "./metrics.ts";
import { Simulation, type SimulationSettings } from "./simulation.ts";
import type { Trace } from "./trace.ts";

/** The result of one config on one trace, averaged over the seeds. */
export interface Run extends Metrics {
  readonly name: string;
}

/** A config and the name that results show for it. */
export interface NamedConfig {
  readonly name: string;
  readonly loaded: LoadedConfig;
  /** Whether it decides with the replicas' exact state, in place of what a router knows. */
  readonly isExact?: boolean;
}

/** Called during a run with its name and the finished share, in [0, 1]. */
export type Progress = (name: string, share: number) => void;

/** Runs every config on every trace, `seeds` times each. */
export function runAll(
  traces: readonly Trace[],
  configs: readonly NamedConfig[],
  settings: SimulationSettings,
  seeds: number,
  progress: Progress,
): readonly Run[] {
  return traces.flatMap((trace) =>
    configs.map((config) => {
      const name = traces.length > 1 ? `${config.name} on ${trace.name}` : config.name;
      const metrics = Array.from({ length: seeds }, (_, index) => {
        const deciderOf = config.isExact === true ? decideExactly : undefined;
        const simulation = new Simulation(trace, config.loaded, { ...settings, seed: settings.seed + index }, deciderOf);
        return simulation.run((share) => progress(name, (index + share) / seeds));
      });
      return { name, ...meanOf(metrics) };
    }),
  );
}
