import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { besideFacts } from "../../../core/cli/explain-beside.ts";
import { mirrorLines, shadowLines } from "../../../core/cli/status-beside.ts";
import { type MirrorReport, mirrorReports, type ShadowReport, shadowReport } from "../../../core/contract/beside-report.ts";
import type { MirrorRecord } from "../../../core/contract/mirror.ts";

const RECORD: MirrorRecord = {
  rule: "food/0",
  target: "v2",
  skipped: "",
  endpoint: "gpu-b",
  status: 200,
  firstByteMs: 120.4,
  responseBytes: 10,
  ending: "complete",
};
const [COPY] = mirrorReports([RECORD]) as [MirrorReport];
const SHADOW: ShadowReport = { profile: "candidate", endpoint: "gpu-b", refusal: "", isSame: false, differenceMs: 120.2 };

describe("what happened beside a request, in explain", () => {
  const mirrors: readonly (readonly [Partial<MirrorReport>, string])[] = [
    [{}, "mirrored to gpu-b as v2: status 200, first byte after 120 ms"],
    [{ ending: "" }, "mirrored to gpu-b as v2: status 200, first byte after 120 ms, still under way"],
    [{ status: 0, firstByteMs: null, ending: "time-limit" }, "mirrored to gpu-b as v2: time-limit"],
    [{ endpoint: "", skipped: "memory", ending: "" }, "not mirrored as v2: memory for bodies was short"],
  ];
  for (const [changes, text] of mirrors)
    test(text, () => assert.deepEqual(besideFacts({ mirrors: [{ ...COPY, ...changes }], shadow: null }), [["mirror", text]]));

  const shadows: readonly (readonly [Partial<ShadowReport>, string])[] = [
    [{}, "the shadow profile candidate would have chosen gpu-b: 120 ms longer expected"],
    [{ differenceMs: -1234.4 }, "the shadow profile candidate would have chosen gpu-b: 1,234 ms shorter expected"],
    [{ differenceMs: 0.2 }, "the shadow profile candidate would have chosen gpu-b: the same time expected"],
    [{ differenceMs: null }, "the shadow profile candidate would have chosen gpu-b"],
    [{ isSame: true, differenceMs: 0 }, "the shadow profile candidate would have chosen the same"],
    [{ endpoint: "", refusal: "x", differenceMs: null }, "the shadow profile candidate would have refused it (x)"],
    [{ endpoint: "", refusal: "x", isSame: true }, "the shadow profile candidate would have refused it too (x)"],
  ];
  for (const [changes, text] of shadows)
    test(text, () => assert.deepEqual(besideFacts({ mirrors: [], shadow: { ...SHADOW, ...changes } }), [["shadow", text]]));

  test("times that are not known are null in JSON", () => {
    assert.equal(mirrorReports([{ ...RECORD, firstByteMs: Number.NaN }])[0]?.firstByteMs, null);
    assert.equal(shadowReport({ ...SHADOW, differenceMs: Number.NaN })?.differenceMs, null);
    assert.deepEqual([mirrorReports(undefined), shadowReport(undefined)], [[], null]);
  });
});

test("the same in the status", () => {
  const mirror = { target: "v2", percent: 10, maxInFlight: 16, inFlight: 1, sent: 4, compared: 2 };
  const times = { meanFirstByteMs: 120.4, originalMeanFirstByteMs: 80 };
  assert.deepEqual(mirrorLines({ mirrors: [{ ...mirror, ...times, results: { "2xx": 3 }, skipped: { memory: 2 } }] }), [
    "    mirrored 10% to v2: 4 sent, 1 under way, 2xx 3, not sent (memory) 2, first byte after 120 ms, of its requests 80 ms",
  ]);
  const shadow = { name: "candidate", percent: 100, decisions: 8, disagreements: 2, disagreementShare: 0.25, refusals: 0 };
  assert.deepEqual(shadowLines({ ...shadow, meanDifferenceMs: 12.34, faults: 1, skipped: 3 }), [
    "shadow candidate: would have chosen otherwise for 2 of 8 requests; 12.3 ms to the first token added on average, as expected; 1 faults; 3 not decided because it is slow",
  ]);
});
