import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MirrorReport } from "../../../../core/report/report-schema.ts";
import { mirrorLines, mirrorText } from "../../../../plugins/features/mirror/mirror-text.ts";

const COPY: MirrorReport = {
  rule: "food/0",
  target: "v2",
  skipped: "",
  endpoint: "gpu-b",
  status: 200,
  firstByteMs: 120.4,
  responseBytes: 10,
  ending: "complete",
};

describe("what a copy met, in explain", () => {
  const mirrors: readonly (readonly [Partial<MirrorReport>, string])[] = [
    [{}, "mirrored to gpu-b as v2: status 200, first byte after 120 ms"],
    [{ ending: "" }, "mirrored to gpu-b as v2: status 200, first byte after 120 ms, still under way"],
    [{ status: 0, firstByteMs: null, ending: "time-limit" }, "mirrored to gpu-b as v2: time-limit"],
    [{ endpoint: "", skipped: "memory", ending: "" }, "not mirrored as v2: memory for bodies was short"],
  ];
  for (const [changes, text] of mirrors) test(text, () => assert.equal(mirrorText({ ...COPY, ...changes }), text));
});

test("what a mirror does, in the status", () => {
  const mirror = { target: "v2", percent: 10, maxInFlight: 16, inFlight: 1, sent: 4, compared: 2 };
  const times = { meanFirstByteMs: 120.4, originalMeanFirstByteMs: 80 };
  assert.deepEqual(mirrorLines({ mirrors: [{ ...mirror, ...times, results: { "2xx": 3 }, skipped: { memory: 2 } }] }), [
    "    mirrored 10% to v2: 4 sent, 1 under way, 2xx 3, not sent (memory) 2, first byte after 120 ms, of its requests 80 ms",
  ]);
});
