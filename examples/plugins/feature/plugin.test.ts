import assert from "node:assert/strict";
import { test } from "node:test";
import { checkFeature, createPlugin, makeHost, makeRequest, makeRun, playFeature } from "signalbox/test-kit";
import plugin from "./plugin.ts";

const asking = (promptTokens: number) => makeRun({ parsed: makeRequest({ promptTokens }) });

test("keeps its contract", () => checkFeature(plugin));

test("refuses a prompt that is too long, and says how long others were", async () => {
  const feature = createPlugin(plugin, { mostTokens: 10 });
  const long = await playFeature(feature, asking(11));
  assert.equal(long.refusal?.code, "invalid_value");
  const short = await playFeature(feature, asking(10));
  assert.equal(short.refusal, undefined);
  assert.equal(short.lines, "x-prompt-tokens: 10\r\n");
  assert.deepEqual(feature.status?.(undefined, undefined), { requests: 2, refused: 1 });
});

test("goes on counting after a reload", async () => {
  const kept = { requests: 5, refused: 0 };
  const host = makeHost({ keep: () => kept as never });
  await playFeature(createPlugin(plugin, {}, host), asking(1));
  assert.deepEqual(kept, { requests: 6, refused: 0 });
});
