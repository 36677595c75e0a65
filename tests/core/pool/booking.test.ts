import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import fc from "fast-check";
import type { LegRole } from "../../../core/contract/decision.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { AttemptFailure, Usage } from "../../../core/contract/outcome.ts";
import { Booking } from "../../../core/pool/booking.ts";
import type { Pool } from "../../../core/pool/pool.ts";
import { LoadTable } from "../../../core/state/load.ts";
import { PrefixIndex } from "../../../core/state/prefix-index.ts";
import { DEFAULT_RATE } from "../../../core/state/replica-speeds.ts";
import { TokenScale } from "../../../core/state/token-scale.ts";
import { UNWATCHED } from "../../../core/state/traffic.ts";
import { makeEndpoint, makePrefix, makeRequest } from "../../support/endpoints.ts";
import { keptTraffic } from "../../support/kept-traffic.ts";
import { outstanding } from "../../support/router.ts";

const PROMPT = new TextEncoder().encode("once upon a time there was a router, ".repeat(200));
const TOKENS = PROMPT.length / 4;
const USAGE: Usage = { promptTokens: TOKENS, outputTokens: 50, cachedTokens: 0 };

/** The endpoint that has the slot now. */
const endpointIn = (load: LoadTable, slot: number) => makeEndpoint(slot, { name: "a", generation: load.generationOf(slot) });

/** What of a pool a booking takes from, and teaches. */
const poolOf = (load: LoadTable, prefixIndex?: PrefixIndex) => ({ load, prefixIndex, tokenScale: new TokenScale() }) as Pool;

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
  const pool = poolOf(load, index);
  const book = (bytes: number, endpoint = current(), traffic = UNWATCHED) =>
    new Booking(requestOf(bytes), endpoint, pool, traffic, 0);
  /** All that is believed of the slot. */
  const believed = () => {
    const prefix = prefixOf(PROMPT.length);
    return [prefix.matchedBlocks(slot), prefix.matchedTokens(slot), index.stats().slots[0]?.tokens];
  };
  book(PROMPT.length / 2).settled(200, undefined, 0);
  return { load, index, pool, slot, current, book, believed };
}

describe("what is booked at an endpoint", () => {
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
      const booking = new Booking(request, makeEndpoint(2), poolOf(load), UNWATCHED, 0);
      assert.equal(booking.predictedTokens, matched * 100);
      assert.deepEqual(outstanding({ pool: { load } }), { inFlight: 1, prefillTokens: uncached });
      assert.equal(load.inFlight[2], 1);
    });
  }

  test("the next request finds its prompt there at once, before there is any response", () => {
    const { book } = setUp();
    book(PROMPT.length);
    const again = book(PROMPT.length);
    assert.ok(again.predictedTokens > 0.9 * TOKENS, `${again.predictedTokens}`);
  });
});

