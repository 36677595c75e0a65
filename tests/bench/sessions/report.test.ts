import assert from "node:assert/strict";
import { it } from "node:test";
import { makeTrace, makeTraced } from "../../apps/lab/simulate/traces.ts";
import { halvesOf, namedByFirstBlock, POOLS, settingsOf } from "./pools.ts";
import { type Cell, type Figures, lossesOf, openTable, policyTable, sessionTable } from "./report.ts";

const figures = (sessionsPerHour: number, p99: number): Figures => {
  return { sessionsPerHour, turnsPerHour: 100, mean: 1, p50: 0.5, p99, hits: 0.25, waited: 3 };
};
const cell = (of: Record<string, Figures>, half = "first"): Cell => ({ pool: "some", half, perReplica: 4, figures: of });

it("a trace is divided by session, in the order in which they come first", () => {
  const turn = (session: string, atMs: number) => ({ ...makeTraced(atMs, [1], 5), turn: { session, tookMs: 0 } });
  const halves = halvesOf(makeTrace([turn("b", 0), turn("a", 1), turn("b", 2), turn("c", 3), turn("a", 4)]));
  assert.deepEqual(
    halves.map(({ name, requests }) => [name, requests.map((request) => request.turn?.session)]),
    [
      ["first", ["b", "b", "c"]],
      ["others", ["a", "a"]],
    ],
  );
});

it("requests that begin alike are named as one session", () => {
  const { requests } = namedByFirstBlock(makeTrace([makeTraced(0, [1, 2], 5), makeTraced(1, [3], 5), makeTraced(2, [1, 4], 5)]));
  assert.deepEqual(
    requests.map(({ headers }) => headers?.["x-session-id"]),
    ["1", "3", "1"],
  );
});

it("a pool is simulated as it says", () => {
  const { model, sessions, speeds } = settingsOf(POOLS.at(-1)!, 4);
  assert.deepEqual([model.kvTokens, sessions, speeds], [524_288, { perReplica: 4, hours: 2, warmUpHours: 0.5 }, [0.5]]);
  assert.equal(settingsOf(POOLS[0]!, undefined).sessions, undefined);
});

it("the tables have a row for each cell, and each loss is named", () => {
  const equal = cell({ plain: figures(10, 5), gate: figures(9.9, 5.05) });
  const lost = cell({ plain: figures(10, 5), gate: figures(9, 120) }, "others");
  assert.deepEqual(lossesOf([equal]), []);
  assert.deepEqual(lossesOf([equal, lost]), [
    "some, 4 a replica, others: sessions/h 10.0 -> 9.0",
    "some, 4 a replica, others: p99 5.00 -> 120 s",
  ]);
  const rows = sessionTable([equal, lost], ["plain", "gate"]).split("\n").slice(2);
  assert.match(rows[0]!, /^\| some \| 4 +\| 10\.0 \/ 9\.9 \| 100 \/ 100 \| 0\.50 \/ 0\.50 +\| 5\.00 \/ 5\.05 +\|$/);
  assert.match(rows[1]!, /^\| {6}\| 4, others +\| 10\.0 \/ 9\.0 .*\| 5\.00 \/ 120 +\|$/);
  assert.match(policyTable([lost]), /\n\| 4, others +\| gate +\| 9\.0 +\| 100 +\| 0\.50 s +\| 120 s +\|$/);
  assert.match(
    openTable([lost]),
    /\n\| others +\| 1\.00 \/ 1\.00 +\| \+0\.00 % +\| 5\.00 \/ 120 +\| \+2300\.00 % +\| 25\.0 % \/ 25\.0 % +\| 3 +\|$/,
  );
});
