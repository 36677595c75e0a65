import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { type Estimate, estimateAt } from "../../../core/contract/estimate.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import type { LoadNumbers } from "../../../core/contract/test-kit.ts";
import { estimate, MOST_ESTIMATED } from "../../../core/decide/estimate.ts";
import { makeDecision } from "../../../core/test-kit/records.ts";
import outstandingWork from "../../../plugins/scorers/outstanding-work.ts";
import { makeEndpoint, makeEndpoints, makeLoad, makePrefix, makeRequest } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

const NaN_ = Number.NaN;
const legWith = (estimates: ArrayLike<number>) => makeDecision({ estimates }).legs[0]!;
const prefix = makePrefix(10, 100, [3, 10, 20]);

describe("what is expected at an endpoint", () => {
  const rows: readonly (readonly [name: string, request: Partial<InferenceRequest>, load: LoadNumbers, expected: Estimate])[] = [
    ["a part cached", { prefix }, {}, { cachedTokens: 300, waitingTokens: 0, firstTokenMs: 700 / 8 }],
    ["no prefix index", {}, {}, { cachedTokens: NaN_, waitingTokens: 0, firstTokenMs: 1000 / 8 }],
    ["nothing cached", { prefix: makePrefix(10, 100, []) }, {}, { cachedTokens: 0, waitingTokens: 0, firstTokenMs: 1000 / 8 }],
    [
      "more than the prompt, by a correction",
      { prefix: makePrefix(10, 100, [11]) },
      {},
      { cachedTokens: 1000, waitingTokens: 0, firstTokenMs: 0 },
    ],
    [
      "others wait",
      { prefix },
      { remainingPrefill: [500], inFlight: [3] },
      { cachedTokens: 300, waitingTokens: 500, firstTokenMs: 1200 / 8 + 3 * 8 },
    ],
    [
      "an adapter to load",
      { prefix, target: "v1", onDemand: "configured" },
      {},
      { cachedTokens: 300, waitingTokens: 0, firstTokenMs: 700 / 8 + 2_000 },
    ],
    [
      "no measured speed",
      { prefix },
      { isRateKnown: [false], remainingPrefill: [7] },
      { cachedTokens: 300, waitingTokens: 7, firstTokenMs: NaN_ },
    ],
  ];
  for (const [name, request, load, expected] of rows) {
    it(name, () => {
      const estimates = estimate(makeRequest({ promptTokens: 1_000, ...request }), [makeEndpoint(0)], makeLoad(1, load));
      assert.deepEqual(estimateAt(legWith(estimates), 0), expected);
      assert.equal(estimateAt(legWith(estimates), 1), undefined);
    });
  }
});

test("only the first endpoints of the order are estimated, whatever their number", () => {
  const order = makeEndpoints(1_000).toReversed();
  const read: number[] = [];
  const load = makeLoad(1_000, {
    remainingPrefill(slot) {
      read.push(slot);
      return slot;
    },
  });
  const estimates = estimate(makeRequest({ promptTokens: 10 }), order, load);
  assert.equal(estimateAt(legWith(estimates), MOST_ESTIMATED - 1)?.waitingTokens, 1_000 - MOST_ESTIMATED);
  assert.equal(estimateAt(legWith(estimates), MOST_ESTIMATED), undefined);
  assert.deepEqual([...new Set(read)].length, MOST_ESTIMATED);
});

test("the times rank endpoints as the default scorer does, where no prompt waits", () => {
  const endpoints = makeEndpoints(3);
  const load = makeLoad(3, { remainingPrefill: [900, 100, 4_000], inFlight: [2, 5, 0], prefillRate: [8, 2, 40] });
  const request = makeRequest({ promptTokens: 1_000, prefix });
  const scores = createPlugin(outstandingWork).score(request, endpoints, load) as number[];
  const estimates = estimate(request, endpoints, load);
  const times = endpoints.map((_, place) => estimateAt(legWith(estimates), place)!.firstTokenMs);
  const shortest = Math.min(...times);
  for (const [place, ms] of times.entries()) assert.ok(Math.abs(scores[place]! - 256 / (256 + ms - shortest)) < 1e-9);
});
