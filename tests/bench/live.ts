/**
 * Replays a slice of a trace over loopback sockets with several policies at the same time, each with mock replicas and a router
 * of its own, and prints the simulator's figures for the same slice beside theirs:
 *
 *     npm run bench:live -- [TRACE] [-f CONFIG]... [--from MINUTE] [--minutes 15] [--requests N] [--speed 5] [--seeds 5]
 *
 * At --speed 5 the trace runs five times as fast and the replicas compute five times as fast, in the simulator too: queues are as
 * at speed 1 and the router decides five times as often. What stays in real time are the router's own periods, such as reading
 * metrics every second. All times are printed in the trace's own time. No verdict is given when the machine was too slow.
 */
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { readTraceFile } from "../../apps/cli/simulate/trace-file.ts";
import { sliceOf } from "../../apps/lab/simulate/slice.ts";
import { sharedPath } from "../support/shared.ts";
import { liveLines } from "./live/live-table.ts";
import { runPolicies } from "./live/policy-run.ts";

const examples = join(import.meta.dirname, "..", "..", "examples");
const POLICIES = ["quickstart", "policies/sglang-cache-aware", "policies/least-request", "policies/round-robin"];
const TRACES = ["agentic_coding_trace.jsonl.gz", "mooncake_conversation_trace.jsonl.gz"];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    file: { type: "string", short: "f", multiple: true, default: POLICIES.map((name) => join(examples, `${name}.yaml`)) },
    from: { type: "string", default: "0" },
    minutes: { type: "string", default: "15" },
    requests: { type: "string", default: "20000" },
    speed: { type: "string", default: "5" },
    seeds: { type: "string", default: "5" },
    replicas: { type: "string", default: "8" },
  },
});

/** Throws an Error that names the switch. */
function numberOf(name: "from" | "minutes" | "requests" | "speed" | "seeds" | "replicas", least: number, most: number): number {
  const value = Number(values[name]);
  if (value >= least && value <= most) return value;
  throw new Error(`--${name} takes a number from ${least} to ${most}.`);
}

function traceFiles(): readonly string[] {
  if (positionals.length > 0) return positionals;
  const found = TRACES.flatMap((name) => sharedPath(`traces/${name}`) ?? []);
  if (found.length === 0) throw new Error("Name a trace: npm run bench:live -- trace.jsonl.gz");
  return found;
}

async function main(): Promise<void> {
  const slice = { fromMinute: numberOf("from", 0, 1e6), minutes: numberOf("minutes", 0.01, 1e6) };
  const mostRequests = numberOf("requests", 1, 1e6);
  const speed = numberOf("speed", 0.1, 1_000);
  const settings = { speed, seeds: numberOf("seeds", 1, 100), replicas: numberOf("replicas", 1, 64) };
  for (const file of traceFiles()) {
    const trace = sliceOf(await readTraceFile(file), { ...slice, mostRequests });
    const { requests } = trace;
    const minutes = (requests.at(-1)?.atMs ?? 0) / 60_000;
    console.log(`${basename(file)}: ${requests.length} requests in ${minutes.toFixed(1)} minutes, at ${speed} times the speed`);
    const runs = await runPolicies(trace, values.file, settings);
    console.log(`${["", ...liveLines(runs, speed)].join("\n")}\n`);
  }
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
