import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { AT, countTime } from "../../../../apps/admin/figures/counts.ts";
import { isSpan, SPANS, TrafficHistories } from "../../../../apps/admin/figures/traffic-history.ts";
import { NO_HISTORY } from "../../../support/figures.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test("each step that is over, the oldest first", () => {
  const histories = new TrafficHistories(10_000);
  assert.deepEqual(histories.shown("10m", 12_000), NO_HISTORY);
  histories.serving(3, 12_000);
  histories.add(AT.requests, 10, 13_000);
  histories.add(AT.routerErrors, 2, 13_000);
  histories.add(AT.replicaErrors, 3, 13_000);
  histories.add(AT.clientErrors, 1, 13_000);
  histories.add(AT.promptTokens, 400, 13_000);
  histories.add(AT.cachedTokens, 100, 13_000);
  for (const odd of [Number.NaN, -1]) {
    histories.add(AT.requests, odd, 13_000);
    countTime(histories, odd, 13_000);
  }
  for (let i = 0; i < 100; i++) countTime(histories, i < 90 ? 100 : 4_000, 21_000);
  histories.serving(1, 22_000);
  histories.serving(2, 23_000);
  histories.add(AT.requests, 1, 26_000);
  const { ttftP50Ms, ttftP95Ms, ...rest } = histories.shown("10m", 26_000);
  assert.deepEqual(rest, {
    stepS: 5,
    requestsPerS: [2, 0, 0],
    errorsPerS: [1, 0, 0],
    clientErrorsPerS: [0.2, 0, 0],
    hitRate: [0.25, null, null],
    // None served when it began.
    leastServing: [0, 3, 1],
  });
  const near = (values: readonly (number | null)[], wanted: number) => {
    assert.deepEqual([values[0], values[1]], [null, null]);
    assert.ok(Math.abs((values[2] ?? 0) / wanted - 1) < 0.05, String(values));
  };
  near(ttftP50Ms, 100);
  near(ttftP95Ms, 4_000);
  assert.equal(histories.shown("10m", 31_000).leastServing.at(-1), 2);
});

test("a first step that began in the middle has the rate of the time that it covers", () => {
  const histories = new TrafficHistories(11 * MINUTE);
  histories.add(AT.requests, 60, 11.5 * MINUTE);
  assert.deepEqual(histories.shown("24h", 12 * MINUTE).requestsPerS, [1]);
  const late = new TrafficHistories(4_999);
  late.add(AT.requests, 1, 4_999);
  assert.deepEqual(late.shown("10m", 5_000).requestsPerS, [1]);
});

describe("three spans of 120 steps, also after days", () => {
  const histories = new TrafficHistories(0);
  histories.serving(4, 0);
  let nowMs = 0;
  for (; nowMs < 73 * HOUR; nowMs += 1_000) histories.add(AT.requests, nowMs % HOUR < 30 * MINUTE ? 2 : 1, nowMs);
  for (const [span, stepS] of [
    ["10m", 5],
    ["2h", 60],
    ["24h", 720],
  ] as const) {
    it(span, () => {
      const shown = histories.shown(span, nowMs);
      assert.equal(shown.stepS, stepS);
      for (const [name, values] of Object.entries(shown)) if (name !== "stepS") assert.equal((values as unknown[]).length, 120);
      // An hour is five steps of the longest span: 2, 2, 1.5, 1 and 1 a second.
      const mean = shown.requestsPerS.reduce((sum, value) => sum + value, 0) / 120;
      assert.equal(mean, span === "10m" ? 1 : 1.5);
      assert.deepEqual(new Set(shown.leastServing), new Set([4]));
    });
  }
});

describe("a silence", () => {
  for (const [name, silentMs] of [
    ["of minutes", 30 * MINUTE],
    ["of days", 80 * HOUR],
    ["of years, in a moment", 100_000 * HOUR],
  ] as const) {
    it(name, () => {
      const histories = new TrafficHistories(0);
      histories.serving(2, 0);
      histories.add(AT.requests, 5_000, 0);
      for (const span of SPANS) {
        const { stepS, requestsPerS, leastServing } = histories.shown(span, silentMs);
        const steps = Math.min(120, silentMs / 1000 / stepS);
        assert.equal(requestsPerS.length, Math.floor(steps));
        assert.equal(Math.max(...requestsPerS.slice(1)), 0);
        assert.equal(leastServing.at(-1), 2);
        assert.equal(requestsPerS[0]! > 0, silentMs / 1000 / stepS <= 120);
      }
    });
  }
});

test("only its own names are spans", () => {
  assert.deepEqual(["10m", "24h", "1h", "", "toString"].map(isSpan), [true, true, false, false, false]);
});
