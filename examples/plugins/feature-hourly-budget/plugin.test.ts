import assert from "node:assert/strict";
import { test } from "node:test";
import { checkFeature, createPlugin, makeHost, makeOutcome, makeRun, playFeature } from "signalbox/test-kit";
import plugin from "./plugin.ts";

const HOUR_MS = 3_600_000;
const usage = { promptTokens: 60, outputTokens: 20 };
const asking = (name: string) => {
  const principal = { name, tenant: name, priority: 0, models: undefined, limits: {} };
  return makeRun({ ticket: makeOutcome({ principal, usage, outputTokens: 20 }) });
};

test("keeps its contract", () => checkFeature(plugin));

test("refuses who has used the hour's tokens until the next hour, and nobody else", async () => {
  let wallMs = 5 * HOUR_MS + 1_000;
  const clock = { ...makeHost().clock, wall: () => wallMs };
  const feature = createPlugin(plugin, { tokensPerHour: 100 }, makeHost({ clock }));
  const refusals: (string | undefined)[] = [];
  for (let i = 0; i < 3; i++) refusals.push((await playFeature(feature, asking("search"))).refusal?.code);
  assert.deepEqual(refusals, [undefined, undefined, "rate_limit_exceeded"]);
  assert.equal((await playFeature(feature, asking("search"))).refusal?.retryAfterS, 3_599);
  assert.equal((await playFeature(feature, asking("sales"))).refusal, undefined);
  wallMs += HOUR_MS;
  assert.equal((await playFeature(feature, asking("search"))).refusal, undefined);
});

test("counts nothing of a request that no replica served", async () => {
  const feature = createPlugin(plugin, { tokensPerHour: 100 });
  for (let i = 0; i < 5; i++) assert.equal((await playFeature(feature, asking("search"), { status: 500 })).refusal, undefined);
});
