import assert from "node:assert/strict";
import { test } from "node:test";
import { createPlugin, makeEndpoint } from "signalbox/test-kit";
import plugin from "./plugin.ts";

const source = createPlugin(plugin);
const replica = makeEndpoint(0);

const cases = [
  { name: "a whole page", body: '{"running":3,"queued":1,"memory":0.5}', facts: { running: 3, waiting: 1, kvUsage: 0.5 } },
  { name: "what is not there is unknown", body: "{}", facts: {} },
];
for (const { name, body, facts } of cases) test(name, () => assert.deepEqual(source.read(body, replica), facts));

for (const body of ["", "[]", '{"running":"many"}', '{"memory":7}'])
  test(`refuses ${JSON.stringify(body)}`, () => assert.throws(() => source.read(body, replica)));

test("refuses a path that is none", () => assert.throws(() => createPlugin(plugin, { path: "load" })));
