import type { LoadedConfig } from "../../../config/load.ts";
import { KeptState } from "../../../core/control/kept-state.ts";
import { buildPluginSet } from "../../../core/control/plugin-set.ts";
import { EventQueue } from "./events.ts";
import { decideExactly } from "./exact-state.ts";
import { type Losses, LossMeter, meanLosses } from "./losses.ts";
import { meanOf } from "./metrics.ts";
import { quietServices } from "./router-side.ts";
import { Simulation, type SimulationMetrics, type SimulationSettings } from "./simulation.ts";
import type { Trace } from "./trace.ts";

/** The result of one config on one trace, averaged over the seeds. */
export interface Run extends SimulationMetrics {
  readonly name: string;
  /** Seconds to the first token that shares of the requests in equal steps from 0 to 1 did not exceed; empty without any. */
  readonly ttftCurve: readonly number[];
  /** Only where they were asked for. */
  readonly losses?: Losses;
}

/** A config and the name that results show for it. */
export interface NamedConfig {
  readonly name: string;
  readonly loaded: LoadedConfig;
  /** Whether it decides with the replicas' exact state, in place of what a router knows. */
  readonly isExact?: boolean;
  /** The default config, if the losses against its picks with the exact state are asked for. */
  readonly reference?: LoadedConfig;
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
      const runs = Array.from({ length: seeds }, (_, index) => {
        const ofSeed = { ...settings, seed: settings.seed + index };
        return runOnce(trace, config, ofSeed, (share) => progress(name, (index + share) / seeds));
      });
      const losses = runs.flatMap((run) => run.losses ?? []);
      const curves = runs.flatMap(({ ttftCurve }) => (ttftCurve.length === 0 ? [] : [ttftCurve]));
      const ttftCurve = curves.length === 0 ? [] : meanOf(curves);
      const metrics = { name, ...meanOf(runs.map((run) => run.metrics)), ttftCurve };
      return losses.length === 0 ? metrics : { ...metrics, losses: meanLosses(losses) };
    }),
  );
}

function runOnce(trace: Trace, config: NamedConfig, settings: SimulationSettings, progress: (share: number) => void) {
  const { loaded, isExact, reference } = config;
  if (reference === undefined) {
    const simulation = new Simulation(trace, loaded, settings, isExact === true ? decideExactly : undefined);
    return { metrics: simulation.run(progress), ttftCurve: simulation.ttftCurve(), losses: undefined };
  }
  const services = quietServices(new EventQueue(), 1);
  const { active, dispose } = buildPluginSet(reference, services, new KeptState());
  const meter = new LossMeter(active.profile);
  try {
    const simulation = new Simulation(trace, loaded, settings, (upstreams) => (question) => meter.decide(question, upstreams));
    return { metrics: simulation.run(progress), ttftCurve: simulation.ttftCurve(), losses: meter.losses() };
  } finally {
    dispose();
  }
}