describe("a part of a request", () => {
  const CACHED: Usage = { promptTokens: TOKENS, outputTokens: 50, cachedTokens: 64 };
  const begin = (role: LegRole | undefined, isStream = true) => {
    const setup = setUp();
    const { pool, index, load, slot, current } = setup;
    const prefix = index.match({ api: "chat", target: "base", cacheSalt: "" }, PROMPT, [[0, PROMPT.length]], TOKENS);
    const request = makeRequest({ isStream, promptTokens: TOKENS, prefix });
    const { traffic, told } = keptTraffic();
    const booking = new Booking(request, current(), pool, traffic, 0, role);
    return { ...setup, booking, told, uncached: TOKENS - prefix.matchedTokens(slot), speed: () => load.speedOf(slot) };
  };

  it("the answer's endpoint has no prompt to process, and a request that generates", () => {
    const { booking, load } = begin("decode");
    assert.deepEqual(outstanding({ pool: { load } }), { inFlight: 1, prefillTokens: 0 });
    booking.firstToken(90);
    booking.settled(200, USAGE, 100);
    assert.deepEqual(outstanding({ pool: { load } }), { inFlight: 0, prefillTokens: 0 });
  });

  it("the prompt's endpoint has all that is not cached there, also of a request whose response comes whole", () => {
    for (const isStream of [true, false]) {
      const { booking, load, uncached } = begin("prefill", isStream);
      assert.deepEqual(outstanding({ pool: { load } }), { inFlight: 1, prefillTokens: Math.round(uncached) });
      assert.equal(booking.hasFirstByte, true);
      booking.firstToken(90);
      assert.deepEqual(outstanding({ pool: { load } }), { inFlight: 1, prefillTokens: 0 });
      booking.settled(200, USAGE, 100);
      assert.deepEqual(outstanding({ pool: { load } }), { inFlight: 0, prefillTokens: 0 });
    }
  });

  it("the answer's endpoint holds the prompt afterwards, whatever it says of cached tokens", () => {
    const { booking, believed, speed, slot, load } = begin("decode");
    booking.responded(200);
    booking.firstToken(5_000);
    booking.settled(200, { ...CACHED, cachedTokens: 0 }, 6_000);
    assert.ok(believed()[1]! > 0.9 * TOKENS, `${believed()}`);
    assert.equal(speed().isReported, false);
    assert.equal(load.prefillRate(slot, 6_000), DEFAULT_RATE);
  });

  it("the prompt's endpoint teaches what it had cached, and its speed", () => {
    const { booking, speed } = begin("prefill");
    booking.responded(200);
    booking.firstToken(100);
    booking.settled(200, CACHED, 100);
    assert.equal(speed().isReported, true);
  });

  it("neither teaches how long first tokens take", () => {
    for (const role of ["prefill", "decode"] as const) {
      const { booking, told } = begin(role);
      booking.responded(200);
      booking.firstToken(100);
      booking.settled(200, USAGE, 200);
      assert.ok(!told.some((each) => each === "firstToken"), told.join());
    }
  });

  it("that was refused, or given up before it began, leaves no prompt in the cache", () => {
    for (const role of ["prefill", "decode"] as const) {
      const { booking, believed } = begin(role);
      booking.responded(500);
      booking.settled("aborted", undefined, 10);
      assert.ok(believed()[1]! <= TOKENS / 2 + 64, `${role} ${believed()}`);
    }
  });
});

describe("a malformed response", () => {
  it("takes the prompt out again, teaches no speed, and speaks against the endpoint", () => {
    const { load, current, believed, book } = setUp();
    const before = believed();
    const { traffic, told } = keptTraffic();
    for (let n = 1; n <= 20; n++) book(PROMPT.length, current(), traffic).settled("malformed", undefined, n, "no end");
    assert.deepEqual(believed(), before);
    assert.equal(load.prefillRate(0, 20), DEFAULT_RATE);
    assert.deepEqual([...new Set(told)], ["malformed"]);
  });
});

describe("a prompt with parts that are not text", () => {
  const part = { kind: "file", span: [0, 20], isInline: false, tokens: 16_384 } as const;
  const bookParts = ({ index, pool, current }: ReturnType<typeof setUp>) => {
    const prefix = index.match({ api: "chat", target: "base", cacheSalt: "" }, PROMPT, [[0, PROMPT.length]], TOKENS);
    const request = makeRequest({ isStream: true, promptTokens: TOKENS, prefix, promptParts: [part] });
    return new Booking(request, current(), pool, UNWATCHED, 0);
  };

  it("is believed cached from the first byte of its response on", () => {
    const setup = setUp();
    const before = setup.believed();
    const booking = bookParts(setup);
    assert.deepEqual(setup.believed(), before);
    booking.firstToken(0);
    assert.notDeepEqual(setup.believed(), before);
  });

  it("evicts nothing if the replica refuses it, also if bytes follow", () => {
    const setup = setUp();
    const before = setup.believed();
    const booking = bookParts(setup);
    booking.responded(400);
    booking.firstToken(0);
    booking.settled(400, undefined, 0);
    assert.deepEqual(setup.believed(), before);
  });

  it("teaches no speed, because its tokens are guessed", () => {
    let nowMs = 0;
    const load = new LoadTable();
    const slot = load.slotOf("a");
    for (let i = 0; i < 200; i++) {
      const request = makeRequest({ isStream: true, promptTokens: 16_384, promptParts: [part] });
      const booking = new Booking(request, endpointIn(load, slot), poolOf(load), UNWATCHED, nowMs);
      nowMs += 1;
      booking.firstToken(nowMs);
      booking.settled(200, undefined, nowMs);
    }
    assert.ok(load.prefillRate(slot, nowMs) < 100, `${load.prefillRate(slot, nowMs)} tokens/ms`);
  });
});

