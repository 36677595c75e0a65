/**
 * Compares the default profile with the published policies of `examples/policies/` on a recorded trace:
 * `npm run bench:routing -- TRACE [--seeds 5]`. One table per time scale; every run is the router's own decision code.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");
const SCALES = ["1.0", "0.8", "1.5"];

const policies = readdirSync(join(root, "examples", "policies")).filter((name) => name.endsWith(".yaml"));
const configs = ["quickstart.yaml", ...policies.map((name) => join("policies", name))].flatMap((name) => [
  "-f",
  join(root, "examples", name),
]);
const asked = process.argv.slice(2);
if (asked.length === 0) {
  console.error("Name a trace: npm run bench:routing -- trace.jsonl.gz");
  process.exit(2);
}
for (const scale of SCALES) {
  const words = [join(root, "core", "cli", "signalbox.mjs"), "simulate", ...asked, ...configs, "--time-scale", scale];
  const { status } = spawnSync(process.execPath, words, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
