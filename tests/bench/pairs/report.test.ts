import assert from "node:assert/strict";
import { it } from "node:test";
import { makeTrace, makeTraced } from "../../apps/lab/simulate/traces.ts";
import { type Cell, type Figures, lossesOf, pairTable } from "./report.ts";
import { REPLICAS, SPLITS, settingsFor, TRAFFICS, traceFor } from "./traffics.ts";

const figures = (goodput: number): Figures => ({ mean: 1, p99: 12.3, tokenP99: 20.2, share: 0.5, goodput, pairs: 0.25 });
const cell = (prefillers: number | undefined, of: Record<string, number>): Cell => ({
  ...{ traffic: "some", limits: "3 s, 30 ms a token", prefillers },
  figures: Object.fromEntries(Object.entries(of).map(([name, goodput]) => [name, figures(goodput)])),
});

it("the table has a row for each decider on each pool", () => {
  const rows = pairTable([cell(undefined, { standalone: 1 }), cell(2, { never: 1, cost: 2 })])
    .split("\n")
    .slice(2);
  assert.match(
    rows[0]!,
    /^\| some \(3 s, 30 ms a token\) \| none +\| standalone \| 1\.00 +\| 12\.3 +\| 20 +\| 50\.0 % +\| 1\.000 +\| 25\.0 % \|$/,
  );
  assert.match(rows[1]!, /^\| +\| 2 +\| never /);
  assert.match(rows[2]!, /^\| +\| +\| cost .* 2\.000 /);
});

it("the decider by cost loses where always or never is more than 2 % better", () => {
  const even = cell(2, { never: 1, always: 1.015, cost: 1 });
  const worse = cell(6, { never: 1, always: 1.03, cost: 1 });
  assert.deepEqual(lossesOf([cell(undefined, { standalone: 9 }), even, worse]), [
    "some, 6 for prompts: 1.000, not 1.030 a second",
  ]);
});

it("an open trace is cut by its own minutes, and its prompts are as long as the traffic says", () => {
  const [first, long] = TRAFFICS;
  const trace = makeTrace([makeTraced(0, [1], 5), makeTraced(9 * 60_000, [2], 5), makeTraced(11 * 60_000, [3], 5)]);
  assert.equal(traceFor(first!, trace).requests.length, 2);
  // Four times as slowly, so a fourth of the requests in the same time.
  assert.deepEqual(
    traceFor(long!, trace).requests.map(({ prompt }) => prompt.tokens),
    [400],
  );
});

it("a pool is divided as it says, or not at all", () => {
  for (const traffic of TRAFFICS) {
    assert.ok(SPLITS.every((prefillers) => settingsFor(traffic, prefillers).prefillers === prefillers && prefillers < REPLICAS));
    const { prefillers, targets, sessions } = settingsFor(traffic, undefined);
    assert.deepEqual(
      [prefillers, targets, sessions?.perReplica ?? 0],
      [undefined, [traffic.targets], traffic.sessionsPerReplica],
    );
  }
});
