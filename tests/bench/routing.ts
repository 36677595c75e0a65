/**
 * Compares the default config with the published policies of `examples/policies/` and with the exact state of the replicas, on
 * recorded traces: `npm run bench:routing`, or `npm run bench:routing -- TRACE...`. Every run is the router's own decision code.
 */

import { readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { UsageError } from "../../config/command.ts";
import { sharedPath } from "../support/shared.ts";
import { HELP, type RoutingArguments, readArguments } from "./routing/arguments.ts";
import { type Cell, cellsOf, SHARED_PROMPT_CELLS, seedsFor } from "./routing/matrix.ts";
import { runJobs } from "./routing/processes.ts";
import { placeOf, routingReport } from "./routing/report.ts";
import { readTrace } from "./routing/shared-prompt.ts";
import { type CellFigures, EXACT, type Figures, judge, OURS } from "./routing/verdict.ts";

const EXAMPLES = join(import.meta.dirname, "..", "..", "examples");
const DEFAULT_CONFIG = join(EXAMPLES, "quickstart.yaml");
const TRACES = ["mooncake_conversation_trace.jsonl.gz", "agentic_coding_trace.jsonl.gz"];

interface Policy {
  readonly name: string;
  readonly config: string;
  readonly isExact: boolean;
}

const policies: readonly Policy[] = [
  { name: OURS, config: DEFAULT_CONFIG, isExact: false },
  { name: EXACT, config: DEFAULT_CONFIG, isExact: true },
  ...readdirSync(join(EXAMPLES, "policies"))
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => ({ name: basename(name, ".yaml"), config: join(EXAMPLES, "policies", name), isExact: false })),
];

async function main(): Promise<number> {
  const asked = readArguments(
    process.argv.slice(2),
    TRACES.flatMap((name) => sharedPath(`traces/${name}`) ?? []),
  );
  if (asked === undefined) {
    console.log(HELP);
    return 0;
  }
  const startedAtMs = performance.now();
  const cells = [...cellsOf(asked.traces, asked.isWhole), ...SHARED_PROMPT_CELLS].filter(
    ({ replicas }) => asked.replicas === undefined || replicas === asked.replicas,
  );
  const figures = await simulateAll(cells, asked);
  const verdicts = cells.map((cell, index) => judge(cell, figures[index]!));
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(0);
  console.log(routingReport(verdicts));
  console.log(`${cells.length} cells, ${policies.length} policies, ${seconds} s on ${asked.jobs} processes.`);
  if (asked.jsonFile !== undefined) writeFileSync(asked.jsonFile, jsonOf(cells, figures));
  return 0;
}

/** Every policy in every cell; the mean over the seeds. */
async function simulateAll(cells: readonly Cell[], { seeds, jobs }: RoutingArguments): Promise<readonly CellFigures[]> {
  const seedsOf = new Map<string, number>();
  for (const trace of new Set(cells.map((cell) => cell.trace)))
    seedsOf.set(trace, seeds ?? seedsFor((await readTrace(trace)).requests.length));
  const work = cells.flatMap((cell) =>
    policies.flatMap(({ name, config, isExact }) =>
      Array.from({ length: seedsOf.get(cell.trace)! }, (_, index) => ({ name, cell, config, isExact, seed: index + 1 })),
    ),
  );
  const results = await runJobs(work, jobs, (done) => process.stderr.write(`\r${done} of ${work.length} simulations`));
  process.stderr.write("\n");
  return cells.map((cell) => {
    const ofPolicy = (policy: string) => results.filter((_, index) => work[index]!.cell === cell && work[index]!.name === policy);
    return new Map(policies.map(({ name }) => [name, meanOf(ofPolicy(name))]));
  });
}

function meanOf(all: readonly Figures[]): Figures {
  const mean = (read: (figures: Figures) => number) => all.reduce((sum, each) => sum + read(each), 0) / all.length;
  return {
    mean: mean((each) => each.mean),
    p99: mean((each) => each.p99),
    betweenTokens: mean((each) => each.betweenTokens),
    completed: mean((each) => each.completed),
  };
}

function jsonOf(cells: readonly Cell[], figures: readonly CellFigures[]): string {
  const all = cells.map((cell, index) => ({ ...cell, trace: placeOf(cell)[0], policies: Object.fromEntries(figures[index]!) }));
  return `${JSON.stringify(all, undefined, 2)}\n`;
}

try {
  process.exitCode = await main();
} catch (thrown) {
  if (!(thrown instanceof UsageError)) throw thrown;
  console.error(thrown.message);
  process.exitCode = 2;
}
