import assert from "node:assert/strict";
import { test } from "node:test";
import { makeOutcome } from "../../../../core/test-kit/records.ts";
import { FigureCounts } from "../../../../plugins/features/rollouts/target-figures.ts";
import { makeRequest } from "../../../support/endpoints.ts";

test("a target without a served request has no times", () => {
  const figures = new FigureCounts(0);
  figures.add(makeOutcome({ status: 500 }), "failed");
  assert.deepEqual([figures.shown().ttftMs, figures.shown().tokensPerSecond], [null, null]);
});

test("numbers that can't be true stay finite", () => {
  const figures = new FigureCounts(0);
  const request = makeRequest({ isStream: true });
  for (const wild of [0, 1e-9, 1e300, Number.POSITIVE_INFINITY])
    figures.add(makeOutcome({ request, firstByteMs: wild, outputTokens: 2 + wild }), "served");
  const { ttftMs, tokensPerSecond } = figures.shown();
  for (const estimate of [ttftMs?.mean, ttftMs?.p50, ttftMs?.p95, tokensPerSecond?.mean, tokensPerSecond?.p95])
    assert.ok((estimate?.value ?? Number.NaN) <= 1e7, JSON.stringify([ttftMs, tokensPerSecond]));
});
