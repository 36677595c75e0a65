import assert from "node:assert/strict";
import { test } from "node:test";
import prefixCache from "../../../plugins/scorers/prefix-cache.ts";
import { makeEndpoints, makeLoad, makePrefix, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, issuesOf, makeHost } from "../../support/plugins.ts";

test("the share of the prompt that is cached", () => {
  const scorer = createPlugin(prefixCache);
  const request = makeRequest({ prefix: makePrefix(8, 16, [8, 2, 0]) });
  assert.deepEqual(scorer.score(request, makeEndpoints(3), makeLoad(3)), [1, 0.25, 0]);
});

test("the reference's case: 5 and 2 of 10 blocks", () => {
  const request = makeRequest({ prefix: makePrefix(10, 16, [5, 2]) });
  assert.deepEqual(createPlugin(prefixCache).score(request, makeEndpoints(2), makeLoad(2)), [0.5, 0.2]);
});

test("no opinion on a prompt too short to index", () => {
  assert.equal(createPlugin(prefixCache).score(makeRequest(), makeEndpoints(3), makeLoad(3)), null);
});

test("its settings are passed to the index", () => {
  for (const parameters of [{}, { blockBytes: 256 }, { blockBytes: 64, maxBytes: 1_000_000 }]) {
    const asked: object[] = [];
    createPlugin(prefixCache, parameters, makeHost({ usePrefixIndex: (settings) => asked.push(settings) }));
    assert.deepEqual(asked, [parameters]);
  }
  assert.equal(issuesOf(prefixCache, { blockBytes: 0 }).length, 1);
  assert.equal(issuesOf(prefixCache, { maxBytes: 1.5 }).length > 0, true);
});
