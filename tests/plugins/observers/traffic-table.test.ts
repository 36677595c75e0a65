import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AT, rowsBy, TrafficTable } from "../../../plugins/observers/traffic-table.ts";

const count = (table: TrafficTable, target: string, endpoint: string) => {
  const row = table.find("chat", target, endpoint) ?? table.open("chat", target, endpoint);
  row.counts[AT.statuses]! += 1;
  row.durations.add(1);
};
const shown = (table: TrafficTable) =>
  table.all().map(({ target, endpoint, counts, durations }) => {
    assert.equal(counts[AT.statuses], durations.count);
    return `${target} ${endpoint} ${counts[AT.statuses]}`;
  });

describe("rows", () => {
  it("there is one for each target and endpoint", () => {
    const table = new TrafficTable(16);
    for (const endpoint of ["e0", "e1", "e0"]) count(table, "a", endpoint);
    assert.deepEqual(shown(table), ["a e0 2", "a e1 1"]);
    assert.equal(table.find("chat", "a", "e0")?.pairs, 'api="chat",target="a",endpoint="e0"');
  });

  it("beyond the limit each target has one for other endpoints, and far beyond it there is one for all", () => {
    const table = new TrafficTable(4);
    for (let index = 0; index < 4; index++) count(table, "a", `e${index}`);
    for (let index = 0; index < 100; index++) count(table, "b", `e${index}`);
    for (let index = 0; index < 100; index++) count(table, `c${index}`, "e0");
    count(table, "a", "e1");
    assert.deepEqual(shown(table), ["a e0 1", "a e1 2", "a e2 1", "a e3 1", "b other 100", "other other 100"]);
  });
});

describe("making room", () => {
  const filled = (rows: number) => {
    const table = new TrafficTable(8);
    for (let index = 0; index < rows; index++) count(table, index % 2 === 0 ? "a" : "b", `e${index}`);
    return table;
  };

  it("does nothing while there is enough", () => {
    const table = filled(3);
    table.makeRoom(new Set(), new Set());
    assert.deepEqual(shown(table), ["a e0 1", "a e2 1", "b e1 1"]);
  });

  it("adds rows whose names are gone to others, and loses no count", () => {
    const table = filled(6);
    table.makeRoom(new Set(["a"]), new Set(["e0", "e1", "e2", "e3"]));
    assert.deepEqual(shown(table), ["a e0 1", "a e2 1", "a other 1", "other e1 1", "other e3 1", "other other 1"]);
  });
});

it("sums by one label have the counts of all rows", () => {
  const table = new TrafficTable(16);
  for (const [target, endpoint] of [
    ["a", "e0"],
    ["a", "e1"],
    ["b", "e0"],
  ] as const)
    count(table, target, endpoint);
  const sums = (label: "api" | "target") =>
    rowsBy(label, table.all()).map(({ pairs, counts, durations }) => [pairs, counts[AT.statuses], durations.count]);
  assert.deepEqual(sums("api"), [['api="chat"', 3, 3]]);
  assert.deepEqual(sums("target"), [
    ['target="a"', 2, 2],
    ['target="b"', 1, 1],
  ]);
});
