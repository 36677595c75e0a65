import assert from "node:assert/strict";
import { test } from "node:test";
import { createPlugin } from "signalbox/test-kit";
import plugin from "./plugin.ts";

const source = createPlugin(plugin);

const cases = [
  { name: "a whole page", body: '{"running":3,"queued":1,"memory":0.5}', facts: { running: 3, waiting: 1, kvUsage: 0.5 } },
  { name: "what is not there is unknown", body: "{}", facts: {} },
];
for (const { name, body, facts } of cases) test(name, () => assert.deepEqual(source.read(body), facts));

for (const body of ["", "[]", '{"running":"many"}', '{"memory":7}'])
  test(`refuses ${JSON.stringify(body)}`, () => assert.throws(() => source.read(body)));

test("refuses a path that is none", () => assert.throws(() => createPlugin(plugin, { path: "load" })));
