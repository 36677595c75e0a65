import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeEndpoint, makeLoad, makePrefix, makeRequest } from "../../../../core/contract/test-kit.ts";
import { type DeciderConfig, pairingOf } from "../../../../plugins/features/disaggregation/decider.ts";
import { TransferTimes } from "../../../../plugins/features/disaggregation/transfer-times.ts";

const [prefill, decode] = [makeEndpoint(0, { name: "p" }), makeEndpoint(1, { name: "d" })];

interface Case {
  readonly decider: DeciderConfig;
  readonly promptTokens?: number;
  /** Tokens of the prompt that the answer's endpoint holds, in hundreds. */
  readonly held?: number;
  readonly load?: Parameters<typeof makeLoad>[1];
  readonly generationMs?: number;
  readonly transferMs?: number;
}

function weigh({ decider, promptTokens = 8_000, held = 0, load = {}, generationMs = Number.NaN, transferMs = 0 }: Case) {
  const times = new TransferTimes();
  // Two that have met, so that no handshake counts.
  for (let n = 0; n < 100; n++) times.seen(promptTokens, transferMs, prefill, decode, true);
  const request = makeRequest({ promptTokens, prefix: makePrefix(promptTokens / 100, 100, [0, held]) });
  return pairingOf(decider, { request, prefill, decode, load: makeLoad(2, load), times, generationMs });
}

describe("whether a pair serves a request", () => {
  const rows: readonly (readonly [name: string, given: Case, isPaired: boolean])[] = [
    ["always", { decider: "always", promptTokens: 100 }, true],
    ["never", { decider: "never", promptTokens: 100_000 }, false],
    ["by a threshold: below", { decider: { uncachedTokens: 8_001 } }, false],
    ["by a threshold: at it", { decider: { uncachedTokens: 8_000 } }, true],
    ["by a threshold: what is cached does not count", { decider: { uncachedTokens: 1_000 }, held: 71 }, false],
    ["by cost: nothing differs", { decider: "cost" }, false],
    ["by cost: the prompt's endpoint has a queue", { decider: "cost", load: { remainingPrefill: [10_000, 0] } }, false],
    ["by cost: the answer's endpoint has a queue", { decider: "cost", load: { remainingPrefill: [0, 10_000] } }, true],
    ["by cost: less than the transfer takes", { decider: "cost", load: { remainingPrefill: [0, 800] }, transferMs: 101 }, false],
    ["by cost: more than the transfer takes", { decider: "cost", load: { remainingPrefill: [0, 800] }, transferMs: 99 }, true],
    ["by cost: the prompt's endpoint is faster", { decider: "cost", load: { prefillRate: [16, 8] } }, true],
    [
      "by cost: the prompt would hold up many answers",
      { decider: "cost", load: { inFlight: [0, 30] }, generationMs: 10_000, transferMs: 50 },
      true,
    ],
    [
      "by cost: those that wait for their first token are held up by nothing",
      { decider: "cost", load: { inFlight: [0, 30], waitingPrompts: [0, 30] }, generationMs: 10_000, transferMs: 50 },
      false,
    ],
    ["by cost: nobody knows how long answers take", { decider: "cost", load: { inFlight: [0, 30] }, transferMs: 50 }, false],
    [
      "by cost: the prompt is cached where its answer is generated",
      { decider: "cost", held: 80, load: { inFlight: [0, 9] } },
      false,
    ],
  ];
  for (const [name, given, isPaired] of rows) it(name, () => assert.equal(weigh(given).isPaired, isPaired, weigh(given).why));
});

describe("what was weighed", () => {
  it("is told in numbers and a sentence", () => {
    const pairing = weigh({
      decider: "cost",
      held: 20,
      load: { inFlight: [0, 3], remainingPrefill: [800, 1_600] },
      transferMs: 40,
    });
    assert.deepEqual(
      { ...pairing, why: "" },
      { isPaired: false, why: "", uncachedTokens: 6_000, pairMs: 1_100 + 40 + 24, aloneMs: 200 + 750 + 24, heldUpMs: 3 * 750 },
    );
    assert.match(
      pairing.why,
      /^6,?000 of 8,?000 prompt tokens are not cached at d; first token expected after 1,?164 ms with p, after 974 ms/,
    );
  });

  it("is told, too, where the config alone decides", () => {
    for (const decider of ["always", "never", { uncachedTokens: 5 }] as const) {
      const { aloneMs, pairMs, why } = weigh({ decider });
      assert.deepEqual([aloneMs, pairMs], [1_000, 1_000]);
      assert.notEqual(why, "");
    }
  });
});
