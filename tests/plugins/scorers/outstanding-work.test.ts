import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import outstandingWork from "../../../plugins/scorers/outstanding-work.ts";
import { makeEndpoint, makeEndpoints, makeLoad, makePrefix, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, makeHost } from "../../support/plugins.ts";

interface Case {
  readonly name: string;
  readonly parameters?: object;
  readonly promptTokens?: number;
  readonly prefillTokens?: readonly number[];
  readonly inFlight?: readonly number[];
  /** Blocks of 16 tokens that each endpoint holds, of 100. */
  readonly matched?: readonly number[];
  readonly scores: readonly number[];
}

const cases: readonly Case[] = [
  { name: "idle: all equal", promptTokens: 500, scores: [1, 1, 1] },
  { name: "prompt tokens on the way", prefillTokens: [0, 2048, 6144], scores: [1, 0.5, 0.25] },
  { name: "only the difference to the best counts", prefillTokens: [10_000, 12_048, 16_144], scores: [1, 0.5, 0.25] },
  { name: "cached prompt is no work", promptTokens: 2048, matched: [100, 0, 50], scores: [1, 2048 / 3648, 2048 / 2848] },
  {
    name: "more tokens believed cached than the prompt has",
    promptTokens: 100,
    matched: [100, 0, 0],
    scores: [1, 2048 / 2148, 2048 / 2148],
  },
  { name: "a request in flight weighs 8 ms", inFlight: [0, 1, 32], scores: [1, 2048 / 2112, 0.5] },
  { name: "its weight can be set", parameters: { decodeMs: 256 }, inFlight: [0, 1, 3], scores: [1, 0.5, 0.25] },
  { name: "nor need it weigh anything", parameters: { decodeMs: 0 }, inFlight: [0, 1, 3], scores: [1, 1, 1] },
  { name: "the scale can be set", parameters: { scaleMs: 12.5 }, prefillTokens: [0, 100, 300], scores: [1, 0.5, 0.25] },
  {
    name: "a cached prefix outweighs a short queue",
    promptTokens: 1600,
    matched: [0, 100, 0],
    prefillTokens: [0, 1000, 0],
    scores: [2048 / 2648, 1, 2048 / 2648],
  },
  { name: "but not a long one", promptTokens: 1600, matched: [0, 100, 0], prefillTokens: [0, 3648, 0], scores: [1, 0.5, 1] },
];

describe("outstanding-work", () => {
  for (const { name, parameters, promptTokens = 0, prefillTokens, inFlight, matched = [], scores } of cases) {
    it(name, () => {
      const load = makeLoad(3, { ...(prefillTokens && { prefillTokens }), ...(inFlight && { inFlight }) });
      const request = makeRequest({ promptTokens, prefix: makePrefix(100, 16, matched) });
      assert.deepEqual(
        Array.from(createPlugin(outstandingWork, parameters).score(request, makeEndpoints(3), load) ?? []),
        scores,
      );
    });
  }
});

test("a target that must be loaded costs what the load takes, or what is left of it; one that is there costs nothing", () => {
  const endpoints = [makeEndpoint(0, { models: ["base", "v1"] }), makeEndpoint(1), makeEndpoint(2)];
  const load = makeLoad(3, {
    adapterLoadMs: 768,
    unlisted: (slot, name) => (slot === 1 && name === "v1" ? { standing: "loading", leftMs: 256 } : undefined),
  });
  const scored = (onDemand: "configured" | "never") =>
    Array.from(createPlugin(outstandingWork).score(makeRequest({ target: "v1", onDemand }), endpoints, load) ?? []);
  assert.deepEqual(scored("configured"), [1, 0.5, 0.25]);
  assert.deepEqual(scored("never"), [1, 1, 1]);
});

test("an adapter that does not fit beside those in use costs a load, as far as the metrics are fresh", () => {
  const use = (...names: readonly string[]) => ({ running: new Set(names), waiting: new Set(names), max: 2 });
  const uses = [use("a", "v1"), use("a"), use("a", "b"), use("a", "b", "v1", "c"), undefined, use("a", "b")];
  const scored = (target: string) => {
    const endpoints = uses.map((_, slot) => makeEndpoint(slot, { models: ["base", "v1"] }));
    const load = makeLoad(uses.length, {
      adapterLoadMs: 256,
      adapters: (slot) => ({ names: new Set(["a", "b", "c", "v1"]), use: uses[slot] }),
      freshness: (slot) => (slot === 5 ? 0 : 1),
    });
    return Array.from(createPlugin(outstandingWork).score(makeRequest({ target }), endpoints, load) ?? []);
  };
  // In the fourth, two of four wait, and nobody knows which.
  assert.deepEqual(scored("v1"), [1, 1, 0.5, 256 / (256 + 128), 1, 1]);
  assert.deepEqual(scored("base"), [1, 1, 1, 1, 1, 1]);
});

test("an adapter that is not believed to be loaded costs what its load does, or the wait for those in use if that is longer", () => {
  const names = new Set(["v1"]);
  const full = { running: new Set(["a", "b"]), waiting: new Set<string>(), max: 2 };
  const endpoints = [0, 1, 2, 3].map((slot) => makeEndpoint(slot, { models: slot === 3 ? ["base"] : ["base", "v1"] }));
  const load = makeLoad(4, {
    adapterLoadMs: 768,
    adapterMs: (slot) => [0, 256, 256, 0][slot]!,
    adapters: (slot) => ({ names, use: slot === 2 ? full : undefined }),
  });
  const scored = (target: string) =>
    Array.from(createPlugin(outstandingWork).score(makeRequest({ target, onDemand: "configured" }), endpoints, load) ?? []);
  assert.deepEqual(scored("v1"), [1, 0.5, 0.25, 0.25]);
  assert.deepEqual(scored("base"), [1, 1, 1, 1]);
});

