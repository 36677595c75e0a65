import assert from "node:assert/strict";
import { it } from "node:test";
import { mirrorMetrics } from "../../../../plugins/features/mirror/mirror-metrics.ts";
import { MirrorTally } from "../../../../plugins/features/mirror/mirror-tally.ts";
import { familyText } from "../../../../plugins/observers/buckets.ts";

it("a config without mirrors has no such families", () => assert.deepEqual(mirrorMetrics([]), []));

it("mirrors by rule and target, with their labels escaped", () => {
  const tally = new MirrorTally('a"b\\/0', "v2", { percent: 100, maxInFlight: 2, timeoutMs: 1000 });
  for (let n = 0; n < 3; n++) tally.begin();
  tally.end("complete", 200);
  tally.end("reset", 200);
  tally.skip("memory");
  tally.compare(120, 80);
  const text = mirrorMetrics([tally]).map(familyText).join("");
  const labels = 'rule="a\\"b\\\\/0",target="v2"';
  for (const line of [
    `signalbox_mirror_copies_total{${labels},result="2xx"} 1`,
    `signalbox_mirror_copies_total{${labels},result="reset"} 1`,
    `signalbox_mirror_skipped_total{${labels},reason="memory"} 1`,
    `signalbox_mirror_in_flight{${labels}} 1`,
    `signalbox_mirror_time_to_first_byte_seconds_bucket{${labels},le="0.1"} 0`,
    `signalbox_mirror_time_to_first_byte_seconds_bucket{${labels},le="0.25"} 1`,
    `signalbox_mirror_time_to_first_byte_seconds_sum{${labels}} 0.12`,
    `signalbox_mirror_original_time_to_first_byte_seconds_bucket{${labels},le="+Inf"} 1`,
    `signalbox_mirror_original_time_to_first_byte_seconds_sum{${labels}} 0.08`,
  ])
    assert.ok(text.split("\n").includes(line), `${line}\n${text}`);
});
