/**
 * Feeds random and damaged inputs to everything that reads bytes from outside: `npm run fuzz -- --seconds 600`, with
 * `--target NAME` for one of them and `--seed N` to go the same way again. Exits with 1 when an input fails.
 */
import { parseArgs } from "node:util";
import { fuzz, type Target } from "./fuzz.ts";
import { TARGETS } from "./targets.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    target: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
  },
});
const seconds = Number(values.seconds);
const seed = Number(values.seed);
const chosen = TARGETS.filter(({ name }) => values.target === undefined || values.target === name);
if (chosen.length === 0 || !(seconds > 0) || !Number.isSafeInteger(seed)) {
  console.error(`Usage: npm run fuzz -- [--seconds N] [--target ${TARGETS.map(({ name }) => name).join("|")}] [--seed N]`);
  process.exit(2);
}

let failed = 0;
for (const target of chosen) if (!(await passes(target, (seconds * 1000) / chosen.length))) failed += 1;
console.log(`${chosen.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

async function passes(target: Target, forMs: number): Promise<boolean> {
  const endMs = performance.now() + forMs;
  const { inputs, kinds, finding } = await fuzz(target, { seed, isOver: () => performance.now() >= endMs });
  console.log(
    `${target.name}: ${inputs} inputs of ${kinds} kinds, seed ${seed}${finding === undefined && inputs > 0 ? "" : ", FAILED"}`,
  );
  if (finding === undefined) return inputs > 0;
  const { input, message, after } = finding;
  console.log(`  after ${after} inputs: ${message}`);
  console.log(`  input (${input.length} bytes): ${JSON.stringify(input.toString("latin1"))}`);
  console.log(`  input as base64: ${input.toString("base64")}`);
  console.log(`  again: npm run fuzz -- --target ${target.name} --seed ${seed}`);
  return false;
}
