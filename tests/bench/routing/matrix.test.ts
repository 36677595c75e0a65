import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { faultsOf } from "../../../apps/lab/simulate/faults.ts";
import { readArguments } from "./arguments.ts";
import { type Cell, cellsOf, restartsOf, SHARED_PROMPT_CELLS, seedsFor, settingsOf } from "./matrix.ts";
import { routingReport } from "./report.ts";
import { readTrace } from "./shared-prompt.ts";
import { EXACT, type Figures, judge, type Miss, OURS } from "./verdict.ts";

const CELL: Cell = { trace: "folder/my_trace.jsonl.gz", timeScale: 1, replicas: 8, kvTokens: 524_288, disturbance: "" };
const thisFile = join(import.meta.dirname ?? ".", "matrix.test.ts");

describe("the routing benchmark's arguments", () => {
  it("take the usual traces, or those that are named", () => {
    assert.deepEqual(readArguments([], [thisFile])?.traces, [thisFile]);
    assert.deepEqual(readArguments([thisFile], ["/usual"])?.traces, [thisFile]);
    const asked = readArguments(
      [thisFile, "--replicas", "16", "--seeds", "3", "--jobs", "1", "--whole", "--json", "out.json"],
      [],
    );
    assert.deepEqual(asked, { traces: [thisFile], isWhole: true, replicas: 16, seeds: 3, jobs: 1, jsonFile: "out.json" });
    assert.equal(readArguments([thisFile], [])?.seeds, undefined);
    assert.equal(readArguments(["--help"], []), undefined);
  });

  const bad: readonly [argv: readonly string[], message: RegExp][] = [
    [[], /^Error: Name a trace: npm run bench:routing -- trace\.jsonl\.gz$/],
    [["/nowhere.jsonl"], /There is no file \/nowhere\.jsonl; name a trace to replay/],
    [[thisFile, "--seeds", "0"], /--seeds wants a whole number from 1 to 100, not "0"/],
    [[thisFile, "--jobs", "x"], /--jobs wants a whole number from 1 to 256, not "x"/],
    [[thisFile, "--replicas", "9"], /--replicas wants 4 or 8 or 16, not "9"/],
    [[thisFile, "--hole"], /--hole.*"npm run bench:routing -- --help" lists the switches/],
    [[thisFile, "--json"], /--json.*lists the switches/],
  ];
  for (const [argv, message] of bad) {
    it(`refuse ${argv.length === 0 ? "nothing" : argv.slice(-2).join(" ")}`, () => {
      assert.throws(() => readArguments(argv, []), message);
    });
  }
});

describe("the matrix", () => {
  it("has each cell once, and its part is in the whole", () => {
    const [part, whole] = [cellsOf(["a", "b"], false), cellsOf(["a", "b"], true)].map((cells) =>
      cells.map((cell) => JSON.stringify(Object.entries(cell).sort())),
    );
    assert.deepEqual([part!.length, whole!.length], [26, 60]);
    assert.deepEqual([new Set(part).size, new Set(whole).size], [26, 60]);
    assert.ok(part!.every((cell) => whole!.includes(cell)));
  });

  it("repeats short traces", () => {
    assert.deepEqual([12_031, 4_000, 2_297, 10].map(seedsFor), [1, 1, 2, 5]);
  });

  it("disturbs what it says, and nothing else", () => {
    const of = (cell: Partial<Cell>) => settingsOf({ ...CELL, ...cell }, 3, 3_600);
    const usual = of({});
    assert.deepEqual([usual.speeds, usual.tokenError, usual.faults, usual.seed], [[], 0, [], 3]);
    assert.deepEqual(of({ disturbance: "half speed" }), { ...usual, speeds: [0.5] });
    assert.deepEqual(of({ disturbance: "token error" }), { ...usual, tokenError: 0.3 });
    assert.deepEqual(of({ disturbance: "restarts" }), { ...usual, faults: restartsOf(3_600, 8, 3) });
    assert.deepEqual(of({ kvTokens: 9 }).model.kvTokens, 9);
  });

  it("restarts replicas at times that are the same for the same seed", () => {
    const restarts = restartsOf(3_600, 4, 1);
    assert.equal(restarts.length, 12);
    assert.deepEqual(restartsOf(3_600, 4, 1), restarts);
    assert.notDeepEqual(restartsOf(3_600, 4, 2), restarts);
    assert.equal(restartsOf(10, 4, 1).length, 1);
    assert.ok(restarts.every(({ fromS }) => fromS >= 0 && fromS < 3_600));
    assert.equal(new Set(restarts.map(({ replica }) => replica)).size, 4);
    const timed = [0, 1, 2, 3].flatMap((replica) => faultsOf(replica, restarts, 1));
    assert.ok(timed.length === 12 && timed.every(({ untilMs, fromMs }) => untilMs - fromMs === 60_000));
  });
});