describe("the speed of a replica", () => {
  const PROMPT_TOKENS = 16_000;
  /** The speed after some prompts; each booking is ended by `end`, which is handed a way to let time pass that returns the time. */
  function rateAfter(end: (booking: Booking, pass: (ms: number) => number) => void): number {
    let nowMs = 0;
    const load = new LoadTable();
    const slot = load.slotOf("a");
    for (let i = 0; i < 20; i++) {
      const request = makeRequest({ isStream: true, promptTokens: PROMPT_TOKENS });
      const booking = new Booking(request, endpointIn(load, slot), poolOf(load), UNWATCHED, nowMs);
      end(booking, (ms) => {
        nowMs += ms;
        return nowMs;
      });
      booking.settled("aborted", undefined, nowMs);
    }
    return load.prefillRate(slot, nowMs);
  }
  const usage = (cachedTokens: number): Usage => ({ promptTokens: PROMPT_TOKENS, outputTokens: 1, cachedTokens });
  const rows: readonly (readonly [name: string, end: Parameters<typeof rateAfter>[0], rate: number])[] = [
    [
      "is measured at the first byte",
      (booking, pass) => {
        booking.firstToken(pass(1_000));
        pass(60_000);
      },
      16,
    ],
    [
      "is measured with the tokens that the replica reports, where it reports them",
      (booking, pass) => {
        const nowMs = pass(1_000);
        booking.firstToken(nowMs);
        booking.settled(200, usage(PROMPT_TOKENS / 2), nowMs);
      },
      8,
    ],
    [
      "is not measured by errors: a replica that fails fast is no fast one",
      (booking, pass) => {
        booking.responded(500);
        booking.firstToken(pass(1));
      },
      DEFAULT_RATE,
    ],
    [
      "is not measured by errors that come after computing, which leave no time for the next prompt",
      (booking, pass) => {
        booking.responded(500);
        booking.firstToken(pass(1_000));
        pass(10);
      },
      DEFAULT_RATE,
    ],
    ["is not measured by requests that end before the first byte", (_booking, pass) => pass(1), DEFAULT_RATE],
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
    const request = makeRequest({ isStream: true, promptTokens: PROMPT_TOKENS });
    const booking = new Booking(request, makeEndpoint(slot), poolOf(load), UNWATCHED, nowMs);
    nowMs += 500;
    booking.firstToken(nowMs);
    assert.equal(load.prefillRate(slot, nowMs), PROMPT_TOKENS / 500);
  });
});

describe("every way out gives back the whole booking, once", () => {
  const ways: readonly (readonly [
    name: string,
    before: (booking: Booking) => void,
    result: number | AttemptFailure,
    isCached: boolean,
    told: readonly string[],
  ])[] = [
    ["a whole response", (booking) => booking.responded(200), 200, true, ["responded"]],
    [
      "a stream that came to its end",
      (booking) => {
        booking.responded(200);
        booking.firstToken(5);
        booking.firstToken(6);
      },
      200,
      true,
      ["firstToken", "responded"],
    ],
    ["an error", (booking) => booking.responded(500), 500, false, ["responded"]],
    ["no connection", () => {}, "connect-failed", false, ["failed"]],
    ["a break before the head", () => {}, "reset", false, ["failed"]],
    ["a break behind the head", (booking) => booking.responded(200), "reset", true, ["failed"]],
    ["given up while its prompt is processed", () => {}, "aborted", true, ["abandoned"]],
    [
      "given up while its client takes nothing",
      (booking) => {
        booking.responded(200);
        booking.held();
        booking.held();
      },
      "aborted",
      true,
      ["held", "released", "abandoned"],
    ],
    [
      "given up after its client took something again",
      (booking) => {
        booking.held();
        booking.released(5);
        booking.released(6);
      },
      "aborted",
      true,
      ["held", "released", "abandoned"],
    ],
  ];
  for (const [name, before, result, isCached, words] of ways) {
    it(`${name}: the prompt is ${isCached ? "still" : "no longer"} believed to be cached`, () => {
      const { load, book, current, believed } = setUp();
      const without = believed();
      const { told, traffic } = keptTraffic();
      const booking = book(PROMPT.length, current(), traffic);
      booking.sent();
      before(booking);
      for (let times = 0; times < 2; times++) {
        booking.settled(result, undefined, 10);
        booking.firstToken(11);
        booking.held();
        assert.deepEqual(outstanding({ pool: { load } }), { inFlight: 0, prefillTokens: 0 });
        assert.deepEqual(told, ["sent", ...words]);
      }
      if (isCached) assert.notDeepEqual(believed(), without);
      else assert.deepEqual(believed(), without);
    });
  }

  test("in any order, all counters return to zero, and none is ever below zero", () => {
    const step = fc.record({
      booking: fc.nat(20),
      slot: fc.nat(3),
      tokens: fc.nat(200_000),
      isFirstToken: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const load = new LoadTable();
        const bookings = new Map<number, Booking>();
        for (const { booking, slot, tokens, isFirstToken } of steps) {
          const request = makeRequest({ isStream: true, promptTokens: tokens });
          const known = bookings.get(booking);
          if (known === undefined) bookings.set(booking, new Booking(request, makeEndpoint(slot), poolOf(load), UNWATCHED, 0));
          else if (isFirstToken) known.firstToken(0);
          else known.settled("aborted", undefined, 0);
          assert.ok([0, 1, 2, 3].every((each) => load.inFlight[each]! >= 0 && load.prefillTokens[each]! >= 0));
        }
        for (const booking of bookings.values()) booking.settled(200, undefined, 0);
        assert.deepEqual(outstanding({ pool: { load } }), { inFlight: 0, prefillTokens: 0 });
      }),
    );
  });
});

