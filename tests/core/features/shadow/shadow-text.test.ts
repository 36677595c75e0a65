import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ShadowReport, shadowReport } from "../../../../core/contract/shadow.ts";
import { shadowLines, shadowText } from "../../../../core/features/shadow/shadow-text.ts";

const SHADOW: ShadowReport = { profile: "candidate", endpoint: "gpu-b", refusal: "", isSame: false, differenceMs: 120.2 };

describe("what the shadow would have done, in explain", () => {
  const shadows: readonly (readonly [Partial<ShadowReport>, string])[] = [
    [{}, "the shadow profile candidate would have chosen gpu-b: 120 ms longer expected"],
    [{ differenceMs: -1234.4 }, "the shadow profile candidate would have chosen gpu-b: 1,234 ms shorter expected"],
    [{ differenceMs: 0.2 }, "the shadow profile candidate would have chosen gpu-b: the same time expected"],
    [{ differenceMs: null }, "the shadow profile candidate would have chosen gpu-b"],
    [{ isSame: true, differenceMs: 0 }, "the shadow profile candidate would have chosen the same"],
    [{ endpoint: "", refusal: "x", differenceMs: null }, "the shadow profile candidate would have refused it (x)"],
    [{ endpoint: "", refusal: "x", isSame: true }, "the shadow profile candidate would have refused it too (x)"],
  ];
  for (const [changes, text] of shadows) test(text, () => assert.equal(shadowText({ ...SHADOW, ...changes }), text));

  test("a difference that is not known is null in JSON", () => {
    assert.equal(shadowReport({ ...SHADOW, differenceMs: Number.NaN })?.differenceMs, null);
    assert.equal(shadowReport(undefined), null);
  });
});

test("how the shadow differs, in the status", () => {
  const shadow = { name: "candidate", percent: 100, decisions: 8, disagreements: 2, disagreementShare: 0.25, refusals: 0 };
  assert.deepEqual(shadowLines({ shadow: { ...shadow, meanDifferenceMs: 12.34, faults: 1, skipped: 3 } }), [
    "shadow candidate: would have chosen otherwise for 2 of 8 requests; 12.3 ms to the first token added on average, as expected; 1 faults; 3 not decided because it is slow",
  ]);
});
