import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sampled } from "../support/sample.ts";
import { fuzz, type Target } from "./fuzz.ts";
import { TARGETS } from "./targets.ts";

/** Enough to leave the seeds behind, and little enough for every run of the suite. */
const INPUTS = sampled(Array.from({ length: 2_100 })).length;

describe("fuzz targets hold", () => {
  for (const target of TARGETS) {
    test(target.name, async () => {
      const { inputs, kinds, finding } = await fuzz(target, { seed: 1, isOver: (count) => count === INPUTS });
      assert.equal(finding && `${finding.message}: ${JSON.stringify(finding.input.toString("latin1"))}`, undefined);
      assert.equal(inputs, INPUTS);
      assert.ok(kinds > 1, "all inputs were of one kind");
    });
  }
});

describe("a fault", () => {
  const faulty: Target = {
    name: "faulty",
    seeds: [Buffer.from("abc"), Buffer.from("a long input with many words in it")],
    words: ["{", "}", "w"],
    check(input) {
      const text = input.toString("latin1");
      if (/\{.*w/.test(text)) throw new Error(`Broken at ${text.indexOf("{")}`);
      return String(text.length % 7);
    },
  };
  const options = { seed: 5, isOver: (inputs: number) => inputs === 100_000 };

  test("is found, made small, and found again by its seed", async () => {
    const { inputs, finding } = await fuzz(faulty, options);
    assert.equal(finding?.input.toString("latin1"), "{w");
    assert.match(finding.message, /^Error: Broken at \d+$/);
    assert.equal(finding.after, inputs - 1);
    assert.deepEqual(await fuzz(faulty, options), await fuzz(faulty, options));
  });
});
