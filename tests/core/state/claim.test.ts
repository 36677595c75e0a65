import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { Usage } from "../../../core/contract/outcome.ts";
import { Claim } from "../../../core/state/claim.ts";
import { LoadTable } from "../../../core/state/load.ts";
import { PrefixIndex } from "../../../core/state/prefix-index.ts";
import { DEFAULT_RATE } from "../../../core/state/replica-speeds.ts";
import { makeEndpoint, makePrefix, makeRequest } from "../../support/endpoints.ts";
import { outstanding } from "../../support/router.ts";

const PROMPT = new TextEncoder().encode("once upon a time there was a router, ".repeat(200));
const TOKENS = PROMPT.length / 4;
const USAGE: Usage = { promptTokens: TOKENS, outputTokens: 50, cachedTokens: 0 };

/** The endpoint that has the slot now. */
const endpointIn = (load: LoadTable, slot: number) => makeEndpoint(slot, { name: "a", generation: load.generationOf(slot) });

/** One endpoint whose cache is believed to hold the first half of the prompt. */
function setUp() {
  const load = new LoadTable();
  const index = new PrefixIndex({ blockBytes: 64, maxBytes: 2 ** 20, countGenerated: true, secret: [1, 2, 3, 4, 5, 6] });
  const slot = load.slotOf("a");
  const current = (): Endpoint => endpointIn(load, slot);
  const prefixOf = (bytes: number) =>
    index.match({ api: "chat", target: "base", cacheSalt: "" }, PROMPT, [[0, bytes]], Math.round(bytes / 4));
  const requestOf = (bytes: number) =>
    makeRequest({ isStream: true, promptTokens: Math.round(bytes / 4), prefix: prefixOf(bytes) });
  const claim = (bytes: number, endpoint = current()) => new Claim(requestOf(bytes), endpoint, load, index, 0);
  /** All that is believed of the slot. */
  const believed = () => {
    const prefix = prefixOf(PROMPT.length);
    return [prefix.matchedBlocks(slot), prefix.matchedTokens(slot), index.stats().slots[0]?.tokens];
  };
  claim(PROMPT.length / 2).release(0);
  return { load, index, slot, current, claim, believed };
}

describe("what is claimed of an endpoint", () => {
  const rows: readonly (readonly [name: string, promptTokens: number, matched: number, uncached: number])[] = [
    ["a prompt that nobody holds", 1_000, 0, 1_000],
    ["a prompt that it holds a part of", 1_000, 4, 600],
    ["a prompt that it holds", 1_000, 10, 0],
    ["a match that is longer than the estimate", 900, 10, 0],
    ["a part of a token", 1_000.4, 0, 1_000],
    ["no prompt", 0, 0, 0],
  ];
  for (const [name, promptTokens, matched, uncached] of rows) {
    it(`${name}: ${uncached} tokens of work`, () => {
      const load = new LoadTable();
      const request = makeRequest({ promptTokens, prefix: makePrefix(10, 100, [0, 0, matched]) });
      const claim = new Claim(request, makeEndpoint(2), load, undefined, 0);
      assert.equal(claim.predictedTokens, matched * 100);
      assert.deepEqual(outstanding({ load }), { inFlight: 1, prefillTokens: uncached });
      assert.equal(load.inFlight[2], 1);
    });
  }

  test("the next request finds its prompt there at once, before there is any response", () => {
    const { claim } = setUp();
    claim(PROMPT.length);
    const again = claim(PROMPT.length);
    assert.ok(again.predictedTokens > 0.9 * TOKENS, `${again.predictedTokens}`);
  });
});

