import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { splitReport, splitText } from "../../../../core/cli/commands/split-test.ts";

const served = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts).flatMap(([name, count]) => Array(count).fill(name));

describe("whether a split is as the weights say", () => {
  const rows: readonly (readonly [
    name: string,
    weights: Record<string, number>,
    counts: Record<string, number>,
    isAsWeighted: boolean,
  ])[] = [
    ["exactly", { v1: 90, v2: 10 }, { v1: 18, v2: 2 }, true],
    ["as observed at the reference", { v1: 90, v2: 10 }, { v1: 17, v2: 3 }, true],
    ["far off", { v1: 90, v2: 10 }, { v1: 12, v2: 8 }, false],
    ["all to one of two", { v1: 50, v2: 50 }, { v1: 20 }, false],
    ["a target with weight 0", { v1: 0, v2: 100 }, { v2: 20 }, true],
    ["a response of a target with weight 0", { v1: 0, v2: 100 }, { v1: 1, v2: 19 }, false],
    ["another model", { v1: 100 }, { v1: 19, base: 1 }, false],
    ["a failed request", { v1: 100 }, { v1: 19, "(status 503)": 1 }, false],
  ];
  for (const [name, weights, counts, isAsWeighted] of rows) {
    it(name, () => {
      const targets = Object.entries(weights).map(([target, weight]) => ({ name: target, weight }));
      assert.equal(splitReport("food", targets, served(counts)).isAsWeighted, isAsWeighted);
    });
  }
});

test("as text it names every unexpected model with its count", () => {
  const targets = [
    { name: "v1", weight: 9 },
    { name: "v2", weight: 1 },
  ];
  const text = splitText(splitReport("food", targets, served({ v1: 16, v2: 1, base: 2, "(status 503)": 1 })));
  assert.equal(
    text,
    `20 requests for "food"
target  weight  expected  served
v1           9    18 ± 4      16
v2           1     2 ± 4       1
unexpected: base, 2 times
unexpected: (status 503), 1 times
The split is not as the weights say.
`,
  );
});
