import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeEndpoint, makeRequest } from "../../../../core/contract/test-kit.ts";
import type { Booked } from "../../../../core/state/booking-listener.ts";
import { LoadTable } from "../../../../core/state/load.ts";
import { SentAdapters, type SentOptions } from "../../../../plugins/features/resident-adapters/sent-adapters.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const NAMES = ["a", "b", "c", "d", "e"] as const;
type Name = (typeof NAMES)[number];
const FIRST_MS = 250;

/** Two replicas that list all adapters; `max`: what their metrics say, 0 for nothing. */
function setUp(max = 2, options: Partial<SentOptions> = {}) {
  const load = new LoadTable();
  const clock = new FakeClock();
  const sent = new SentAdapters(load, clock);
  sent.options = { maxLora: 0, maxCpuLora: 0, ...options };
  load.residents = sent;
  const endpoints = ["x", "y"].map((name) => {
    const slot = load.slotOf(name);
    return makeEndpoint(slot, { name, models: ["base", ...NAMES], generation: load.generationOf(slot) });
  });
  const scrape = (at: number, running: readonly string[] = []) => {
    const use = max === 0 ? undefined : { running: new Set(running), waiting: new Set<string>(), max };
    load.scraped(at, {}, clock.now());
    load.knowAdapters(at, { names: new Set(NAMES), use });
  };
  for (const at of [0, 1]) scrape(at);
  const begin = (at: number, target: string, endpoint = endpoints[at]!): Booked => {
    const booked = { request: makeRequest({ target }), endpoint, tokens: 0, hasFirstByte: true };
    sent.began(booked);
    return booked;
  };
  const ask = async (at: number, ...targets: readonly string[]) => {
    for (const target of targets) {
      await clock.advance(1);
      sent.ended(begin(at, target), true);
    }
  };
  const isHeld = (at: number, name: Name) => sent.waitMs(at, name) === 0;
  const heldAt = (at: number) => NAMES.filter((name) => isHeld(at, name)).join("");
  return { load, clock, sent, endpoints, scrape, begin, ask, isHeld, heldAt };
}

describe("an engine is believed to hold", () => {
  it("the adapters that were used last, as many as fit", async () => {
    const { ask, heldAt } = setUp();
    await ask(0, "a", "b", "a", "c");
    assert.deepEqual([heldAt(0), heldAt(1)], ["ac", ""]);
  });

  it("those with requests under way, whatever came later", async () => {
    const { ask, begin, heldAt, sent } = setUp();
    const open = begin(0, "a");
    await ask(0, "b", "c");
    assert.equal(heldAt(0), "ac");
    sent.ended(open, true);
    await ask(0, "d");
    assert.equal(heldAt(0), "ad", "its end was the last use of a");
  });

  it("none that it refused, or never got", async () => {
    const { begin, heldAt, sent } = setUp();
    sent.ended(begin(0, "a"), false);
    assert.equal(heldAt(0), "");
    const open = begin(0, "b");
    sent.ended(begin(0, "b"), false);
    assert.equal(heldAt(0), "b", "another request for it is under way");
    sent.ended(open, true);
    assert.equal(heldAt(0), "b");
  });

  it("those that its metrics name, until the next load", async () => {
    const { ask, clock, scrape, heldAt } = setUp();
    await clock.advance(10);
    scrape(0, ["d"]);
    assert.equal(heldAt(0), "d");
    await ask(0, "a");
    assert.equal(heldAt(0), "ad");
    await ask(0, "b", "c");
    assert.equal(heldAt(0), "bc", "what the metrics said is older");
  });

  it("nothing after a restart, or in another's slot", async () => {
    const { ask, load, begin, endpoints, heldAt, sent } = setUp();
    await ask(0, "a");
    const late = begin(0, "b");
    load.replaced(0, true);
    load.knowAdapters(0, { names: new Set(NAMES), use: undefined });
    assert.equal(heldAt(0), "");
    sent.ended(late, true);
    begin(0, "c", endpoints[0]);
    assert.equal(heldAt(0), "", "the request went to the old process");
  });

  it("no base model", async () => {
    const { ask, sent, endpoints } = setUp();
    await ask(0, "base", "a", "base", "b", "base");
    assert.deepEqual(sent.heldAt(endpoints[0]!), ["a", "b"]);
  });
});