describe("a prompt with parts that are not text", () => {
  const part = { kind: "file", span: [0, 20], isInline: false, tokens: 16_384 } as const;
  const claimParts = ({ load, index, current }: ReturnType<typeof setUp>) => {
    const prefix = index.match({ api: "chat", target: "base", cacheSalt: "" }, PROMPT, [[0, PROMPT.length]], TOKENS);
    const request = makeRequest({ isStream: true, promptTokens: TOKENS, prefix, promptParts: [part] });
    return new Claim(request, current(), load, index, 0);
  };

  it("is believed cached from the first byte of its response on", () => {
    const setup = setUp();
    const before = setup.believed();
    const claim = claimParts(setup);
    assert.deepEqual(setup.believed(), before);
    claim.firstByte(0);
    assert.notDeepEqual(setup.believed(), before);
  });

  it("evicts nothing if the replica refuses it, also if bytes follow", () => {
    const setup = setUp();
    const before = setup.believed();
    const claim = claimParts(setup);
    claim.withdraw();
    claim.firstByte(0);
    claim.release(0);
    assert.deepEqual(setup.believed(), before);
  });

  it("teaches no speed, because its tokens are guessed", () => {
    let nowMs = 0;
    const load = new LoadTable();
    const slot = load.slotOf("a");
    for (let i = 0; i < 200; i++) {
      const request = makeRequest({ isStream: true, promptTokens: 16_384, promptParts: [part] });
      const claim = new Claim(request, endpointIn(load, slot), load, undefined, nowMs);
      nowMs += 1;
      claim.firstByte(nowMs);
      claim.release(nowMs);
    }
    assert.ok(load.prefillRate(slot, nowMs) < 100, `${load.prefillRate(slot, nowMs)} tokens/ms`);
  });
});

describe("the speed of a replica", () => {
  const PROMPT_TOKENS = 16_000;
  /** The speed after some prompts; each claim is ended by `end`, which is handed a way to let time pass that returns the time. */
  function rateAfter(end: (claim: Claim, pass: (ms: number) => number) => void): number {
    let nowMs = 0;
    const load = new LoadTable();
    const slot = load.slotOf("a");
    for (let i = 0; i < 20; i++) {
      const request = makeRequest({ isStream: true, promptTokens: PROMPT_TOKENS });
      const claim = new Claim(request, endpointIn(load, slot), load, undefined, nowMs);
      end(claim, (ms) => {
        nowMs += ms;
        return nowMs;
      });
      claim.release(nowMs);
    }
    return load.prefillRate(slot, nowMs);
  }
  const usage = (cachedTokens: number): Usage => ({ promptTokens: PROMPT_TOKENS, outputTokens: 1, cachedTokens });
  const rows: readonly (readonly [name: string, end: Parameters<typeof rateAfter>[0], rate: number])[] = [
    [
      "is measured at the first byte",
      (claim, pass) => {
        claim.firstByte(pass(1_000));
        pass(60_000);
      },
      16,
    ],
    [
      "is measured with the tokens that the replica reports, where it reports them",
      (claim, pass) => {
        claim.firstByte(pass(1_000));
        claim.report(usage(PROMPT_TOKENS / 2));
      },
      8,
    ],
    [
      "is not measured by errors: a replica that fails fast is no fast one",
      (claim, pass) => {
        claim.withdraw();
        claim.firstByte(pass(1));
      },
      DEFAULT_RATE,
    ],
    [
      "is not measured by errors that come after computing, which leave no time for the next prompt",
      (claim, pass) => {
        claim.withdraw();
        claim.firstByte(pass(1_000));
        pass(10);
      },
      DEFAULT_RATE,
    ],
    ["is not measured by requests that end before the first byte", (_claim, pass) => pass(1), DEFAULT_RATE],
  ];
  for (const [name, end, rate] of rows) {
    it(name, () => {
      const measured = rateAfter(end);
      assert.ok(Math.abs(measured / rate - 1) < 0.01, `${measured}`);
    });
  }

  it("is known at the first byte: those that still generate count too", () => {
    let nowMs = 0;
    const load = new LoadTable();
    const slot = load.slotOf("a");
    const claim = new Claim(
      makeRequest({ isStream: true, promptTokens: PROMPT_TOKENS }),
      makeEndpoint(slot),
      load,
      undefined,
      nowMs,
    );
    nowMs += 500;
    claim.firstByte(nowMs);
    assert.equal(load.prefillRate(slot, nowMs), PROMPT_TOKENS / 500);
  });
});

