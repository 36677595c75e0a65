import assert from "node:assert/strict";
import { test } from "node:test";
import { checkFeature, createPlugin, makeHeaders, makeOutcome, makeRequest } from "signalbox/test-kit";
import plugin from "./plugin.ts";

const noted = (headers: Readonly<Record<string, string>>) =>
  createPlugin(plugin).explain?.(makeOutcome({ request: makeRequest({ headers: makeHeaders(headers) }) }));

test("keeps its contract", () => checkFeature(plugin));

test("names the experiment, without control characters, and says nothing where there is none", () => {
  assert.deepEqual(noted({ "x-experiment": "B\u001b[2J" }), ["It belongs to the experiment B?[2J."]);
  assert.deepEqual(noted({}), []);
});
