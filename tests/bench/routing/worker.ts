/** A process of `npm run bench:routing`: simulates one policy in one cell at a time, as its parent asks. */

import { runAll } from "../../../apps/lab/simulate/run.ts";
import type { Trace } from "../../../apps/lab/simulate/trace.ts";
import { type LoadedConfig, loadConfig } from "../../../config/load.ts";
import { formatProblems } from "../../../config/read/problems.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { type Cell, settingsOf } from "./matrix.ts";
import { readTrace } from "./shared-prompt.ts";
import type { Figures } from "./verdict.ts";

export interface Job {
  readonly cell: Cell;
  readonly config: string;
  readonly isExact: boolean;
  readonly seed: number;
}

/** By path: read once, because the same ones come again and again. */
const traces = new Map<string, Promise<Trace>>();
const configs = new Map<string, Promise<LoadedConfig>>();

process.on("message", (job: Job) => {
  simulate(job).then(
    (figures) => process.send!(figures),
    (thrown: unknown) => {
      console.error(thrown);
      process.exit(1);
    },
  );
});

async function simulate({ cell, config, isExact, seed }: Job): Promise<Figures> {
  const trace = await readOnce(traces, cell.trace, readTrace);
  const loaded = await readOnce(configs, config, readConfig);
  const settings = settingsOf(cell, seed, (trace.requests.at(-1)?.atMs ?? 0) / 1000);
  const [run] = runAll([trace], [{ name: "", loaded, isExact }], settings, 1, () => {});
  const { ttftSeconds, interTokenSeconds, completionRatio } = run!;
  return { mean: ttftSeconds.mean, p99: ttftSeconds.p99, betweenTokens: interTokenSeconds.p50, completed: completionRatio };
}

function readOnce<Value>(
  known: Map<string, Promise<Value>>,
  path: string,
  read: (path: string) => Promise<Value>,
): Promise<Value> {
  const value = known.get(path) ?? read(path);
  known.set(path, value);
  return value;
}

async function readConfig(path: string): Promise<LoadedConfig> {
  const loaded = await loadConfig([path], builtIns);
  if (loaded.problems === undefined) return loaded;
  throw new Error(`${path} is not valid: ${formatProblems(loaded.problems)}`);
}
