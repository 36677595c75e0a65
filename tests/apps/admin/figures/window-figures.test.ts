import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { AT, countTime } from "../../../../apps/admin/figures/counts.ts";
import { WindowFigures } from "../../../../apps/admin/figures/window-figures.ts";

test("nothing is known before the first request", () => {
  assert.deepEqual(new WindowFigures(0).shown(0), {
    windowS: 0,
    requests: 0,
    clientErrors: 0,
    clientsLeft: 0,
    ttftP50Ms: null,
    ttftP95Ms: null,
    hitRate: null,
    outputTokensPerS: 0,
    streamTokensPerS: null,
  });
});

test("counts, sums and times of the window", () => {
  const figures = new WindowFigures(0);
  for (let i = 0; i < 100; i++) {
    figures.add(AT.requests, 1, 1_000);
    countTime(figures, i < 90 ? 100 : 4_000, 1_000);
    figures.add(AT.outputTokens, 20, 1_000);
  }
  figures.add(AT.clientErrors, 1, 1_000);
  figures.add(AT.promptTokens, 400, 1_000);
  figures.add(AT.cachedTokens, 100, 1_000);
  figures.add(AT.streamTokens, 50, 1_000);
  figures.add(AT.streamMs, 500, 1_000);
  const shown = figures.shown(10_000);
  assert.equal(shown.windowS, 10);
  assert.equal(shown.requests, 100);
  assert.equal(shown.clientErrors, 1);
  assert.equal(shown.hitRate, 0.25);
  assert.equal(shown.outputTokensPerS, 200);
  assert.equal(shown.streamTokensPerS, 100);
  assert.ok(Math.abs((shown.ttftP50Ms ?? 0) / 100 - 1) < 0.05, String(shown.ttftP50Ms));
  assert.ok(Math.abs((shown.ttftP95Ms ?? 0) / 4_000 - 1) < 0.05, String(shown.ttftP95Ms));
});

describe("what is odd changes nothing", () => {
  for (const value of [Number.NaN, -1, Number.NEGATIVE_INFINITY]) {
    it(String(value), () => {
      const figures = new WindowFigures(0);
      countTime(figures, value, 0);
      figures.add(AT.promptTokens, value, 0);
      figures.add(AT.cachedTokens, value, 0);
      assert.deepEqual(figures.shown(0), new WindowFigures(0).shown(0));
    });
  }

  it("times beyond the scale count at its ends", () => {
    const figures = new WindowFigures(0);
    countTime(figures, 0, 0);
    assert.ok((figures.shown(0).ttftP50Ms ?? 0) < 2);
    for (let i = 0; i < 10; i++) countTime(figures, 1e9, 0);
    assert.ok((figures.shown(0).ttftP50Ms ?? 0) > 900_000);
  });
});

test("what is older than five minutes is forgotten", () => {
  const figures = new WindowFigures(0);
  figures.add(AT.requests, 1, 0);
  countTime(figures, 50, 0);
  figures.add(AT.requests, 1, 200_000);
  assert.equal(figures.shown(299_000).requests, 2);
  assert.equal(figures.shown(301_000).requests, 1);
  assert.equal(figures.shown(301_000).ttftP50Ms, null);
  assert.equal(figures.shown(3_600_000).requests, 0);
  assert.equal(figures.shown(3_600_000).windowS, 270);
});
