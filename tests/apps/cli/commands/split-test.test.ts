import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { splitReport, splitText } from "../../../../apps/cli/commands/split-test.ts";
import { drawShare } from "../../../../plugins/rewriters/share-draw.ts";

const served = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts).flatMap(([name, count]) => Array(count).fill(name));

describe("whether a split is as the weights say", () => {
  const rows: readonly (readonly [
    name: string,
    weights: Record<string, number>,
    counts: Record<string, number>,
    isAsWeighted: boolean,
    isByChance?: boolean,
  ])[] = [
    ["exactly", { v1: 90, v2: 10 }, { v1: 18, v2: 2 }, true],
    ["as observed at the reference", { v1: 90, v2: 10 }, { v1: 17, v2: 3 }, false],
    ["the same where others send too", { v1: 90, v2: 10 }, { v1: 17, v2: 3 }, true, true],
    ["none where two were due", { v1: 90, v2: 10 }, { v1: 20 }, false],
    ["none where half a request was due", { v1: 90, v2: 10 }, { v1: 5 }, true],
    ["three targets, a rounding each", { v1: 34, v2: 33, v3: 33 }, { v1: 2, v2: 1, v3: 1 }, true],
    ["far off", { v1: 90, v2: 10 }, { v1: 12, v2: 8 }, false],
    ["all to one of two", { v1: 50, v2: 50 }, { v1: 20 }, false],
    ["a target with weight 0", { v1: 0, v2: 100 }, { v2: 20 }, true],
    ["a response of a target with weight 0", { v1: 0, v2: 100 }, { v1: 1, v2: 19 }, false],
    ["another model", { v1: 100 }, { v1: 19, base: 1 }, false],
    ["a failed request", { v1: 100 }, { v1: 19, "(status 503)": 1 }, false],
  ];
  for (const [name, weights, counts, isAsWeighted, isByChance = false] of rows) {
    it(name, () => {
      const targets = Object.entries(weights).map(([target, weight]) => ({ name: target, weight }));
      assert.equal(splitReport("food", targets, served(counts), !isByChance).isAsWeighted, isAsWeighted);
    });
  }
});

test("as text it names every unexpected model with its count", () => {
  const targets = [
    { name: "v1", weight: 9 },
    { name: "v2", weight: 1 },
  ];
  const text = splitText(splitReport("food", targets, served({ v1: 16, v2: 1, base: 2, "(status 503)": 1 }), false));
  assert.equal(
    text,
    `20 requests for "food"
target  weight  expected  served
v1           9    18 ± 4      16
v2           1     2 ± 4       1
unexpected: base, 2 times
unexpected: (status 503), 1 time
Others sent requests too, or a guard shuffles the split: it is compared by chance.
The split is not as the weights say.
`,
  );
});

describe("draws in order are as the weights say, wherever the test begins", () => {
  for (const weights of [
    [90, 10],
    [50, 50],
    [1, 2, 3],
    [5, 0, 80, 15],
    [34, 33, 33],
    [1, 1, 1, 1, 96],
  ]) {
    it(weights.join(":"), () => {
      const targets = weights.map((weight, index) => ({ name: `v${index}`, weight }));
      for (let from = 0; from < 101; from++) {
        for (const length of [1, 7, 20, 33]) {
          const draws = Array.from({ length }, (_, n) => `v${drawShare(weights, from + n)}`);
          assert.ok(splitReport("food", targets, draws, true).isAsWeighted, `${length} from ${from}`);
        }
      }
    });
  }
});
