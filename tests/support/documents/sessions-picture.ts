import { readTraceFile } from "../../../apps/cli/simulate/trace-file.ts";
import { chart } from "../../../apps/lab/simulate/chart.ts";
import { runAll } from "../../../apps/lab/simulate/run.ts";
import { loadSpec } from "../../apps/lab/simulate/load-spec.ts";
import { halvesOf, POOLS, settingsOf } from "../../bench/sessions/pools.ts";
import { sharedPath } from "../shared.ts";

const SESSIONS_PER_REPLICA = 16;

/** The time to the first token with the gate for sessions and without it, as SVG. `drawn`, where the trace is not here. */
export async function sessionsPicture(drawn: string): Promise<string> {
  const path = sharedPath("traces/agentic_sessions.jsonl.gz");
  if (path === undefined) return drawn;
  // The gate's rule was not chosen on these.
  const [, others] = halvesOf(await readTraceFile(path));
  const configs = [
    { name: "without the gate", loaded: await loadSpec("") },
    { name: "sessions: { gate: true }", loaded: await loadSpec("  sessions: { gate: true }\n") },
  ];
  return chart(runAll([others], configs, settingsOf(POOLS[0]!, SESSIONS_PER_REPLICA), 1, () => {}));
}
