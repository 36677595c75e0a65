/**
 * Runs the test suite on every runtime that `npm ci` brought, or on those named: `npm test -- deno bun`. The first Node runs all
 * of it, the others what depends on the runtime and a sample of the rest. `npm test -- node tests/core/body` runs what it names.
 * SIGNALBOX_NODES may name more Node binaries, separated by ":".
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { KnownTimes } from "./support/suite/known-times.ts";
import { type GroupResult, runGroup } from "./support/suite/run-group.ts";
import { KINDS, ROOT, type Runtime, runtimes } from "./support/suite/runtimes.ts";
import { groups, isPure, onEveryRuntime, testFiles } from "./support/suite/selection.ts";

const SLOWEST_SHOWN = 10;
/** Of processes with failed tests that run again, and how often. */
const MOST_REPEATED = 8;
const MOST_TIMES = 2;

interface Job {
  readonly runtime: Runtime;
  readonly isSample: boolean;
  readonly files: readonly string[];
}

interface Done {
  readonly job: Job;
  readonly result: GroupResult;
}

/** Each runtime's groups one by one in turn, so that those that take longest begin first on all. */
function jobsOf(plan: readonly Job[]): Job[] {
  const lists = plan.map((job) => groups(job.files).map((group) => ({ ...job, files: group })));
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list[index] ?? [])).flat();
}

/** In this order; two more at a time than the machine has cores, since most wait for sockets and processes half of their time. */
async function runAll(jobs: readonly Job[]): Promise<Done[]> {
  const waiting = [...jobs];
  const done: Done[] = [];
  const work = async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      done.push({ job, result: await runJob(job) });
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() + 2 }, work));
  return done;
}

async function runJob({ runtime, files, isSample }: Job): Promise<GroupResult> {
  const result = await runGroup(runtime, files, isSample);
  console.log(`${result.runtime}: ${Math.round(result.seconds)} s for ${files.join(" ")}`);
  if (!result.isGood) console.log(result.output);
  return result;
}

/**
 * Of the whole suite, runs what failed up to twice more, one by one on a machine that does nothing else, unless there is much of it: what
 * fails each time is a fault. What passes then is named as unsteady, since it may be one too.
 */
async function repeated(done: readonly Done[]): Promise<GroupResult[]> {
  const results: GroupResult[] = [];
  const isRepeated = done.filter(({ result }) => !result.isGood).length <= MOST_REPEATED;
  for (const { job, result } of done) {
    let again = result;
    for (let time = 0; time < MOST_TIMES && isRepeated && !again.isGood; time++) again = await runJob(job);
    if (again.isGood && !result.isGood)
      console.log(`UNSTEADY: ${job.runtime.name}: ${result.failed} failed beside others, none alone: ${job.files.join(" ")}`);
    results.push(again);
  }
  return results;
}

/** The package as npm gets it, which tests on Node 20 start as users do. */
function build(): string {
  const folder = join(ROOT, "node_modules", ".cache", "signalbox-built");
  execFileSync(process.execPath, ["--import", "tsx", "tests/support/package/build.ts", folder], { cwd: ROOT });
  return folder;
}

/** Prints what a runtime's tests came to; true when all passed. */
function summarize(name: string, results: readonly GroupResult[]): boolean {
  const total = (value: (result: GroupResult) => number) => results.reduce((sum, result) => sum + value(result), 0);
  for (const line of new Set(results.flatMap(({ output }) => output.match(/^SKIPPED: .*$/gm) ?? [])))
    console.log(`${name}: ${line}`);
  const slowest = results
    .flatMap(({ fileSeconds }) => [...fileSeconds])
    .sort(([, a], [, b]) => b - a)
    .slice(0, SLOWEST_SHOWN);
  for (const [file, seconds] of slowest) console.log(`${name}: ${seconds.toFixed(1).padStart(6)} s ${file}`);
  console.log(`${name}: ${total(({ passed }) => passed)} passed, ${total(({ failed }) => failed)} failed`);
  return results.length > 0 && results.every(({ isGood }) => isGood);
}

const words = process.argv.slice(2);
const places = words.filter((word) => existsSync(join(ROOT, word)));
const kinds = words.filter((word) => KINDS.includes(word));
const unknown = words.filter((word) => !places.includes(word) && !kinds.includes(word));
if (unknown.length > 0) {
  console.error(`"${unknown[0]}" is neither a runtime (${KINDS.join(", ")}) nor a file or folder of this project.`);
  process.exit(2);
}
const files = [...new Set((places.length > 0 ? places : ["tests"]).flatMap(testFiles))];
if (files.length === 0) {
  console.error(`There are no tests in ${places.join(", ")}.`);
  process.exit(1);
}
const plan = runtimes()
  .filter(({ name }) => kinds.length === 0 || kinds.includes(name.split(":")[0] ?? ""))
  .map((runtime) => {
    const isSample = places.length === 0 && runtime.name !== "node";
    return { runtime, isSample, files: isSample ? onEveryRuntime(files) : files };
  });
for (const { runtime, files: chosen } of plan) console.log(`${runtime.name}: ${chosen.length} of ${files.length} files`);
const sampled = plan.find(({ files: chosen }) => chosen.length < files.length)?.files.filter(isPure) ?? [];
if (sampled.length > 0) console.log(`The sample of files that depend on no runtime: ${sampled.join(" ")}`);

const knownTimes = new KnownTimes(join(ROOT, "node_modules", ".cache", "signalbox-test-times.json"));
const selection = [...words].sort().join(" ") || "all";
console.log(knownTimes.text(selection));

const started = performance.now();
const isFirstNodeRun = plan.some(({ runtime }) => runtime.name === "node");
if (places.length === 0 && isFirstNodeRun) process.env["SIGNALBOX_BUILT"] = build();
const done = await runAll(jobsOf(plan));
const results = places.length === 0 ? await repeated(done) : done.map(({ result }) => result);
const verdicts = plan.map(({ runtime }) =>
  summarize(
    runtime.name,
    results.filter((result) => result.runtime === runtime.name),
  ),
);
const seconds = (performance.now() - started) / 1000;
knownTimes.remember(selection, seconds);
console.log(`${Math.round(seconds)} s`);
process.exitCode = verdicts.every(Boolean) ? 0 : 1;
