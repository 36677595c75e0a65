import assert from "node:assert/strict";
import { test } from "node:test";
import { checkFeature, createPlugin, makeHost, makeOutcome, makeRequest, makeRun, playFeature } from "signalbox/test-kit";
import plugin from "./plugin.ts";

const asking = (text: string, { cache = "on", client = "a" } = {}) => {
  const principal = { name: client, tenant: client, priority: 0, models: undefined, limits: {} };
  return makeRun({ text, headers: cache === "" ? {} : { "x-cache": cache }, ticket: makeOutcome({ principal }) });
};
const response = { headers: { "content-type": "application/json" }, chunks: ['{"a":', "1}"] };
type Cache = Parameters<typeof playFeature>[0];
const bodyOf = async (cache: Cache, run: ReturnType<typeof makeRun>) => {
  const { answer } = await playFeature(cache, run, response);
  return answer && new TextDecoder().decode(answer.body as Uint8Array);
};

test("keeps its contract", () => checkFeature(plugin));

test("answers the same body of the same client again, and nothing else", async () => {
  const cache = createPlugin(plugin);
  assert.equal(await bodyOf(cache, asking("{}")), undefined);
  assert.equal(await bodyOf(cache, asking("{}")), '{"a":1}');
  assert.equal(await bodyOf(cache, asking("{ }")), undefined);
  assert.equal(await bodyOf(cache, asking("{}", { client: "b" })), undefined);
  assert.equal(await bodyOf(cache, asking("{}", { cache: "" })), undefined);
  assert.equal(await bodyOf(cache, asking("{}", { cache: "off" })), undefined);
});

test("keeps no response that broke off, failed, or may not be repeated", async () => {
  const cache = createPlugin(plugin);
  for (const change of [{ isWhole: false }, { status: 500 }, { headers: { "content-encoding": "gzip" } }])
    await playFeature(cache, asking("{}"), { ...response, ...change });
  assert.equal(await bodyOf(cache, { ...asking("{}"), parsed: makeRequest({ isRepeatable: false }) }), undefined);
  assert.equal(await bodyOf(cache, asking("{}")), undefined);
});

test("stays within its bounds, and forgets what is too old", async () => {
  let nowMs = 0;
  const clock = { ...makeHost().clock, now: () => nowMs };
  const cache = createPlugin(plugin, { maxEntries: 2, maxBytes: 400, maxAgeS: 10 }, makeHost({ clock }));
  for (const text of ["1", "2", "3"]) await playFeature(cache, asking(text), response);
  assert.equal(await bodyOf(cache, asking("3")), '{"a":1}');
  await playFeature(cache, asking("4"), { ...response, chunks: ["x".repeat(300), "x".repeat(300)] });
  const { entries, bytes } = Object(cache.status?.(undefined, undefined)) as { entries: number; bytes: number };
  assert.ok(entries <= 2 && bytes <= 400, `${entries} entries, ${bytes} bytes`);
  nowMs = 11_000;
  assert.equal(await bodyOf(cache, asking("3")), undefined);
});
