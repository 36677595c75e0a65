import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ShadowReport } from "../../../../core/report/report-schema.ts";
import { shadowLines, shadowText } from "../../../../plugins/features/shadow/shadow-text.ts";

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
});

test("how the shadow differs, in the status", () => {
  const shadow = { name: "candidate", percent: 100, decisions: 8, disagreements: 2, disagreementShare: 0.25, refusals: 0 };
  assert.deepEqual(shadowLines({ shadow: { ...shadow, meanDifferenceMs: 12.34, faults: 1, skipped: 3 } }), [
    "shadow candidate: would have chosen otherwise for 2 of 8 requests; first token expected 12.3 ms later on average; 1 faults; 3 not decided because it is slow",
  ]);
});
