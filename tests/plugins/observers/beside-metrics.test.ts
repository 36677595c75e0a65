import assert from "node:assert/strict";
import { it } from "node:test";
import { MirrorTally } from "../../../core/state/mirror-tally.ts";
import { ShadowTally } from "../../../core/state/shadow-tally.ts";
import { besideMetrics } from "../../../plugins/observers/beside-metrics.ts";

it("a config without mirrors and shadow has no such families", () => {
  assert.equal(besideMetrics({ mirrors: [], shadow: undefined }), "");
});

it("mirrors by rule and target, with their labels escaped", () => {
  const tally = new MirrorTally('a"b\\/0', "v2", { percent: 100, maxInFlight: 2, timeoutMs: 1000 });
  for (let n = 0; n < 3; n++) tally.begin();
  tally.end("complete", 200);
  tally.end("reset", 200);
  tally.skip("memory");
  tally.compare(120, 80);
  const text = besideMetrics({ mirrors: [tally], shadow: undefined });
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

it("the shadow's decisions and what they would have cost", () => {
  const tally = new ShadowTally("candidate", 100);
  const choice = { profile: "candidate", endpoint: "e1", refusal: "", isSame: false, differenceMs: 250 };
  tally.decided(choice);
  tally.decided({ ...choice, differenceMs: -50 });
  tally.decided({ ...choice, isSame: true, differenceMs: 0 });
  tally.decided({ ...choice, endpoint: "", refusal: "no_ready_endpoint", differenceMs: Number.NaN });
  const lines = besideMetrics({ mirrors: [], shadow: tally })
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const value = (name: string, count: number) => `signalbox_shadow_${name}_total{profile="candidate"} ${count}`;
  assert.deepEqual(lines, [
    value("decisions", 4),
    value("disagreements", 3),
    value("refusals", 1),
    value("added_seconds", 0.25),
    value("saved_seconds", 0.05),
    value("faults", 0),
    value("skipped", 0),
  ]);
});
