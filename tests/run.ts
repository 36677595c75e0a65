/**
 * Runs the tests. `npm test`: all files on Node 20, and on Deno and Bun those that depend on the runtime, as their names say.
 * `npm run test:all`: all files on all runtimes, also on the Nodes of SIGNALBOX_NODES (separated by ":"); with `--rest`, only what
 * `npm test` leaves out. `npm test -- tests/core/body` runs what it names, `npm test -- deno tests/core/body` runs all of that on Deno.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { KnownTimes } from "./support/suite/known-times.ts";
import { type GroupResult, runGroup } from "./support/suite/run-group.ts";
import { KINDS, ROOT, runtimes } from "./support/suite/runtimes.ts";
import { type Extent, groups, type Job, jobsOf, testFiles } from "./support/suite/selection.ts";

const SLOWEST_SHOWN = 10;
/** Of processes with failed tests that run again, and how often. */
const MOST_REPEATED = 12;
const MOST_TIMES = 2;
const SWITCHES: Readonly<Record<string, Extent>> = { "--all": "all", "--rest": "rest" };

/** Each runtime's groups one by one in turn, so that those that take longest begin first on all. */
function inTurn(plan: readonly Job[]): Job[] {
  const lists = plan.map(({ runtime, files }) => groups(files).map((group) => ({ runtime, files: group })));
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list[index] ?? [])).flat();
}

interface Done {
  readonly job: Job;
  readonly isSample: boolean;
  readonly result: GroupResult;
}

/** In this order; two more at a time than the machine has cores, since most wait for sockets and processes half of their time. */
async function runAll(jobs: readonly Job[], isSample: (job: Job) => boolean): Promise<Done[]> {
  const waiting = [...jobs];
  const done: Done[] = [];
  const work = async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      done.push({ job, isSample: isSample(job), result: await runJob(job, isSample(job)) });
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() + 2 }, work));
  return done;
}

async function runJob({ runtime, files }: Job, isSample: boolean): Promise<GroupResult> {
  const result = await runGroup(runtime, files, isSample);
  console.log(`${result.runtime}: ${Math.round(result.seconds)} s for ${files.join(" ")}`);
  if (!result.isGood) console.log(result.output);
  else for (const line of result.output.match(/^LEFT BEHIND: .*$/gm) ?? []) console.log(line);
  return result;
}

/**
 * Of a whole run, runs what failed up to twice more, one by one on a machine that does nothing else, unless there is much of it: what
 * fails each time is a fault. What passes then is named as unsteady, since it may be one too.
 */
async function repeated(done: readonly Done[]): Promise<GroupResult[]> {
  const results: GroupResult[] = [];
  const isRepeated = done.filter(({ result }) => !result.isGood).length <= MOST_REPEATED;
  for (const { job, isSample, result } of done) {
    let again = result;
    for (let time = 0; time < MOST_TIMES && isRepeated && !again.isGood; time++) again = await runJob(job, isSample);
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
const switches = words.filter((word) => Object.hasOwn(SWITCHES, word));
const places = words.filter((word) => existsSync(join(ROOT, word)));
const kinds = words.filter((word) => KINDS.includes(word));
const unknown = words.filter((word) => !places.includes(word) && !kinds.includes(word) && !switches.includes(word));
if (unknown.length > 0) {
  console.error(`"${unknown[0]}" is neither a runtime (${KINDS.join(", ")}) nor a file or folder of this project.`);
  process.exit(2);
}
const files = [...new Set((places.length > 0 ? places : ["tests"]).flatMap(testFiles))];
if (files.length === 0) {
  console.error(`There are no tests in ${places.join(", ")}.`);
  process.exit(1);
}
const extent = SWITCHES[switches.at(-1) ?? ""] ?? "usual";
const isNamed = places.length > 0 && kinds.length > 0;
const all = runtimes();
const [firstNode] = all;
const plan = (isNamed ? all.map((runtime) => ({ runtime, files })) : jobsOf(extent, all, files))
  .filter(({ runtime }) => kinds.length === 0 || kinds.includes(runtime.name.split(":")[0] ?? ""))
  .filter(({ files: chosen }) => chosen.length > 0);
for (const { runtime, files: chosen } of plan) console.log(`${runtime.name}: ${chosen.length} of ${files.length} files`);

const knownTimes = new KnownTimes(join(ROOT, "node_modules", ".cache", "signalbox-test-times.json"));
const selection = [...words].sort().join(" ") || "all";
console.log(knownTimes.text(selection));

const started = performance.now();
const isFirstNodeRun = plan.some(({ runtime }) => runtime === firstNode);
if (places.length === 0 && isFirstNodeRun) process.env["SIGNALBOX_BUILT"] = build();
const done = await runAll(inTurn(plan), ({ runtime }) => places.length === 0 && runtime !== firstNode);
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
