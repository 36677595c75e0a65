import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Definition } from "../../core/contract/plugin.ts";
import type { Scorer } from "../../core/contract/scorer.ts";
import { situations } from "../../core/test-kit/situations.ts";
import aibrixPrefix from "../../examples/policies/aibrix-prefix.ts";
import boundedLoadHash from "../../examples/policies/bounded-load-hash.ts";
import { cheapestFirst } from "../../examples/policies/cheapest-first.ts";
import dynamoCost from "../../examples/policies/dynamo-cost.ts";
import llmDPrefix from "../../examples/policies/llm-d-prefix.ts";
import lmetric from "../../examples/policies/lmetric.ts";
import mooncake from "../../examples/policies/mooncake.ts";
import sglangCacheAware from "../../examples/policies/sglang-cache-aware.ts";
import sglangSmallestTree from "../../examples/policies/sglang-smallest-tree.ts";
import { makeEndpoint, makeEndpoints, makeLoad, makePrefix, makeRequest } from "../support/endpoints.ts";
import { createPlugin, issuesOf } from "../support/plugins.ts";

const HASHES = Array.from({ length: 20 }, (_, word) => word + 1);

/** A prompt of so many blocks of ten tokens, ten by default; `matched[slot]` of them are cached there. */
function requestWith(matched: readonly number[] = [], blocks = 10) {
  const prefix = { ...makePrefix(blocks, 10, matched), hashes: HASHES, tokensIn: () => 10 };
  return makeRequest({ promptTokens: 10 * blocks, prefix });
}

interface Case {
  readonly name: string;
  readonly matched?: readonly number[];
  /** By slot: so many leading blocks of this prompt were sent there before, in the order of slots. */
  readonly remembered?: readonly number[];
  readonly inFlight?: readonly number[];
  readonly prefillTokens?: readonly number[];
  readonly parameters?: unknown;
  /** Prompts sent before, as slot and length in tokens. None of them was cached. */
  readonly sent?: readonly (readonly [slot: number, tokens: number])[];
  readonly scores: readonly number[];
}

function check<Options>(definition: Definition<"scorer", Options>, cases: readonly Case[]): void {
  for (const { name, matched = [], remembered = [], parameters = {}, sent = [], scores, ...numbers } of cases) {
    it(name, () => {
      const scorer = createPlugin(definition, parameters);
      const candidates = makeEndpoints(scores.length);
      for (const [slot, promptTokens] of sent) scorer.chosen?.(makeRequest({ promptTokens }), candidates[slot]!, makeLoad(1));
      for (const [slot, blocks] of remembered.entries()) {
        if (blocks > 0) scorer.chosen?.(requestWith([], blocks), candidates[slot]!, makeLoad(1));
      }
      assertClose(scorer.score(requestWith(matched), candidates, makeLoad(scores.length, numbers)), scores);
    });
  }
}

function assertClose(actual: ReturnType<Scorer["score"]>, wanted: readonly number[]): void {
  const scores = Array.from(actual ?? []);
  const isClose = scores.length === wanted.length && scores.every((score, index) => Math.abs(score! - wanted[index]!) < 1e-12);
  assert.ok(isClose, `${scores} instead of ${wanted}`);
}

describe("every policy keeps the contract of scorers", () => {
  const definitions: readonly Definition<"scorer">[] = [
    aibrixPrefix,
    boundedLoadHash,
    dynamoCost,
    llmDPrefix,
    lmetric,
    mooncake,
    sglangCacheAware,
    sglangSmallestTree,
  ];
  for (const definition of definitions) {
    it(definition.type, () => {
      assert.ok(issuesOf(definition, { unknown: 1 }).length > 0);
      for (const { name, request, candidates, load } of situations()) {
        const scorer = createPlugin(definition);
        const scores = Array.from(scorer.score(request, candidates, load) ?? []);
        assert.equal(scores.length, candidates.length, name);
        for (const score of scores) assert.ok(score !== null && score >= 0 && score <= 1, `${name}: ${score}`);
        assert.deepEqual(Array.from(scorer.score(request, candidates, load) ?? []), scores, name);
      }
    });
  }
});

