import { type Input, UsageError } from "../../../config/command.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import { printableLines } from "../../../core/contract/printable.ts";
import { MAX_SLOTS } from "../../../core/state/load.ts";
import { ENGINE_TIMES } from "../../lab/engine/engine-times.ts";
import { type NamedConfig, type Run, runAll } from "../../lab/simulate/run.ts";
import { sliceOf } from "../../lab/simulate/slice.ts";
import { endpointsIn, type Trace } from "../../lab/simulate/trace.ts";
import { numberArgument } from "../frame/usage.ts";
import { defaultConfig, readConfigs } from "../simulate/named-configs.ts";
import { readTraceFile } from "../simulate/trace-file.ts";
import { adviceText, type Outlook } from "./advice-text.ts";

type Registry = ReadonlyMap<string, Definition>;

const HOUR_MS = 3_600_000;

/** `signalbox advise`: this process alone computes it, no router. Returns the exit code. */
export async function advise(input: Input, registry: Registry): Promise<number> {
  const number = (name: string, min: number, max: number, isWhole = true) =>
    numberArgument(`--${name}`, input.text(name) ?? "", min, max, isWhole);
  const [path, ...others] = input.words;
  if (path === undefined || others.length > 0) throw new UsageError("Name one access log: signalbox advise access.log");
  const kvTokens = number("kv-tokens", 1_024, 1e9);
  const model = { ...ENGINE_TIMES, kvTokens, prefillTokensPerS: number("prefill-tps", 1, 1e9) };
  const seeds = number("seeds", 1, 1_000);
  const hours = number("hours", 0.001, 1_000, false);
  const named = input.text("replicas") === undefined ? undefined : number("replicas", 1, MAX_SLOTS - 1);
  const config = await configOf(input, registry);
  if (config === undefined) return 1;
  const trace = lastHours(await readTraceFile(path), hours);
  const replicas = named ?? Math.min(endpointsIn(trace), MAX_SLOTS - 1);
  if (replicas === 0) throw new UsageError(`${trace.name} does not say how many replicas there were; add --replicas 4.`);

  const outlooks = [replicas - 1, replicas, replicas + 1]
    .filter((count) => count > 0)
    .map((count) => {
      const settings = { replicas: count, model, speeds: [], timeScale: 1, seed: 1, tokenError: 0, faults: [] };
      const [run] = runAll([trace], [config], settings, seeds, () => {});
      return outlookOf(count, run!);
    });
  const result = { requests: trace.requests.length, minutes: minutesOf(trace), replicas, seeds, model, outlooks };
  const text = input.isJson ? JSON.stringify(result, undefined, 2) : printableLines(adviceText(trace, result));
  process.stdout.write(`${text}\n`);
  return 0;
}

async function configOf(input: Input, registry: Registry): Promise<NamedConfig | undefined> {
  const files = input.all("file");
  if (files.length === 0) return { name: "default", loaded: await defaultConfig(registry) };
  if (files.length > 1) throw new UsageError("Name one config file; signalbox simulate compares several.");
  return (await readConfigs(files, registry))?.[0];
}

function lastHours(trace: Trace, hours: number): Trace {
  const endMs = trace.requests.at(-1)!.atMs;
  const fromMs = Math.max(0, endMs - hours * HOUR_MS);
  if (fromMs === 0) return trace;
  const minutes = hours * 60 + 1;
  return sliceOf(trace, { fromMinute: fromMs / 60_000, minutes, mostRequests: Number.POSITIVE_INFINITY });
}

const minutesOf = ({ requests }: Trace) => Math.round(((requests.at(-1)?.atMs ?? 0) / 60_000) * 10) / 10;

function outlookOf(replicas: number, { ttftSeconds, utilization, completionRatio }: Run): Outlook {
  return { replicas, ttftMeanS: ttftSeconds.mean, ttftP99S: ttftSeconds.p99, busy: utilization, completed: completionRatio };
}