const figures = (mean: number, p99: number, completed = 1, betweenTokens = 1): Figures => ({
  ...{ mean, p99, completed, betweenTokens },
});

/** Ours, the exact state, and two others. */
function judged(ours: Figures, exact: number, others: readonly Figures[], cell = CELL) {
  const names = others.map((of, index) => [`other-${index + 1}`, of] as const);
  return judge(cell, new Map([[OURS, ours], [EXACT, figures(exact, 1)], ...names]));
}

describe("prompts that share their beginning", () => {
  for (const { trace } of SHARED_PROMPT_CELLS)
    it(`${trace}: the same trace each time, in order, with one long beginning`, async () => {
      const { requests } = await readTrace(trace);
      assert.deepEqual(requests, (await readTrace(trace)).requests);
      assert.ok(requests.every(({ atMs }, index) => index === 0 || atMs >= requests[index - 1]!.atMs));
      assert.equal(new Set(requests.map(({ prompt }) => prompt.blocks.slice(0, -1).join())).size, 1);
      assert.equal(new Set(requests.map(({ prompt }) => prompt.blocks.at(-1))).size, requests.length);
    });
});

describe("a cell", () => {
  const cases: readonly [name: string, verdict: ReturnType<typeof judged>, misses: readonly Miss[]][] = [
    ["holds where nobody is better", judged(figures(1, 10), 1, [figures(1.1, 12), figures(2, 11)]), []],
    ["holds within the margins", judged(figures(1.02, 10.2), 0.96, [figures(1, 12), figures(2, 10)]), []],
    ["fails by the mean of any policy", judged(figures(1.03, 9), 1, [figures(2, 12), figures(1, 30)]), ["mean"]],
    ["fails by the p99 of any policy", judged(figures(1, 10.3), 1, [figures(2, 10), figures(1, 30)]), ["p99"]],
    ["fails against the exact state", judged(figures(1.08, 9), 1, [figures(2, 10), figures(2, 30)]), ["exact"]],
    ["fails if it completes less", judged(figures(1, 9, 0.9), 1, [figures(2, 10), figures(2, 30)]), ["completed"]],
  ];
  it("fails by the time between tokens where prompts share their beginning, and nowhere else", () => {
    const [slow, others] = [figures(1, 10, 1, 1.03), [figures(2, 12)]];
    assert.deepEqual(judged(slow, 1, others, SHARED_PROMPT_CELLS[0]).misses, ["tokens"]);
    assert.deepEqual(judged(slow, 1, others).misses, []);
  });
  for (const [name, { misses }, wanted] of cases) it(name, () => assert.deepEqual(misses, wanted));

  it("names the best other policy by mean and by p99", () => {
    const { bestMean, bestP99, meanRatio, p99Ratio, exactRatio } = judged(figures(3, 30), 2, [figures(1, 60), figures(6, 10)]);
    assert.deepEqual(
      [bestMean, bestP99],
      [
        { policy: "other-1", seconds: 1 },
        { policy: "other-2", seconds: 10 },
      ],
    );
    assert.deepEqual([meanRatio, p99Ratio, exactRatio], [3, 3, 1.5]);
  });

  it("is one of overload where nobody can serve it, and is still judged", () => {
    const { isOverload, misses } = judged(figures(80, 300), 61, [figures(70, 300), figures(90, 400)]);
    assert.deepEqual([isOverload, misses], [true, ["mean", "exact"]]);
    assert.equal(judged(figures(80, 300), 61, [figures(59, 300)]).isOverload, false);
  });
});

it("the report has a row for each cell, the worst cells, and counts", () => {
  const good = judged(figures(1, 10), 1, [figures(1.1, 12)]);
  const bad = judged(figures(1.5, 10), 1, [figures(1, 12)]);
  const overload = judged(figures(80, 300), 61, [figures(70, 300)]);
  const text = routingReport([good, bad, overload]);
  const lines = text.split("\n");
  assert.match(lines[1]!, /^my +1 +8 +524k +1\.00 \/ 10\.0 +1\.10 other-1 +12\.0 other-1 +0\.91 +0\.83 +1\.00 +1\.00 {2}holds$/);
  assert.match(lines[2]!, /not mean, not exact$/);
  assert.match(lines[3]!, /overload, not mean, not exact$/);
  const worst = lines.slice(lines.indexOf("The worst cells:") + 3);
  assert.match(worst[0]!, /not mean, not exact$/);
  assert.match(text, /\n1 of 2 cells that the pool can serve hold; 1 by mean and p99, 1 against the exact state\.\n/);
  assert.match(text, /\n0 of 1 cells of overload, .* hold; 0 by mean and p99, 0 against the exact state\.\n/);
});