it("cheapestFirst keeps the order of costs and the ties", () => {
  assert.deepEqual(cheapestFirst([5, 2, 2, 12]), [1 / 4, 1, 1, 1 / 11]);
  assert.deepEqual(cheapestFirst([]), []);
});

describe("lmetric", () => {
  check(lmetric, [
    { name: "an idle pool: what is cached decides", matched: [0, 4], scores: [1 / 41, 1] },
    // (200 + 50) x 2 = 500 against (50 + 100) x 3 = 450.
    { name: "work times requests", matched: [5], prefillTokens: [200, 50], inFlight: [1, 2], scores: [1 / 51, 1] },
    { name: "more is cached than the prompt is long", matched: [10, 20], inFlight: [3, 0], scores: [1, 1] },
  ]);
});

describe("mooncake", () => {
  check(mooncake, [
    {
      name: "queued work and uncached part, requests or not",
      matched: [5],
      prefillTokens: [200, 50],
      inFlight: [0, 9],
      scores: [1 / 101, 1],
    },
    { name: "a cached prompt is worth a short queue", matched: [10], prefillTokens: [90, 0], scores: [1, 1 / 11] },
  ]);
});

describe("dynamo-cost", () => {
  // Prefill: 200 + 100 - 50 = 250 against 50 + 100 = 150.
  const busy = { matched: [5], prefillTokens: [200, 50] };
  const sent = [
    [1, 300],
    [1, 20],
  ] as const;
  check(dynamoCost, [
    { name: "prefill work", ...busy, scores: [1 / 101, 1] },
    { name: "the last prompt sent is the one in flight", ...busy, sent, inFlight: [0, 1], scores: [1 / 81, 1] },
    { name: "both are in flight", ...busy, sent, inFlight: [0, 2], scores: [1, 1 / 221] },
    { name: "more are in flight than it saw: their mean", ...busy, sent, inFlight: [0, 4], scores: [1, 1 / 541] },
    { name: "none of those in flight was seen", ...busy, inFlight: [3, 0], scores: [1 / 101, 1] },
    { name: "no credit for the cached part", ...busy, parameters: { overlapScoreCredit: 0 }, scores: [1 / 151, 1] },
    { name: "prefill scaled", ...busy, parameters: { prefillLoadScale: 2 }, scores: [1 / 201, 1] },
    {
      name: "softmax",
      matched: [5, 5, 0],
      prefillTokens: [200, 0, 50],
      parameters: { temperature: 0.5 },
      scores: [Math.exp(-2), 1, Math.exp(-1)],
    },
    { name: "softmax of equal costs", parameters: { temperature: 0.5 }, scores: [1, 1] },
  ]);

  it("forgets the prompts of the slot's earlier endpoint", () => {
    const scorer = createPlugin(dynamoCost);
    const [first, second] = makeEndpoints(2);
    scorer.chosen?.(makeRequest({ promptTokens: 500 }), makeEndpoint(0, { name: "gone" }), makeLoad(1));
    assertClose(scorer.score(requestWith(), [first!, second!], makeLoad(2, { inFlight: [1, 0] })), [1, 1]);
  });

  it("remembers a limited number of prompts", () => {
    const scorer = createPlugin(dynamoCost);
    const [first, second] = makeEndpoints(2);
    for (let i = 0; i < 10_000; i++) scorer.chosen?.(makeRequest({ promptTokens: 10 }), first!, makeLoad(1));
    assertClose(scorer.score(requestWith(), [first!, second!], makeLoad(2, { inFlight: [10_000, 0] })), [1 / 100_001, 1]);
  });
});

describe("llm-d-prefix", () => {
  check(llmDPrefix, [
    { name: "the share that was sent there", remembered: [5, 0, 9], scores: [0.5, 0, 0.9] },
    { name: "of what is looked at", remembered: [5, 9], parameters: { maxPrefixTokensToMatch: 60 }, scores: [5 / 6, 1] },
    {
      name: "the index has a limit",
      remembered: [5],
      parameters: { lruCapacityPerServer: 2, blockSizeTokens: 10 },
      scores: [0.2],
    },
  ]);
});