describe("a load", () => {
  const costs = ({ sent }: ReturnType<typeof setUp>, name: Name) => [0, 1].map((at) => sent.waitMs(at, name));

  it("costs more where another adapter has to give way", async () => {
    const pool = setUp();
    await pool.ask(0, "a", "b");
    await pool.ask(1, "c");
    const [full, free] = costs(pool, "d");
    assert.ok(full! > FIRST_MS && free === FIRST_MS, `${full} ${free}`);
  });

  it("costs more where a popular one has to", async () => {
    const pool = setUp(1);
    await pool.ask(0, "a", "a", "a", "a", "a", "a");
    await pool.ask(1, "b");
    // Which of them gave way last counts too.
    await pool.ask(1, "c");
    const [popular, other] = costs(pool, "d");
    assert.ok(popular! > 1.3 * other!, `${popular} ${other}`);
  });

  it("costs less where a second copy has to", async () => {
    const pool = setUp(1);
    await pool.ask(0, "a");
    await pool.ask(1, "b");
    const [once] = costs(pool, "c");
    const copies = setUp(1);
    await copies.ask(1, "a");
    await copies.ask(0, "a");
    const [twice] = costs(copies, "c");
    assert.ok(twice! < once!, `${twice} ${once}`);
  });

  it("costs most where all that fit are in use", () => {
    const pool = setUp(1);
    pool.begin(0, "a");
    assert.deepEqual(costs(pool, "b"), [2 * FIRST_MS, FIRST_MS]);
  });

  it("costs less from the host's memory", async () => {
    const pool = setUp(1, { maxCpuLora: 2 });
    await pool.ask(0, "a", "b");
    const [fromMemory, fromDisk] = costs(pool, "a");
    assert.ok(fromMemory! < fromDisk! / 2, `${fromMemory} ${fromDisk}`);
    await pool.ask(0, "c");
    assert.ok(costs(pool, "a")[0]! > fromDisk!);
  });

  it("of an adapter that the replica does not list costs nothing here but what gives way", async () => {
    const pool = setUp(1);
    assert.equal(pool.sent.waitMs(0, "elsewhere"), 0);
    await pool.ask(0, "a");
    assert.ok(pool.sent.waitMs(0, "elsewhere") > 0);
  });

  it("where the metrics say nothing, is the likelier the more was sent there since", async () => {
    const pool = setUp(0);
    await pool.ask(0, "a");
    assert.equal(pool.sent.waitMs(0, "a"), 0);
    const seen: number[] = [];
    for (const name of ["b", "c", "d"]) {
      await pool.ask(0, name);
      seen.push(pool.sent.waitMs(0, "a"));
    }
    assert.deepEqual(
      seen,
      seen.toSorted((one, other) => one - other),
    );
    assert.ok(seen[0]! > 0 && seen[0]! < FIRST_MS, `${seen}`);
  });

  it("where the metrics say nothing, fits as others' say, or as the config does", async () => {
    for (const pool of [setUp(0, { maxLora: 2 }), setUp(2)]) {
      await pool.ask(0, "a", "b", "c");
      pool.load.knowAdapters(0, { names: new Set(NAMES), use: undefined });
      assert.equal(pool.heldAt(0), "bc");
    }
  });
});

describe("what a load costs is measured", () => {
  /** The first token of a request for the adapter came so late. */
  const late = ({ sent, begin, clock, load }: ReturnType<typeof setUp>, at: number, target: string, ms: number) => {
    const booked = begin(at, target);
    sent.firstToken(booked, ms + 800 / load.prefillRate(at, clock.now()), 800);
    sent.ended(booked, true);
  };

  it("by first tokens, against those of adapters that were there", () => {
    const pool = setUp(1);
    for (const target of ["a", "a", "a", "b", "b", "b", "a", "a"]) {
      const isLoad = !pool.isHeld(0, target as Name);
      late(pool, 0, target, isLoad ? 1_030 : 30);
    }
    assert.ok(Math.abs(pool.sent.waitMs(1, "c") - 1_000) < 1, `${pool.sent.waitMs(1, "c")}`);
  });

  it("within bounds, and not by what only may have been there", () => {
    const none = setUp(1);
    late(none, 0, "a", 3);
    assert.equal(none.sent.waitMs(1, "b"), 20);
    const endless = setUp(1);
    late(endless, 0, "a", 9e9);
    assert.equal(endless.sent.waitMs(1, "b"), 60_000);
    const unsure = setUp(0);
    late(unsure, 0, "a", 100);
    late(unsure, 0, "b", 100);
    for (let i = 0; i < 9; i++) late(unsure, 0, i % 2 === 0 ? "a" : "b", 5_000);
    assert.equal(unsure.sent.waitMs(1, "c"), 100);
  });
});

it("forgets replicas that have gone", async () => {
  const { ask, sent, endpoints } = setUp();
  await ask(0, "a");
  sent.follow(endpoints.slice(1));
  assert.deepEqual(sent.heldAt(endpoints[0]!), []);
});
