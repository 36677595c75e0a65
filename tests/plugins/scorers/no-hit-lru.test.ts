import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import noHitLru from "../../../plugins/scorers/no-hit-lru.ts";
import { makeEndpoint, makeEndpoints, makeLoad, makePrefix, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, makeHost } from "../../support/plugins.ts";

const warm = () => makeRequest({ prefix: makePrefix(10, 16, [5]) });

describe("before the first cold request", () => {
  const cases: readonly [name: string, request: ReturnType<typeof warm>, count: number, scores: readonly number[]][] = [
    ["three candidates", makeRequest(), 3, [1, 0.5, 0]],
    ["a hit at any endpoint: all score the same", warm(), 3, [0.5, 0.5, 0.5]],
    ["one candidate", makeRequest(), 1, [1]],
    ["none", makeRequest(), 0, []],
    ["a prompt that is hashed, and held by none", makeRequest({ prefix: makePrefix(10, 16, []) }), 2, [1, 0]],
  ];
  for (const [name, request, count, scores] of cases) {
    it(name, () => assert.deepEqual(createPlugin(noHitLru).score(request, makeEndpoints(count), makeLoad(3)), scores));
  }
});

test("cold requests prefer endpoints never used, then the least recently used", () => {
  const scorer = createPlugin(noHitLru);
  const candidates = makeEndpoints(3);
  const send = (request: ReturnType<typeof warm>, slot: number) => {
    const scores = scorer.score(request, candidates, makeLoad(3));
    scorer.chosen?.(request, candidates[slot]!, makeLoad(1));
    return scores;
  };
  send(makeRequest(), 0);
  assert.deepEqual(send(warm(), 1), [0.5, 0.5, 0.5]);
  assert.deepEqual(send(makeRequest(), 1), [0, 1, 0.5]);
  assert.deepEqual(send(makeRequest(), 2), [0.5, 0, 1]);
  assert.deepEqual(send(makeRequest(), 0), [1, 0.5, 0]);
  assert.deepEqual(send(makeRequest(), 1), [0, 1, 0.5]);
});

test("ranks count only the candidates, not other endpoints that were used", () => {
  const scorer = createPlugin(noHitLru);
  const all = makeEndpoints(4);
  for (const endpoint of all) {
    const request = makeRequest();
    scorer.score(request, all, makeLoad(4));
    scorer.chosen?.(request, endpoint, makeLoad(1));
  }
  assert.deepEqual(scorer.score(makeRequest(), [all[3]!, all[1]!], makeLoad(4)), [0, 1]);
});

test("at most lruSize endpoints are remembered", () => {
  const scorer = createPlugin(noHitLru, { lruSize: 2 });
  const all = makeEndpoints(3);
  for (const endpoint of all) {
    const request = makeRequest();
    scorer.score(request, all, makeLoad(3));
    scorer.chosen?.(request, endpoint, makeLoad(1));
  }
  assert.deepEqual(scorer.score(makeRequest(), all, makeLoad(3)), [1, 0.5, 0]);
});

test("a choice for a request that it did not score is ignored, and it asks for the prefix index", () => {
  const asked: object[] = [];
  const scorer = createPlugin(noHitLru, {}, makeHost({ usePrefixIndex: (settings) => asked.push(settings) }));
  scorer.chosen?.(makeRequest(), makeEndpoint(0), makeLoad(1));
  assert.deepEqual(scorer.score(makeRequest(), makeEndpoints(2), makeLoad(2)), [1, 0]);
  assert.deepEqual(asked, [{}]);
});
