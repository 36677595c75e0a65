import assert from "node:assert/strict";
import { test } from "node:test";
import { rolloutMetrics } from "../../../../plugins/features/rollouts/rollout-metrics.ts";
import { familyText } from "../../../../plugins/observers/buckets.ts";
import { FIGURES, GUARD } from "../../../support/rollout-samples.ts";
import { makeMapping } from "../../../support/view.ts";

const samplesOf = (statusOf: Parameters<typeof rolloutMetrics>[0]) =>
  rolloutMetrics(statusOf, [makeMapping("food/0", { v1: 50, 'v"2': 50 })])
    .map(familyText)
    .join("")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

test("each target of a rule has its figures, and its guard's state where it has one", () => {
  const labels = '{rule="food/0",target="v\\"2"}';
  assert.deepEqual(
    samplesOf((_, target) => (target === "v1" ? { figures: null, guard: null } : { figures: FIGURES, guard: GUARD })),
    [
      `signalbox_rewrite_target_requests_total${labels} 10`,
      `signalbox_rewrite_target_errors_total${labels} 2`,
      `signalbox_rewrite_target_first_byte_median_seconds${labels} 0.12`,
      `signalbox_rewrite_target_first_byte_p95_seconds${labels} 0.48`,
      `signalbox_rewrite_target_tokens_per_second${labels} 50`,
      `signalbox_rewrite_target_cached_ratio${labels} 0.25`,
      `signalbox_guard_stopped${labels} 1`,
      `signalbox_guard_blocked${labels} 0`,
      `signalbox_guard_stops_total${labels} 3`,
      `signalbox_guard_evidence_ratio${labels} 1.5`,
    ],
  );
});

test("what is unknown has no sample", () => {
  const unknown = { ...FIGURES, requests: 0, errors: 0, ttftMs: null, tokensPerSecond: null, cachedShare: null };
  const samples = samplesOf(() => ({ figures: unknown, guard: null }));
  assert.deepEqual(
    samples.map((line) => line.replace(/\{.*/, "")),
    Array(2).fill("signalbox_rewrite_target_requests_total").concat(Array(2).fill("signalbox_rewrite_target_errors_total")),
  );
});
