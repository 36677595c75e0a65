import assert from "node:assert/strict";
import { test } from "node:test";
import { createPlugin, makeHost } from "signalbox/test-kit";
import plugin from "./plugin.ts";

/** A page that needs no server. */
const page = (text: string) => `data:application/json,${encodeURIComponent(text)}`;

/** What a discovery finds or warns of at its first look. */
function firstLook(url: string): Promise<unknown> {
  return new Promise((resolve) => {
    const log = { info() {}, error() {}, warn: (message: string) => resolve(message) };
    const clock = { now: () => 0, wall: () => 0, after: () => () => {}, every: () => () => {} };
    createPlugin(plugin, { url }, makeHost({ clock, log })).start(resolve);
  });
}

test("finds the replicas of the page", async () => {
  const found = await firstLook(page('[{"name":"gpu1","url":"http://gpu1:8000"}]'));
  assert.deepEqual(found, [{ name: "gpu1", url: "http://gpu1:8000", labels: {} }]);
});

for (const text of ["", "{}", '[{"name":"gpu1"}]'])
  test(`warns of ${JSON.stringify(text)}, and finds nothing new`, async () => {
    assert.equal(await firstLook(page(text)), "The inventory can't be read");
  });
