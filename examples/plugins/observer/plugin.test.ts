import assert from "node:assert/strict";
import { test } from "node:test";
import { createPlugin, makeHost, makeOutcome, makeRequest } from "signalbox/test-kit";
import plugin from "./plugin.ts";

const page = (observer: ReturnType<typeof createPlugin<"observer", { path: string }>>) =>
  observer.pages?.[0]?.render({} as never, new URLSearchParams());

test("counts requests by model, and none that could not be understood", () => {
  const observer = createPlugin(plugin);
  for (const model of ["a", "b", "a"]) observer.finished(makeOutcome({ request: makeRequest({ model }) }));
  observer.finished(makeOutcome({ request: undefined }));
  assert.equal(page(observer), "a 2\nb 1\n");
});

test("goes on counting after a reload", () => {
  const kept = new Map<string, number>();
  const host = makeHost({ keep: () => kept as never });
  createPlugin(plugin, {}, host).finished(makeOutcome());
  assert.equal(page(createPlugin(plugin, {}, host)), "base 1\n");
});

test("prints no control characters", () => {
  const observer = createPlugin(plugin);
  observer.finished(makeOutcome({ request: makeRequest({ model: "a\u001b[2J" }) }));
  assert.equal(page(observer), "a?[2J 1\n");
});
