import { type Input, UsageError } from "../../../config/command.ts";
import { type NamedConfig, type Progress, type Run, runAll } from "../../lab/simulate/run.ts";
import type { SimulationSettings } from "../../lab/simulate/simulation.ts";
import type { Trace } from "../../lab/simulate/trace.ts";

/** One way to divide the replicas of a pool, and what it is like for a trace. */
interface Split {
  readonly prefillers: number;
  readonly run: Run;
}

/** What is known of every split for one trace, from no replica for prompts on. */
interface Advice {
  readonly trace: Trace;
  readonly splits: readonly Split[];
}

/** Throws a UsageError where nothing says what is good, or more than one config is to be divided. */
export function checkAdvice(
  input: Input,
  { targets, replicas, prefillers }: SimulationSettings,
  configs: readonly NamedConfig[],
): void {
  if (targets === undefined) throw new UsageError("--advise counts requests within limits; add --ttft 2000 --tpot 50 or others.");
  if (prefillers !== undefined) throw new UsageError("--advise tries every number for --prefill; leave out one of them.");
  if (replicas < 2) throw new UsageError("--advise divides replicas; add --replicas 2 or more.");
  const other = ["exact", "explain-losses"].find((name) => input.has(name));
  if (other !== undefined) throw new UsageError(`--advise compares splits of one config; leave out --${other}.`);
  if (configs.length > 1) throw new UsageError("--advise takes one config; leave out the other -f.");
}

/** Runs every split of the replicas, from none for prompts to all but one. */
export function advise(
  traces: readonly Trace[],
  { loaded }: NamedConfig,
  settings: SimulationSettings,
  seeds: number,
  progress: Progress,
): readonly Advice[] {
  const { replicas } = settings;
  return traces.map((trace) => {
    const splits = Array.from({ length: replicas }, (_, prefillers): Split => {
      const name = prefillers === 0 ? "no pairs" : `${prefillers} of ${replicas}`;
      const shown: Progress = (_name, share) => progress(`${name} on ${trace.name}`, share);
      const [run] = runAll([trace], [{ name, loaded }], { ...settings, prefillers }, seeds, shown);
      return { prefillers, run: run! };
    });
    return { trace, splits };
  });
}

/** The split with most requests within the limits, then with the earliest first token. */
export function bestOf({ splits }: Advice): Split {
  const { goodputPerS: first = 0 } = splits[0]!.run;
  return splits.reduce((best, split) => {
    const [goodput = first, most = first] = [split.run.goodputPerS, best.run.goodputPerS];
    if (goodput !== most) return goodput > most ? split : best;
    return split.run.ttftSeconds.mean < best.run.ttftSeconds.mean ? split : best;
  });
}

/** In a sentence, with a line end. */
export function adviceLine(advice: Advice, replicas: number): string {
  const { prefillers, run } = bestOf(advice);
  const figures = `${(run.goodputPerS ?? 0).toFixed(3)} requests a second within the limits, ${(100 * run.inTargetShare).toFixed(1)} % of all`;
  const what =
    prefillers === 0 ? "no replica should compute prompts alone" : `${prefillers} of ${replicas} replicas should compute prompts`;
  return `${advice.trace.name}: ${what}: ${figures}.\n`;
}