/** What may still be told of a try, however late. */
const words: Readonly<Record<string, (claim: Claim) => void>> = {
  withdraw: (claim) => claim.withdraw(),
  report: (claim) => claim.report(USAGE),
  generated: (claim) => claim.generated(50),
};

describe("a claim that is told late", () => {
  for (const [word, tell] of Object.entries(words)) {
    it(`${word}: changes what is believed of the replica that it was sent to`, () => {
      const { claim, believed } = setUp();
      const one = claim(PROMPT.length);
      one.release(0);
      const before = believed();
      tell(one);
      assert.notDeepEqual(believed(), before);
    });

    for (const [fate, isSameReplica] of [
      ["was restarted", true],
      ["has another address", false],
    ] as const) {
      it(`${word}: nothing once the replica ${fate}`, () => {
        const { load, index, slot, claim, believed } = setUp();
        const one = claim(PROMPT.length);
        load.replaced(slot, isSameReplica);
        index.forget(slot);
        const successor = claim(PROMPT.length);
        assert.equal(successor.predictedTokens, 0);
        const before = believed();
        tell(one);
        assert.deepEqual(believed(), before);
        one.release(0);
        successor.release(0);
        assert.deepEqual(outstanding({ load }), { inFlight: 0, prefillTokens: 0 });
      });
    }

    it(`${word}: nothing once another name has the slot`, () => {
      const { load, index, slot, current, claim, believed } = setUp();
      const one = claim(PROMPT.length);
      load.retire("a");
      one.release(0);
      assert.equal(load.slotOf("b"), slot);
      index.forget(slot);
      claim(PROMPT.length, current());
      const before = believed();
      tell(one);
      assert.deepEqual(believed(), before);
    });
  }
});

describe("a claim that is given up", () => {
  it("leaves its prompt in the cache where the replica had begun with it, else not", () => {
    const { claim, believed } = setUp();
    const before = believed();
    const first = claim(PROMPT.length);
    const withFirst = believed();
    const second = claim(PROMPT.length);
    second.abandoned(1);
    second.release(1);
    assert.deepEqual(believed(), withFirst, "it waited behind the first");
    first.abandoned(1);
    first.release(1);
    assert.deepEqual(believed(), withFirst, "it was being computed");
    assert.notDeepEqual(withFirst, before);
  });

  it("takes back what it added while it waited", () => {
    const { claim, believed } = setUp();
    const ahead = claim(64);
    const before = believed();
    const waiting = claim(PROMPT.length);
    waiting.abandoned(1);
    assert.deepEqual(believed(), before);
    ahead.release(1);
  });
});

describe("a claim that is withdrawn", () => {
  it("takes back what it added, and nothing that was there before", () => {
    const { claim, believed } = setUp();
    const before = believed();
    const one = claim(PROMPT.length);
    assert.notDeepEqual(believed(), before);
    one.withdraw();
    assert.deepEqual(believed(), before);
  });

  it("twice counts once: what a later request brought there stays", () => {
    const { claim, believed } = setUp();
    const one = claim(PROMPT.length);
    one.withdraw();
    claim(PROMPT.length);
    const before = believed();
    one.withdraw();
    assert.deepEqual(believed(), before);
  });

  it("is still counted until it is released", () => {
    const { load, claim } = setUp();
    const one = claim(PROMPT.length);
    const before = outstanding({ load });
    one.withdraw();
    assert.deepEqual(outstanding({ load }), before);
  });
});

test("a report without generated tokens takes no room for any", () => {
  const { index, claim } = setUp();
  const tokens = () => index.stats().slots[0]?.tokens;
  for (const outputTokens of [0, Number.NaN]) {
    const one = claim(PROMPT.length);
    const before = tokens();
    one.report({ ...USAGE, outputTokens });
    assert.equal(tokens(), before);
  }
});
