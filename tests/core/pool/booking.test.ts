import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import fc from "fast-check";
import type { AttemptFailure } from "../../../core/contract/outcome.ts";
import { Booking } from "../../../core/pool/booking.ts";
import { LoadTable } from "../../../core/state/load.ts";
import { DEFAULT_RATE } from "../../../core/state/replica-speeds.ts";
import { UNWATCHED } from "../../../core/state/traffic.ts";
import { makeEndpoint, makePrefix, makeRequest } from "../../support/endpoints.ts";
import { keptTraffic } from "../../support/kept-traffic.ts";
import { outstanding } from "../../support/router.ts";
import { PROMPT, poolOf, setUp, TOKENS, USAGE } from "./booking-set-up.ts";

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