describe("sglang-cache-aware", () => {
  // The others are ordered by requests in flight, and by all they have had if these are equal; at half the score.
  check(sglangCacheAware, [
    { name: "even load: the longest match", remembered: [4, 2, 0], inFlight: [60, 0, 0], scores: [1, 1 / 3, 1 / 2] },
    { name: "of equal matches, the endpoint that was sent it last", remembered: [5, 5], scores: [1 / 2, 1] },
    { name: "a match at the threshold does not count", remembered: [3, 2], scores: [1, 1] },
    { name: "no match: fewest requests, now and in all", sent: [[1, 100]], inFlight: [2, 1, 1], scores: [1 / 2, 1 / 1.5, 1] },
    { name: "the index has a limit", remembered: [4], parameters: { maxTreeSize: 80 }, scores: [1 / 1.5, 1] },
    { name: "uneven load: fewest requests", remembered: [9, 0, 0], inFlight: [70, 5, 6], scores: [1 / 66.5, 1, 1 / 2] },
    { name: "64 more are not uneven", remembered: [9, 0], inFlight: [64, 0], scores: [1, 1 / 2] },
    { name: "one and a half times as many is not uneven", remembered: [9, 0], inFlight: [198, 132], scores: [1, 1 / 2] },
    { name: "another threshold", remembered: [4], parameters: { cacheThreshold: 0.5 }, scores: [1 / 1.5, 1] },
  ]);
});

describe("sglang-smallest-tree", () => {
  check(sglangSmallestTree, [
    { name: "even load: the longest match", matched: [4, 2, 0], inFlight: [60, 0, 0], scores: [0.4, 0.2, 0] },
    { name: "a match at the threshold does not count", matched: [3, 2], sent: [[0, 100]], scores: [1 / 401, 1] },
    {
      name: "no match: the smallest tree",
      sent: [
        [0, 100],
        [1, 50],
        [0, 25],
      ],
      scores: [1 / 301, 1],
    },
    {
      name: "trees have a limit",
      sent: [
        [0, 100],
        [1, 50],
      ],
      parameters: { maxTreeSize: 200 },
      scores: [1, 1],
    },
    { name: "uneven load: fewest requests", matched: [9, 0, 0], inFlight: [70, 5, 6], scores: [1 / 66, 1, 1 / 2] },
    { name: "64 more are not uneven", matched: [9, 0], inFlight: [64, 0], scores: [0.9, 0] },
    { name: "one and a half times as many is not uneven", matched: [9, 0], inFlight: [198, 132], scores: [0.9, 0] },
    { name: "another threshold", matched: [4], sent: [[0, 25]], parameters: { cacheThreshold: 0.5 }, scores: [1 / 101, 1] },
  ]);
});

describe("aibrix-prefix", () => {
  check(aibrixPrefix, [
    { name: "the longest match", remembered: [5, 0, 9], inFlight: [2, 2, 2], scores: [51.5 / 102, 1.5 / 102, 91.5 / 102] },
    {
      name: "fewer requests among equal matches",
      remembered: [5, 5, 5],
      inFlight: [1, 2, 1],
      parameters: { standardDeviationFactor: 2 },
      scores: [51.5 / 102, (51 + 1 / 3) / 102, 51.5 / 102],
    },
    // The mean is 1, the standard deviation 1.41.
    {
      name: "an endpoint far above the mean comes last",
      remembered: [5, 0, 9],
      inFlight: [0, 0, 3],
      scores: [51.5 / 102, 1.5 / 102, 0.2 / 102],
    },
    {
      name: "unless the parameter allows it",
      remembered: [5, 0, 9],
      inFlight: [0, 0, 3],
      parameters: { standardDeviationFactor: 2 },
      scores: [51.5 / 102, 1.5 / 102, 91.2 / 102],
    },
    // 10 > 2 x (11 / 3 + 1).
    {
      name: "uneven load: the least loaded only",
      remembered: [9, 0, 9],
      inFlight: [10, 0, 1],
      scores: [1 / 12 / 102, 1.5 / 102, 1 / 3 / 102],
    },
  ]);
});