/** What may be told of a try, however late. */
const words: Readonly<Record<string, (booking: Booking) => void>> = {
  "an error": (booking) => booking.responded(500),
  "a report": (booking) => booking.settled(200, USAGE, 0),
};

describe("a booking that is told late", () => {
  for (const [word, tell] of Object.entries(words)) {
    it(`${word}: changes what is believed of the replica that it was sent to`, () => {
      const { book, believed } = setUp();
      const one = book(PROMPT.length);
      const before = believed();
      tell(one);
      assert.notDeepEqual(believed(), before);
    });

    for (const [fate, isSameReplica] of [
      ["was restarted", true],
      ["has another address", false],
    ] as const) {
      it(`${word}: nothing once the replica ${fate}`, () => {
        const { load, index, slot, book, believed } = setUp();
        const one = book(PROMPT.length);
        load.replaced(slot, isSameReplica);
        index.forget(slot);
        const successor = book(PROMPT.length);
        assert.equal(successor.predictedTokens, 0);
        const before = believed();
        tell(one);
        assert.deepEqual(believed(), before);
        for (const booking of [one, successor]) booking.settled("aborted", undefined, 0);
        assert.deepEqual(outstanding({ pool: { load } }), { inFlight: 0, prefillTokens: 0 });
      });
    }
  }
});

describe("a booking that is given up", () => {
  it("while it waits behind others takes back what it added, and nothing that was there before", () => {
    const { book, believed } = setUp();
    const ahead = book(64);
    const before = believed();
    const waiting = book(PROMPT.length);
    assert.notDeepEqual(believed(), before);
    waiting.settled("aborted", undefined, 1);
    assert.deepEqual(believed(), before);
    ahead.settled("aborted", undefined, 1);
    assert.deepEqual(believed(), before, "the first was being processed");
  });
});

describe("an error", () => {
  it("twice counts once: what a later request brought there stays", () => {
    const { book, believed } = setUp();
    const one = book(PROMPT.length);
    one.responded(500);
    book(PROMPT.length);
    const before = believed();
    one.responded(500);
    assert.deepEqual(believed(), before);
  });

  it("leaves the booking's load counted until it is settled", () => {
    const { load, book } = setUp();
    const one = book(PROMPT.length);
    const before = outstanding({ pool: { load } });
    one.responded(500);
    assert.deepEqual(outstanding({ pool: { load } }), before);
  });
});

test("a report without generated tokens takes no room for any", () => {
  const { index, book } = setUp();
  const tokens = () => index.stats().slots[0]?.tokens;
  for (const outputTokens of [0, Number.NaN]) {
    const one = book(PROMPT.length);
    const before = tokens();
    one.settled(200, { ...USAGE, outputTokens }, 0);
    assert.equal(tokens(), before);
  }
});
