/**
 * Replays a slice of a trace over loopback sockets with several policies at the same time, each with mock replicas and a router
 * of its own, and prints the simulator's figures for the same slice beside theirs:
 *
 *     npm run bench:live -- [TRACE] [-f CONFIG]... [--from MINUTE] [--minutes 15] [--requests N] [--speed 5] [--seeds 5]
 *
 * At --speed 5 the trace runs five times as fast and the replicas compute five times as fast, in the simulator too: queues are as
 * at speed 1 and the router decides five times as often. What stays in real time are the router's own periods, such as reading
 * metrics every second. All times are printed in the trace's own time. No verdict is given when the machine was too slow.
 *
 *     npm run bench:live -- --sessions-per-replica 16 [TRACE] [-f CONFIG]... [--minutes 30] [--warm-up 7.5] [--speed 10] [--seeds 5]
 *
 * plays a trace of sessions as a closed loop, with one config after the other: without -f, with the default policy and with the gate.
 * The simulator plays it as often as --seeds says, in the same order and with speeds that are hardly apart.
 */
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { readTraceFile } from "../../apps/cli/simulate/trace-file.ts";
import { sliceOf } from "../../apps/lab/simulate/slice.ts";
import { sharedPath } from "../support/shared.ts";
import { liveLines } from "./live/live-table.ts";
import { runPolicies } from "./live/policy-run.ts";
import { runSessions } from "./live/session-run.ts";
import { sessionLines } from "./live/session-table.ts";

const examples = join(import.meta.dirname, "..", "..", "examples");
const POLICIES = ["quickstart", "policies/sglang-cache-aware", "policies/least-request", "policies/round-robin"];
const LOOP_CONFIGS = [join(examples, "quickstart.yaml"), join(import.meta.dirname, "live", "gate.yaml")];
const LOOP_TRACES = ["agentic_sessions.jsonl.gz"];
const TRACES = ["agentic_coding_trace.jsonl.gz", "mooncake_conversation_trace.jsonl.gz"];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    file: { type: "string", short: "f", multiple: true },
    from: { type: "string", default: "0" },
    minutes: { type: "string" },
    requests: { type: "string", default: "20000" },
    speed: { type: "string" },
    seeds: { type: "string", default: "5" },
    replicas: { type: "string", default: "8" },
    "sessions-per-replica": { type: "string" },
    "warm-up": { type: "string" },
  },
});

/** `usual`: where the switch is not given. Throws an Error that names the switch. */
function numberOf(name: Exclude<keyof typeof values, "file">, least: number, most: number, usual?: number): number {
  const value = Number(values[name] ?? usual);
  if (value >= least && value <= most) return value;
  throw new Error(`--${name} takes a number from ${least} to ${most}.`);
}

function traceFiles(usual: readonly string[]): readonly string[] {
  if (positionals.length > 0) return positionals;
  const found = usual.flatMap((name) => sharedPath(`traces/${name}`) ?? []);
  if (found.length === 0) throw new Error("Name a trace: npm run bench:live -- trace.jsonl.gz");
  return found;
}

async function main(): Promise<void> {
  if (values["sessions-per-replica"] !== undefined) await loops();
  else await slices();
}

async function slices(): Promise<void> {
  const slice = { fromMinute: numberOf("from", 0, 1e6), minutes: numberOf("minutes", 0.01, 1e6, 15) };
  const mostRequests = numberOf("requests", 1, 1e6);
  const speed = numberOf("speed", 0.1, 1_000, 5);
  const settings = { speed, seeds: numberOf("seeds", 1, 100), replicas: numberOf("replicas", 1, 64) };
  const configs = values.file ?? POLICIES.map((name) => join(examples, `${name}.yaml`));
  for (const file of traceFiles(TRACES)) {
    const trace = sliceOf(await readTraceFile(file), { ...slice, mostRequests });
    const { requests } = trace;
    const minutes = (requests.at(-1)?.atMs ?? 0) / 60_000;
    console.log(`${basename(file)}: ${requests.length} requests in ${minutes.toFixed(1)} minutes, at ${speed} times the speed`);
    const runs = await runPolicies(trace, configs, settings);
    console.log(`${["", ...liveLines(runs, speed)].join("\n")}\n`);
  }
}

async function loops(): Promise<void> {
  const minutes = numberOf("minutes", 0.01, 1e6, 30);
  const warmUpMinutes = numberOf("warm-up", 0, minutes, minutes / 4);
  const speed = numberOf("speed", 0.1, 1_000, 10);
  const [replicas, perReplica] = [numberOf("replicas", 1, 64), numberOf("sessions-per-replica", 1, 1_000)];
  const settings = { replicas, perReplica, minutes, warmUpMinutes, speed, runs: numberOf("seeds", 1, 100) };
  for (const file of traceFiles(LOOP_TRACES)) {
    const trace = await readTraceFile(file);
    if (!trace.requests.some(({ turn }) => turn !== undefined)) throw new Error(`${file} names no sessions.`);
    console.log(`${basename(file)}: ${replicas} x ${perReplica} sessions for ${minutes} minutes, at ${speed} times the speed`);
    const runs = await runSessions(trace, values.file ?? LOOP_CONFIGS, settings);
    console.log(`${["", ...sessionLines(runs, speed)].join("\n")}\n`);
  }
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
