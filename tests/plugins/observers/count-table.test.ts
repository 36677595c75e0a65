import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CountTable, rowCounter, rowsText } from "../../../plugins/observers/count-table.ts";
import { RESULTS, resultIndex } from "../../../plugins/observers/endpoint-counts.ts";

const THINGS = rowCounter("things", "Things.", 0);
const make = (labels: readonly string[], maxRows = 100) => new CountTable(labels, 1, maxRows);
const add = (table: CountTable, amount: number, first: string, second = "") => {
  table.counts(first, second)[0]! += amount;
};
/** Without the name that all have. */
const samples = (table: CountTable) =>
  rowsText(THINGS, table.all())
    .split("\n")
    .slice(2, -1)
    .map((line) => line.replace("signalbox_things_total", ""));

describe("rows", () => {
  it("there is one for each combination of label values", () => {
    const table = make(["x", "y"]);
    add(table, 1, "a", "b");
    add(table, 2, "a", "b");
    add(table, 1, "a", "c");
    add(table, 1, "b", "a");
    assert.deepEqual(samples(table), ['{x="a",y="b"} 3', '{x="a",y="c"} 1', '{x="b",y="a"} 1']);
  });

  it("beyond the limit there is one for all others", () => {
    const table = make(["x"], 3);
    for (let i = 0; i < 1000; i++) add(table, 1, `name-${i}`);
    add(table, 1, "name-1");
    assert.deepEqual(samples(table), ['{x="name-0"} 1', '{x="name-1"} 2', '{x="name-2"} 1', '{x="other"} 997']);
  });
});

describe("making room", () => {
  it("does nothing while there is enough", () => {
    const table = make(["x", "endpoint"], 10);
    add(table, 1, "a", "gone");
    table.makeRoom("endpoint", new Set());
    assert.deepEqual(samples(table), ['{x="a",endpoint="gone"} 1']);
  });

  it('moves values that are not kept to "other", and loses no count', () => {
    const table = make(["x", "endpoint"], 10);
    for (let i = 0; i < 8; i++) add(table, 1, "a", `e${i}`);
    table.makeRoom("endpoint", new Set(["e6", "e7"]));
    add(table, 1, "a", "e7");
    assert.deepEqual(samples(table), ['{x="a",endpoint="other"} 6', '{x="a",endpoint="e6"} 1', '{x="a",endpoint="e7"} 2']);
  });

  it("keeps what was others before", () => {
    const table = make(["x"], 4);
    for (let i = 0; i < 6; i++) add(table, 1, `e${i}`);
    table.makeRoom("x", new Set(["e1", "other"]));
    assert.deepEqual(samples(table), ['{x="other"} 5', '{x="e1"} 1']);
  });
});

describe("a counter", () => {
  const rows = [{ pairs: 'x="a"', counts: Float64Array.of(7, 0, 2) }];
  const lines = (counter: ReturnType<typeof rowCounter>) => rowsText(counter, rows).split("\n").slice(2, -1);
  const parts = rowCounter("things", "Things.", 1, [',part="one"', ',part="two"']);

  it("has a head", () =>
    assert.equal(
      rowsText(THINGS, rows),
      '# HELP signalbox_things_total Things.\n# TYPE signalbox_things_total counter\nsignalbox_things_total{x="a"} 7\n',
    ));

  it("shows zeros only where it must", () => {
    assert.deepEqual(lines(parts), ['signalbox_things_total{x="a",part="two"} 2']);
    const zero = 'signalbox_things_total{x="a",part="one"} 0';
    assert.deepEqual(lines({ ...parts, hasZeros: true }), [zero, 'signalbox_things_total{x="a",part="two"} 2']);
  });
});

describe("the result of a try", () => {
  for (const [result, text] of [
    [200, "2xx"],
    [503, "5xx"],
    [0, "none"],
    [999, "none"],
    ["connect-failed", "connect-failed"],
    ["removed", "removed"],
  ] as const)
    it(`${result} counts as ${text}`, () => assert.equal(RESULTS[resultIndex(result)], text));
});
