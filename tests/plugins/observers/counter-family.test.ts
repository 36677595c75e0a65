import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CounterFamily } from "../../../plugins/observers/counter-family.ts";

const make = (labels: readonly string[], maxSeries = 100) => new CounterFamily("a_total", "Things.", labels, maxSeries);
const samples = (family: CounterFamily) => family.text().split("\n").slice(2, -1).sort();

describe("a counter", () => {
  it("without labels shows 0 before anything was counted", () => assert.deepEqual(samples(make([])), ["a_total 0"]));

  it("counts each combination of label values separately", () => {
    const family = make(["x", "y", "z"]);
    family.add(1, "a", "b", "c");
    family.add(2, "a", "b", "c");
    family.add(1, "a", "b", "d");
    family.add(1, "b", "a", "c");
    assert.deepEqual(samples(family), [
      'a_total{x="a",y="b",z="c"} 3',
      'a_total{x="a",y="b",z="d"} 1',
      'a_total{x="b",y="a",z="c"} 1',
    ]);
  });

  it("counts further series together when it is full", () => {
    const family = make(["x"], 3);
    for (let i = 0; i < 1000; i++) family.add(1, `name-${i}`);
    family.add(1, "name-1");
    assert.deepEqual(samples(family), [
      'a_total{x="name-0"} 1',
      'a_total{x="name-1"} 2',
      'a_total{x="name-2"} 1',
      'a_total{x="other"} 997',
    ]);
    assert.equal(family.size, 4);
  });
});

describe("making room", () => {
  it("does nothing while there is enough", () => {
    const family = make(["x", "endpoint"], 10);
    family.add(1, "a", "gone");
    family.makeRoom("endpoint", new Set());
    assert.deepEqual(samples(family), ['a_total{x="a",endpoint="gone"} 1']);
  });

  it('moves values that are not kept to "other", and loses no count', () => {
    const family = make(["x", "endpoint"], 10);
    for (let i = 0; i < 8; i++) family.add(1, "a", `e${i}`);
    family.makeRoom("endpoint", new Set(["e6", "e7"]));
    family.add(1, "a", "e7");
    assert.deepEqual(samples(family), [
      'a_total{x="a",endpoint="e6"} 1',
      'a_total{x="a",endpoint="e7"} 2',
      'a_total{x="a",endpoint="other"} 6',
    ]);
  });
});
