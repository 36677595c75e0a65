import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import prefixCacheAffinity from "../../../plugins/filters/prefix-cache-affinity.ts";
import { makeEndpoints, makeLoad, makePrefix, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, issuesOf, makeHost } from "../../support/plugins.ts";

interface Case {
  readonly name: string;
  readonly parameters?: object;
  /** Blocks that each endpoint holds, of 100. */
  readonly matched: readonly number[];
  readonly prefillTokens?: readonly number[];
  readonly kept: readonly number[];
}

/** A thousand tokens per second, so one token takes a millisecond. */
const perMs = (maxTTFTPenaltyMs: number) => ({ maxTTFTPenaltyMs, peakPrefillThroughput: 1000 });

const cases: readonly Case[] = [
  { name: "a threshold of 0 turns it off", parameters: { affinityThreshold: 0 }, matched: [0, 90], kept: [0, 1] },
  { name: "one candidate stays", matched: [90], kept: [0] },
  { name: "no endpoint holds enough", matched: [10, 20, 50], kept: [0, 1, 2] },
  { name: "the holders stay", matched: [90, 85, 10], kept: [0, 1] },
  { name: "the threshold itself is enough", matched: [80, 79], kept: [0] },
  { name: "they are much too busy", parameters: perMs(100), matched: [90, 10], prefillTokens: [500, 50], kept: [0, 1] },
  { name: "they are busy, but not so much", parameters: perMs(1000), matched: [90, 10], prefillTokens: [500, 50], kept: [0] },
  {
    name: "the least busy holder counts",
    parameters: perMs(100),
    matched: [90, 95, 10],
    prefillTokens: [5000, 60, 0],
    kept: [0, 1],
  },
  { name: "a penalty of 0 sticks always", parameters: perMs(0), matched: [90, 10], prefillTokens: [5000, 50], kept: [0] },
  { name: "chance keeps all", parameters: { explorationProbability: 1 }, matched: [90, 10], kept: [0, 1] },
  { name: "all hold it", parameters: perMs(1), matched: [90, 90], prefillTokens: [0, 9000], kept: [0, 1] },
  { name: "15928 tokens a second, 18 seconds", matched: [90, 10], prefillTokens: [286_704, 0], kept: [0] },
  { name: "and a token more", matched: [90, 10], prefillTokens: [286_705, 0], kept: [0, 1] },
];

describe("prefix-cache-affinity", () => {
  for (const { name, parameters, matched, prefillTokens, kept } of cases) {
    it(name, () => {
      const count = matched.length;
      const load = makeLoad(count, prefillTokens ? { prefillTokens } : {});
      const request = makeRequest({ prefix: makePrefix(100, 16, matched) });
      const stayed = createPlugin(prefixCacheAffinity, parameters).filter(request, makeEndpoints(count), load, Math.random);
      assert.deepEqual(
        stayed.map(({ slot }) => slot),
        kept,
      );
    });
  }
});

test("without exploration no random number is drawn; it asks for the prefix index", () => {
  const asked: object[] = [];
  const random = () => assert.fail("drew a number");
  const filter = createPlugin(prefixCacheAffinity, {}, makeHost({ random, usePrefixIndex: (settings) => asked.push(settings) }));
  filter.filter(makeRequest(), makeEndpoints(2), makeLoad(2), Math.random);
  assert.deepEqual(asked, [{}]);
});

test("the latency predictor as a source is refused by name", () => {
  assert.match(
    issuesOf(prefixCacheAffinity, { ttftSource: "latencyPredictor" })[0]?.message ?? "",
    /does not ask the latency predictor/,
  );
  for (const wrong of [
    { affinityThreshold: 1.1 },
    { explorationProbability: -1 },
    { maxTTFTPenaltyMs: -1 },
    { peakPrefillThroughput: 0 },
  ]) {
    assert.equal(issuesOf(prefixCacheAffinity, wrong).length, 1);
  }
});
