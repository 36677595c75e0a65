import assert from "node:assert/strict";
import { it } from "node:test";
import { shadowMetrics } from "../../../../plugins/features/shadow/shadow-metrics.ts";
import { ShadowTally } from "../../../../plugins/features/shadow/shadow-tally.ts";
import { familyText } from "../../../../plugins/observers/buckets.ts";

it("a config without a shadow has no such families", () => assert.deepEqual(shadowMetrics(undefined), []));

it("the shadow's decisions and what they would have cost", () => {
  const tally = new ShadowTally("candidate", 100);
  const choice = { profile: "candidate", endpoint: "e1", refusal: "", isSame: false, differenceMs: 250 };
  tally.decided(choice);
  tally.decided({ ...choice, differenceMs: -50 });
  tally.decided({ ...choice, isSame: true, differenceMs: 0 });
  tally.decided({ ...choice, endpoint: "", refusal: "no_ready_endpoint", differenceMs: Number.NaN });
  const lines = shadowMetrics(tally)
    .map(familyText)
    .join("")
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
