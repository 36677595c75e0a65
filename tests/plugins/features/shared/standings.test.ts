/** What operators of two routers want of a replica, whose clocks may differ. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Intents } from "../../../../core/control/intents.ts";
import type { RouterAccess } from "../../../../core/router-host.ts";
import type { Outbox } from "../../../../plugins/features/shared/outbox.ts";
import { Standings } from "../../../../plugins/features/shared/standings.ts";
import { makeEndpoint } from "../../../support/endpoints.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const ENDPOINT = makeEndpoint(0);
const NAME = ENDPOINT.name;

/** One router, whose clock is so far ahead of the others'. */
class Router {
  readonly said: (readonly unknown[])[] = [];
  readonly intents: Intents;
  readonly standings: Standings;
  readonly wall: () => number;

  constructor(clock: FakeClock, aheadMs = 0) {
    this.wall = () => clock.wall() + aheadMs;
    const own = { now: () => clock.now(), wall: this.wall };
    const timers = { after: clock.after.bind(clock), every: clock.every.bind(clock) };
    // As the pool tells the log of each change.
    this.intents = new Intents({ ...own, ...timers }, () => void this.standings.look([ENDPOINT]));
    const judge = { standingOf: () => ({ ejection: undefined }) };
    const access = { control: () => ({ intents: this.intents, judge }) } as unknown as Pick<RouterAccess, "control">;
    const outbox = { replica: () => 0, add: (...fact: unknown[]) => void this.said.push(fact) } as unknown as Outbox;
    this.standings = new Standings(access, own, outbox);
  }

  wants(intent: "cordon" | "drain", forMs?: number): void {
    this.intents.set(NAME, { intent, reason: "", by: "test", forMs, graceMs: 0 });
  }

  get intent(): string {
    return this.intents.of(NAME)?.intent ?? "serve";
  }
}

/** Two routers that have heard of each other; `aheadMs`: of the second one's clock. */
function setUp(aheadMs = 0) {
  const clock = new FakeClock();
  const [a, b] = [new Router(clock), new Router(clock, aheadMs)] as const;
  const told = new Map<Router, number>([
    [a, 0],
    [b, 0],
  ]);
  /** Each says what is new there, and hears the other, until nobody has anything to say. */
  const exchange = () => {
    for (let isNews = true; isNews; ) {
      isNews = false;
      for (const [from, to] of [
        [a, b],
        [b, a],
      ] as const) {
        from.standings.look([ENDPOINT]);
        for (const [, , ...fields] of from.said.slice(told.get(from))) {
          to.standings.heardIntent(ENDPOINT, fields, to.wall() - from.wall());
          isNews = true;
        }
        told.set(from, from.said.length);
      }
    }
  };
  /** Time passes, and what is news is said each half second. */
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 500) {
      await clock.advance(500);
      exchange();
    }
  };
  return { a, b, exchange, pass, intents: () => [a.intent, b.intent] };
}

for (const aheadMs of [0, 50_000, -50_000]) {
  describe(`an operator's word, where the other router's clock is ${aheadMs / 1_000} s ahead`, () => {
    it("is everybody's at once, and ends everywhere with its time", async () => {
      const { a, exchange, pass, intents } = setUp(aheadMs);
      a.wants("drain", 30_000);
      exchange();
      assert.deepEqual(intents(), ["drain", "drain"]);
      await pass(29_000);
      assert.deepEqual(intents(), ["drain", "drain"]);
      await pass(1_500);
      assert.deepEqual(intents(), ["serve", "serve"]);
      assert.equal(a.said.length, 1, "the end of its time is no news");
    });

    it("is prolonged, by whomever", async () => {
      const { a, b, exchange, pass, intents } = setUp(aheadMs);
      a.wants("cordon", 6_000);
      exchange();
      await pass(3_000);
      b.wants("cordon", 3_600_000);
      await pass(7_000);
      assert.deepEqual(intents(), ["cordon", "cordon"]);
      a.wants("cordon");
      await pass(3_700_000);
      assert.deepEqual(intents(), ["cordon", "cordon"]);
    });

    it("is made shorter", async () => {
      const { a, b, exchange, pass, intents } = setUp(aheadMs);
      a.wants("cordon");
      exchange();
      b.wants("cordon", 5_000);
      await pass(6_000);
      assert.deepEqual(intents(), ["serve", "serve"]);
    });

    it("is taken back by the other router's operator", async () => {
      const { a, b, exchange, pass, intents } = setUp(aheadMs);
      a.wants("drain", 60_000);
      exchange();
      await pass(1_000);
      b.intents.clear(NAME, "test");
      exchange();
      assert.deepEqual(intents(), ["serve", "serve"]);
    });

    it("reaches a router by a third one's summary too, with the time that is left", async () => {
      const { a, b, exchange, pass, intents } = setUp(aheadMs);
      a.wants("drain", 30_000);
      exchange();
      await pass(10_000);
      b.standings.sayIntents();
      exchange();
      assert.deepEqual(intents(), ["drain", "drain"]);
      await pass(20_500);
      assert.deepEqual(intents(), ["serve", "serve"]);
    });
  });
}
