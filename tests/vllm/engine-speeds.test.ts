import assert from "node:assert/strict";
import { it } from "node:test";
import { speedsOf, type Work, workBetween } from "./engine-speeds.ts";

const WORK: Work = { requests: 10, uncachedTokens: 9_000, prefillS: 1.1, tokenGaps: 100, tokenGapS: 2, insideS: 5 };

it("a step is as long as from token to token, and what a prompt takes beyond that is its own", () => {
  const { prefillTokensPerS, ...rest } = speedsOf(WORK);
  assert.ok(Math.abs(prefillTokensPerS - 10_000) < 1e-6, String(prefillTokensPerS));
  assert.deepEqual(rest, { decodeStepMs: 20, decodePerRequestMs: 0 });
});

it("prompts have a part of the time, however long steps are", () => {
  const { prefillTokensPerS } = speedsOf({ ...WORK, tokenGapS: 20 });
  assert.ok(Math.abs(prefillTokensPerS - 9_000 / 0.11) < 1e-6, String(prefillTokensPerS));
});

it("work between two times is the difference", () => {
  assert.deepEqual(workBetween(WORK, { ...WORK, requests: 30, insideS: 9 }), {
    ...{ requests: 20, uncachedTokens: 0, prefillS: 0, tokenGaps: 0, tokenGapS: 0, insideS: 4 },
  });
});