describe("bounded-load-hash", () => {
  const candidates = makeEndpoints(4);
  const bodyOf = (text: string) => {
    const body = new TextEncoder().encode(`##${text}`);
    return makeRequest({ body, promptSpans: [[2, body.length]] });
  };
  const idle = makeLoad(4);
  const scoresOf = (text: string, load = idle, parameters: unknown = {}) =>
    Array.from(createPlugin(boundedLoadHash, parameters).score(bodyOf(text), candidates, load) ?? [], Number);
  const orderOf = (...asked: Parameters<typeof scoresOf>) => {
    const scores = scoresOf(...asked);
    return [0, 1, 2, 3].sort((a, b) => scores[b]! - scores[a]!);
  };
  const counts = (busy: number, count: number) =>
    makeLoad(4, { inFlight: [0, 1, 2, 3].map((slot) => (slot === busy ? count : 0)) });

  it("gives equal beginnings to one endpoint and different ones to all", () => {
    const beginning = "x".repeat(100);
    assert.deepEqual(orderOf(`${beginning}one`), orderOf(`${beginning}another`));
    const owners = Array.from({ length: 400 }, (_, index) => orderOf(`prompt ${index}`)[0]);
    for (const slot of [0, 1, 2, 3]) {
      const share = owners.filter((owner) => owner === slot).length / owners.length;
      assert.ok(share > 0.15 && share < 0.35, `endpoint ${slot} has ${share}`);
    }
  });

  it("moves no other prompt when an endpoint is removed", () => {
    const scorer = createPlugin(boundedLoadHash);
    for (let index = 0; index < 50; index++) {
      const [owner] = orderOf(`prompt ${index}`);
      if (owner === 3) continue;
      const fewer = Array.from(scorer.score(bodyOf(`prompt ${index}`), candidates.slice(0, 3), idle) ?? [], Number);
      assert.equal(fewer.indexOf(Math.max(...fewer)), owner);
    }
  });

  it("takes the next endpoint that has room", () => {
    const [owner, next] = orderOf("hello");
    // With 3 in flight, 1.25 x 4 / 4 is the limit: the owner would have 4.
    assert.deepEqual(orderOf("hello", counts(owner!, 3)).indexOf(owner!), 3);
    assert.equal(orderOf("hello", counts(owner!, 3))[0], next);
    assert.equal(orderOf("hello", counts(owner!, 3), { meanLoadFactor: 4 })[0], owner);
  });

  it("stays with the owner if no endpoint has room", () => {
    const [owner] = orderOf("hello");
    // With 1 in flight, 1.25 x 2 / 4 is the limit: even an idle one would have more.
    assert.equal(orderOf("hello", counts(owner!, 1))[0], owner);
  });

  it("skips a common beginning", () => {
    const shared = "s".repeat(200);
    const same = new Set(Array.from({ length: 20 }, (_, index) => orderOf(`${shared}prompt ${index}`)[0]));
    const skipped = new Set(
      Array.from({ length: 20 }, (_, index) => orderOf(`${shared}prompt ${index}`, idle, { skipBytes: 200 })[0]),
    );
    assert.equal(same.size, 1);
    assert.equal(skipped.size, 4);
  });

  it("hashes the end of a prompt that is shorter than skipBytes", () => {
    const asked = { skipBytes: 500, prefixBytes: 10 };
    assert.deepEqual(orderOf(`${"a".repeat(40)}0123456789`, idle, asked), orderOf(`${"b".repeat(70)}0123456789`, idle, asked));
  });

  it("hashes a chat from its first user message on", () => {
    const chat = (system: string) =>
      JSON.stringify([
        { role: "system", content: system },
        { role: "user", content: "Where is the station?" },
      ]);
    assert.deepEqual(orderOf(chat("Be brief.")), orderOf(chat('Answer the "user" at length.')));
  });

  it("gives one prompt different places under different models", () => {
    const scorer = createPlugin(boundedLoadHash);
    const orders = ["a", "b", "c", "d", "e", "f"].map((target) =>
      String(scorer.score({ ...bodyOf("hello"), target }, candidates, idle)),
    );
    assert.equal(new Set(orders).size, 6);
  });
});
