import type { LoadedConfig } from "../../config/load.ts";
import { type Metrics, meanOf } from "./metrics.ts";
import { Simulation, type SimulationSettings } from "./simulation.ts";
import type { Trace } from "./trace.ts";

/** One config's result on one trace, averaged over its seeds. */
export interface Run extends Metrics {
  readonly name: string;
}

/** A config under the name that results give it. */
export interface NamedConfig {
  readonly name: string;
  readonly loaded: LoadedConfig;
}

/** Told the name of the run that is under way, and how much of it is done. */
export type Progress = (name: string, share: number) => void;

/** Runs every config over every trace, each with that many seeds. */
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
        const simulation = new Simulation(trace, config.loaded, { ...settings, seed: settings.seed + index });
        return simulation.run((share) => progress(name, (index + share) / seeds));
      });
      return { name, ...meanOf(metrics) };
    }),
  );
}
