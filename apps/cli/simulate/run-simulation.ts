import { writeFileSync } from "node:fs";
import { type Input, UsageError } from "../../../config/command.ts";
import { systemClock } from "../../../core/contract/clock.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import { printableLines } from "../../../core/contract/printable.ts";
import { seededRandom } from "../../../core/contract/test-kit.ts";
import { chart } from "../../lab/simulate/chart.ts";
import { withImages } from "../../lab/simulate/images.ts";
import { withPromptScale } from "../../lab/simulate/prompt-scale.ts";
import { type NamedConfig, type Progress, type Run, runAll } from "../../lab/simulate/run.ts";
import type { SimulationSettings } from "../../lab/simulate/simulation.ts";
import type { Trace } from "../../lab/simulate/trace.ts";
import { adviceLine, advise, bestOf, checkAdvice } from "./advise.ts";
import {
  checkForEvents,
  checkForLosses,
  checkForPairs,
  checkTransfers,
  defaultConfig,
  eventsConfig,
  pairConfig,
  readConfigs,
} from "./named-configs.ts";
import { progressBar, progressLines } from "./progress.ts";
import { simulateArguments } from "./simulate-arguments.ts";
import { lossesReport, report } from "./simulate-report.ts";
import { readTraceFile } from "./trace-file.ts";
import { checkWritable } from "./written-file.ts";

type Registry = ReadonlyMap<string, Definition>;

/** Images are drawn apart from everything else that is random. */
const IMAGE_SEED = 0x1a6e;

/** What is printed, in one of two ways. */
interface Results {
  readonly runs: readonly Run[];
  readonly text: string;
  /** Only where it was asked for. */
  readonly advice?: readonly { readonly trace: string; readonly prefill: number }[];
}

/** `signalbox simulate`: replays traces with one or more configs and prints the results. Returns the exit code. */
export async function simulate(input: Input, registry: Registry): Promise<number> {
  const recorded: Trace[] = [];
  // A log says how many replicas there were, and the other switches depend on that.
  if (input.text("replicas") === undefined) for (const path of input.words) recorded.push(await readTraceFile(path));
  const { settings, images, seeds, promptScale } = simulateArguments(input, recorded);
  const [save, svg] = [input.text("save"), input.text("svg")];
  if (save !== undefined) checkWritable("--save", save);
  if (svg !== undefined) checkWritable("--svg", svg);
  const standard = { name: "default", loaded: await defaultConfig(registry) };
  const configs = await configsOf(input, settings, standard, registry);
  if (configs === undefined) return 1;
  const traces: Trace[] = [];
  const random = seededRandom(settings.seed ^ IMAGE_SEED);
  for (const [index, path] of input.words.entries())
    traces.push(withImages(withPromptScale(recorded[index] ?? (await readTraceFile(path)), promptScale), images, random));
  const alone = settings.sessions && traces.find(({ requests }) => requests.every(({ turn }) => turn === undefined));
  if (alone) throw new UsageError(`${alone.name} names no sessions; leave out --sessions-per-replica (docs/simulate.md).`);

  const write = (text: string) => void process.stderr.write(text);
  const bar =
    process.stderr.isTTY === true ? progressBar(write, process.stderr.columns || 80) : progressLines(write, systemClock);
  const { runs, text, advice } = input.has("advise")
    ? adviceOn(traces, configs[0]!, settings, seeds, bar.show)
    : runsOf(traces, configs, settings, seeds, bar.show);
  bar.clear();

  const figures = runs.map(({ ttftCurve, ...run }) => run);
  const told = { runs: figures, ...(advice && { advice }), settings: { ...settings, images, seeds, promptScale } };
  const json = `${JSON.stringify(told, undefined, 2)}\n`;
  process.stdout.write(input.isJson ? json : printableLines(text));
  if (save !== undefined) writeFileSync(save, json);
  if (svg !== undefined) writeFileSync(svg, chart(runs));
  return 0;
}

/** What is to be run; undefined for configs with problems, which are printed. Throws UsageError for switches that are of no use with them. */
async function configsOf(
  input: Input,
  settings: SimulationSettings,
  standard: NamedConfig,
  registry: Registry,
): Promise<readonly NamedConfig[] | undefined> {
  const files = input.all("file");
  const pairSwitch = ["advise", "prefill"].find((name) =>
    name === "advise" ? input.has(name) : settings.prefillers !== undefined,
  );
  const usual = pairSwitch === undefined ? standard : { name: "pairs", loaded: await pairConfig(registry) };
  const following =
    settings.cacheEvents && pairSwitch === undefined ? [{ name: "events", loaded: await eventsConfig(registry) }] : [];
  const own = files.length === 0 ? [usual, ...following] : await readConfigs(files, registry);
  if (own === undefined) return undefined;
  checkTransfers(own);
  if (pairSwitch !== undefined) checkForPairs(pairSwitch, own);
  if (settings.cacheEvents) checkForEvents(own);
  if (input.has("advise")) checkAdvice(input, settings, own);
  if (input.has("explain-losses")) checkForLosses(own);
  const reference = standard.loaded;
  const exact = input.has("exact") ? [{ name: "exact state", loaded: reference, isExact: true }] : [];
  return [...(input.has("explain-losses") ? own.map((config) => ({ ...config, reference })) : own), ...exact];
}

function runsOf(
  traces: readonly Trace[],
  configs: readonly NamedConfig[],
  settings: SimulationSettings,
  seeds: number,
  progress: Progress,
): Results {
  const runs = runAll(traces, configs, settings, seeds, progress);
  return { runs, text: report(traces, runs, settings, seeds) + runs.map(lossesReport).join("") };
}

/** How the replicas should be divided, trace by trace. */
function adviceOn(
  traces: readonly Trace[],
  config: NamedConfig,
  settings: SimulationSettings,
  seeds: number,
  progress: Progress,
): Results {
  const advices = advise(traces, config, settings, seeds, progress);
  const texts = advices.map((advice) => {
    const runs = advice.splits.map(({ run }) => run);
    return `${report([advice.trace], runs, settings, seeds)}\n${adviceLine(advice, settings.replicas)}`;
  });
  return {
    runs: advices.flatMap(({ splits }) => splits.map(({ run }) => run)),
    text: texts.join("\n"),
    advice: advices.map((advice) => ({ trace: advice.trace.name, prefill: bestOf(advice).prefillers })),
  };
}
