import { writeFileSync } from "node:fs";
import { type Input, UsageError } from "../../../config/command.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import { printableLines } from "../../../core/contract/printable.ts";
import { seededRandom } from "../../../core/contract/test-kit.ts";
import { chart } from "../../lab/simulate/chart.ts";
import { withImages } from "../../lab/simulate/images.ts";
import { type Progress, runAll } from "../../lab/simulate/run.ts";
import type { Trace } from "../../lab/simulate/trace.ts";
import { defaultConfig, readConfigs } from "./read-configs.ts";
import { simulateArguments } from "./simulate-arguments.ts";
import { lossesReport, report } from "./simulate-report.ts";
import { readTraceFile } from "./trace-file.ts";
import { checkWritable } from "./written-file.ts";

type Registry = ReadonlyMap<string, Definition>;

const BAR_CELLS = 30;
/** Images are drawn apart from everything else that is random. */
const IMAGE_SEED = 0x1a6e;

/** `signalbox simulate`: replays traces with one or more configs and prints the results. Returns the exit code. */
export async function simulate(input: Input, registry: Registry): Promise<number> {
  const { settings, images, seeds } = simulateArguments(input);
  const [save, svg] = [input.text("save"), input.text("svg")];
  if (save !== undefined) checkWritable("--save", save);
  if (svg !== undefined) checkWritable("--svg", svg);
  const standard = await defaultConfig(registry);
  const files = input.all("file");
  const own = files.length === 0 ? [{ name: "default", loaded: standard }] : await readConfigs(files, registry);
  if (own === undefined) {
    process.stderr.write("Nothing was simulated.\n");
    return 1;
  }
  const explained = input.has("explain-losses") ? own.map((config) => ({ ...config, reference: standard })) : own;
  const exact = input.has("exact") ? [{ name: "exact state", loaded: standard, isExact: true }] : [];
  const traces: Trace[] = [];
  const random = seededRandom(settings.seed ^ IMAGE_SEED);
  for (const path of input.words) traces.push(withImages(await readTraceFile(path), images, random));
  const alone = settings.sessions && traces.find(({ requests }) => requests.every(({ turn }) => turn === undefined));
  if (alone) throw new UsageError(`${alone.name} names no sessions; leave out --sessions-per-replica (docs/simulate.md).`);

  const bar = progressBar();
  const runs = runAll(traces, [...explained, ...exact], settings, seeds, bar.show);
  bar.clear();

  const figures = runs.map(({ ttftCurve, ...run }) => run);
  const json = `${JSON.stringify({ runs: figures, settings: { ...settings, images, seeds } }, undefined, 2)}\n`;
  const text = report(traces, runs, settings, seeds) + runs.map(lossesReport).join("");
  process.stdout.write(input.isJson ? json : printableLines(text));
  if (save !== undefined) writeFileSync(save, json);
  if (svg !== undefined) writeFileSync(svg, chart(runs));
  return 0;
}

/** A progress bar on the standard error; nothing if that is not a terminal. */
function progressBar(): { readonly show: Progress; readonly clear: () => void } {
  if (process.stderr.isTTY !== true) return { show: () => {}, clear: () => {} };
  let shown = "";
  return {
    show(name, share) {
      const done = Math.round(share * BAR_CELLS);
      const line = `[${"#".repeat(done)}${".".repeat(BAR_CELLS - done)}] ${Math.round(share * 100)}%  ${name}`;
      if (line === shown) return;
      shown = line;
      process.stderr.write(`\r\x1b[K${line.slice(0, (process.stderr.columns || 80) - 1)}`);
    },
    clear() {
      process.stderr.write("\r\x1b[K");
    },
  };
}
