import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { LegRole } from "../../../core/contract/decision.ts";
import type { Usage } from "../../../core/contract/outcome.ts";
import { Booking } from "../../../core/pool/booking.ts";
import { LoadTable } from "../../../core/state/load.ts";
import { DEFAULT_RATE } from "../../../core/state/replica-speeds.ts";
import { UNWATCHED } from "../../../core/state/traffic.ts";
import { makeEndpoint, makeRequest } from "../../support/endpoints.ts";
import { keptTraffic } from "../../support/kept-traffic.ts";
import { outstanding } from "../../support/router.ts";
import { endpointIn, PROMPT, poolOf, setUp, TOKENS, USAGE } from "./booking-set-up.ts";

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
