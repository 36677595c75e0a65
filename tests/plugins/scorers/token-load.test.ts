import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import tokenLoad from "../../../plugins/scorers/token-load.ts";
import { makeEndpoints, makeLoad, makePrefix, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, makeHost } from "../../support/plugins.ts";

interface Case {
  readonly name: string;
  readonly promptTokens: number;
  readonly prefillTokens: readonly number[];
  /** Blocks of 10 tokens that each endpoint holds, of 25. */
  readonly matched?: readonly number[];
  readonly scores: readonly number[];
}

const cases: readonly Case[] = [
  { name: "the tokens on the way and the prompt's own", promptTokens: 250, prefillTokens: [0, 250, 750], scores: [0.75, 0.5, 0] },
  { name: "beyond the threshold: 0", promptTokens: 250, prefillTokens: [0, 5000, 1e9], scores: [0.75, 0, 0] },
  { name: "nothing to do: 1", promptTokens: 0, prefillTokens: [0, 0, 100], scores: [1, 1, 0.9] },
  { name: "what is cached is no work", promptTokens: 250, prefillTokens: [0, 0, 0], matched: [25, 5, 0], scores: [1, 0.8, 0.75] },
];

describe("token-load, threshold 1000", () => {
  const scorer = createPlugin(tokenLoad, { queueThresholdTokens: 1000 });
  for (const { name, promptTokens, prefillTokens, matched = [], scores } of cases) {
    it(name, () => {
      const request = makeRequest({ promptTokens, prefix: makePrefix(25, 10, matched) });
      assert.deepEqual(scorer.score(request, makeEndpoints(3), makeLoad(3, { prefillTokens })), scores);
    });
  }
});

test("the default threshold is 128 x 32,768 tokens", () => {
  const load = makeLoad(1, { prefillTokens: [128 * 16 * 1024] });
  assert.deepEqual(createPlugin(tokenLoad).score(makeRequest(), makeEndpoints(1), load), [0.5]);
});

test("it asks for the prefix index", () => {
  const asked: object[] = [];
  createPlugin(tokenLoad, {}, makeHost({ usePrefixIndex: (settings) => asked.push(settings) }));
  assert.deepEqual(asked, [{}]);
});
