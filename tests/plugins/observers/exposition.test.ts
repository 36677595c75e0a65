import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { familyHead, sampleLine } from "../../../plugins/observers/exposition.ts";

test("a family begins with its help and its type", () => {
  assert.equal(familyHead("a_total", "counter", "Things."), "# HELP a_total Things.\n# TYPE a_total counter\n");
});

describe("a sample", () => {
  const cases: readonly [name: string, labels: readonly string[], values: readonly string[], value: number, line: string][] = [
    ["without labels", [], [], 3, "a 3\n"],
    ["with labels", ["x", "y"], ["1", "two"], 0.25, 'a{x="1",y="two"} 0.25\n'],
    ["with hostile values", ["x"], ['a"b\\c\nd\0'], 1, 'a{x="a\\"b\\\\c?d?"} 1\n'],
  ];
  for (const [name, labels, values, value, line] of cases) {
    it(name, () => assert.equal(sampleLine("a", labels, values, value), line));
  }
});