test("a slow endpoint's work weighs more: half the speed, twice the wait", () => {
  const load = makeLoad(2, { prefillTokens: [2048, 1024], prefillRate: (slot) => [8, 4][slot]! });
  const request = makeRequest({ promptTokens: 2048 });
  // 512 ms against (1024 + 2048) / 4 = 768 ms.
  assert.deepEqual(Array.from(createPlugin(outstandingWork).score(request, makeEndpoints(2), load) ?? []), [1, 0.5]);
});

const crowded: readonly { name: string; waiting: readonly number[]; parameters?: object; score: number }[] = [
  { name: "no prompt waits", waiting: [0, 0], score: 2048 / 3072 },
  { name: "prompts wait at half of the endpoints, however many: 1 + 2 / 4", waiting: [50, 0], score: 2048 / (2048 + 1.5 * 1024) },
  { name: "one waits everywhere: three times as heavy", waiting: [1, 1], score: 2048 / 5120 },
  { name: "and half of the endpoints have more", waiting: [1, 7], score: 2048 / (2048 + 3.5 * 1024) },
  { name: "many wait everywhere: twelve times, and no more", waiting: [60, 70], score: 2048 / (2048 + 12 * 1024) },
  { name: "the most can be set", waiting: [60, 70], parameters: { crowdedWeight: 2 }, score: 0.5 },
  { name: "to none", waiting: [60, 70], parameters: { crowdedWeight: 1 }, score: 2048 / 3072 },
];
describe("uncached tokens weigh more when prompts wait everywhere", () => {
  for (const { name, waiting, parameters, score } of crowded) {
    it(name, () => {
      const load = makeLoad(2, { waitingPrompts: (slot) => waiting[slot]! });
      const request = makeRequest({ promptTokens: 1024, prefix: makePrefix(64, 16, [64, 0]) });
      const scores = createPlugin(outstandingWork, parameters).score(request, makeEndpoints(2), load);
      assert.deepEqual(Array.from(scores ?? []), [1, score]);
    });
  }
});

test("tokens that a cache would lose, and that are asked for again, are work too", () => {
  const displaced = [0, 0.25, 0.75];
  const prefix = { ...makePrefix(128, 16, []), displacedTokens: (slot: number, tokens: number) => displaced[slot]! * tokens };
  const scores = createPlugin(outstandingWork).score(makeRequest({ promptTokens: 8192, prefix }), makeEndpoints(3), makeLoad(3));
  assert.deepEqual(Array.from(scores ?? []), [1, 0.5, 0.25]);
});

describe("tokens that another candidate has cached are shared by all requests in flight that go on from them", () => {
  const inFlight = [64, 0];
  const hashes = Array.from({ length: 128 }, (_, word) => word + 1);
  /** 8,192 tokens, of which the first endpoint has `blocks` blocks of 128. */
  const made = (blocks: number) => makeRequest({ promptTokens: 8192, prefix: { ...makePrefix(64, 128, [blocks, 0]), hashes } });
  const load = makeLoad(2, { inFlight });
  const [holder, other] = makeEndpoints(2);
  const scoreOfOther = (earlier: readonly number[]) => {
    const scorer = createPlugin(outstandingWork);
    for (const blocks of earlier) {
      const request = made(blocks);
      scorer.score(request, [holder!, other!], load);
      scorer.chosen!(request, holder!, load);
    }
    return Array.from(scorer.score(made(64), [holder!, other!], load) ?? []);
  };
  // The holder has 64 requests in flight, which are 512 ms, and a copy takes 1,024.
  const cases: readonly [name: string, earlier: readonly number[], scores: readonly number[]][] = [
    ["none", [], [1, 2048 / (2048 + 4096)]],
    ["others that go on from another block", new Array<number>(64).fill(63), [1, 2048 / (2048 + 4096)]],
    ["one", [64], [1, 2048 / (2048 + 4096)]],
    ["two", [64, 64], [1, 1]],
    ["eight", new Array<number>(8).fill(64), [256 / (256 + 384), 1]],
    ["two before as many others as are in flight", [64, 64, ...new Array<number>(64).fill(63)], [1, 2048 / (2048 + 4096)]],
    ["many, more than are remembered", new Array<number>(3000).fill(64), [256 / (256 + 496), 1]],
  ];
  for (const [name, earlier, scores] of cases) it(name, () => assert.deepEqual(scoreOfOther(earlier), scores));

  it("a try without a score before it counts by what its own endpoint holds", () => {
    const scorer = createPlugin(outstandingWork);
    for (let count = 0; count < 8; count++) scorer.chosen!(made(64), holder!, load);
    assert.deepEqual(Array.from(scorer.score(made(64), [holder!, other!], load) ?? []), [256 / (256 + 384), 1]);
  });
});

test("rounding never makes the best score differ from 1", () => {
  const load = makeLoad(8, {
    prefillTokens: [0.1, 1e9 + 0.3, 7.7, 12_345.678, 1e15, 3, 1 / 3, 2 / 7],
    prefillRate: (slot) => 7.3 + slot / 9,
  });
  const scores = Array.from(createPlugin(outstandingWork).score(makeRequest({ promptTokens: 77 }), makeEndpoints(8), load) ?? []);
  assert.ok(scores.every((score) => score !== null && score > 0 && score <= 1));
  assert.equal(Math.max(...scores.map(Number)), 1);
});

test("it asks for the prefix index, with no settings of its own", () => {
  const asked: object[] = [];
  createPlugin(outstandingWork, {}, makeHost({ usePrefixIndex: (settings) => asked.push(settings) }));
  assert.deepEqual(asked, [{}]);
});
