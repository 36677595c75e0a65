import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import fc from "fast-check";
import type { SharedFacts } from "../../../../core/contract/slots/shared.ts";
import { seededRandom } from "../../../../core/contract/test-kit.ts";
import type { Booking } from "../../../../core/pool/booking.ts";
import type { NamedFeature } from "../../../../core/slots.ts";
import { chainText } from "../../../../plugins/features/shared/chain-text.ts";
import type { Fact } from "../../../../plugins/features/shared/message.ts";
import { REPLICAS, TestRouters } from "./routers.ts";

const SECOND_MS = 1_000;
const NOTHING = { inFlight: 0, prefillTokens: 0 };

describe("what one router books", () => {
  it("is in the other's table from its begin to its end", async () => {
    const { all, clock } = new TestRouters();
    const [one, two] = all as [(typeof all)[0], (typeof all)[0]];
    await clock.advance(SECOND_MS);
    const booking = one.book(1);
    await clock.advance(60);
    assert.deepEqual(two.outstanding(), { inFlight: 1, prefillTokens: 500 });
    assert.equal(two.load.inFlight[1], 1);
    booking.firstToken(clock.now());
    await clock.advance(60);
    assert.deepEqual(two.outstanding(), { inFlight: 1, prefillTokens: 0 });
    booking.settled(200, undefined, clock.now());
    await clock.advance(60);
    assert.deepEqual([one.outstanding(), two.outstanding()], [NOTHING, NOTHING]);
  });

  it("goes within five seconds with a router that dies", async () => {
    const { all, clock } = new TestRouters();
    await clock.advance(SECOND_MS);
    for (let n = 0; n < 5; n++) all[0]!.book(n % REPLICAS);
    await clock.advance(60);
    assert.equal(all[1]!.outstanding().inFlight, 5);
    all[0]!.die();
    await clock.advance(5 * SECOND_MS);
    assert.deepEqual(all[1]!.outstanding(), NOTHING);
    assert.deepEqual(all[1]!.log.view?.routers, []);
  });

  it("goes at once with a router that stops, and comes to one that joins", async () => {
    const routers = new TestRouters();
    const { all, clock } = routers;
    await clock.advance(SECOND_MS);
    all[0]!.book(0);
    const third = routers.add();
    await clock.advance(1.2 * SECOND_MS);
    assert.equal(third.outstanding().inFlight, 1);
    all[0]!.log.close();
    await clock.advance(5);
    assert.deepEqual([all[1]!.outstanding(), third.outstanding()], [NOTHING, NOTHING]);
  });

  it("is the same everywhere a second later, however many messages are lost", async () => {
    const { all, clock } = new TestRouters(0.3, 4);
    const random = seededRandom(5);
    const open: Booking[] = [];
    await clock.advance(SECOND_MS);
    for (let step = 0; step < 2_000; step++) {
      const [router, what] = [all[Math.floor(random() * all.length)]!, random()];
      if (what < 0.45) open.push(router.book(Math.floor(random() * REPLICAS), 64 + Math.floor(random() * 4_000), `${step % 9}`));
      else if (what < 0.7) open[Math.floor(random() * open.length)]?.firstToken(clock.now());
      else
        for (const booking of open.splice(Math.floor(random() * open.length), 1))
          booking.settled(random() < 0.2 ? "reset" : 200, undefined, clock.now());
      await clock.advance(random() * 20);
    }
    // Of a summary too, a third is lost; so many in a row are not.
    await clock.advance(3.5 * SECOND_MS);
    const tables = all.map(({ load }) => [...load.inFlight.subarray(0, REPLICAS), ...load.prefillTokens.subarray(0, REPLICAS)]);
    for (const table of tables) assert.deepEqual(table, tables[0]);
    assert.equal(all[0]!.outstanding().inFlight, open.length);
    for (const booking of open) booking.settled(200, undefined, clock.now());
    await clock.advance(3.5 * SECOND_MS);
    for (const router of all) assert.deepEqual(router.outstanding(), NOTHING);
  });
});

it("takes no router for gone because this process stood still", async () => {
  const gone: string[] = [];
  const shared: SharedFacts = {
    listen: () => {},
    say: () => [],
    repeat: () => {},
    hear: () => {},
    gone: (router) => void gone.push(router),
  };
  const { all, clock } = new TestRouters(0, 3, () => [{ name: "talk", plugin: { shared } } as unknown as NamedFeature]);
  await clock.advance(SECOND_MS + 10);
  clock.standStill(60_000);
  await clock.advance(SECOND_MS);
  assert.deepEqual(gone, []);
  all[0]!.die();
  await clock.advance(5 * SECOND_MS);
  assert.equal(new Set(gone).size, 3, "who says nothing while the process runs is gone, and hears nobody");
  for (const { log } of all) log.close();
});

describe("a store that takes messages now and then", () => {
  it("gets what was gathered until then; own words count as heard once the others' answers are there", async () => {
    const words: string[] = [];
    const heard: string[] = [];
    const shared: SharedFacts = {
      listen: () => {},
      say: () => words.splice(0).map((word) => [word]),
      repeat: () => {},
      hear: (_fact, { isOwn }) => void heard.push(isOwn ? "own" : "other's"),
      gone: () => {},
    };
    const routers = new TestRouters(0, 2, () => [{ name: "talk", plugin: { shared } } as unknown as NamedFeature]);
    const { all, clock, messages } = routers;
    routers.pace = { waitMs: 700, settledMs: 1_300 };
    await clock.advance(SECOND_MS + 10);
    const before = messages.length;
    for (let n = 0; n < 5; n++) all[0]!.book(n % REPLICAS);
    words.push("hello");
    await clock.advance(690);
    assert.equal(messages.length, before);
    await clock.advance(20);
    assert.equal(messages.length, before + 1);
    assert.equal(all[1]!.outstanding().inFlight, 5);
    assert.deepEqual(heard, ["other's"]);
    await clock.advance(1_250);
    assert.deepEqual(heard, ["other's"]);
    await clock.advance(100);
    assert.deepEqual(heard, ["other's", "own"]);
    for (const { log } of all) log.close();
  });
});

describe("a prompt that one router sent somewhere", () => {
  it("is known to the other: it hashes alike", async () => {
    const { all, clock } = new TestRouters();
    await clock.advance(SECOND_MS);
    all[0]!.book(2, 3_000);
    await clock.advance(60);
    const [one, two] = all.map(({ prefixOf }) => prefixOf(3_000));
    assert.ok(two!.matchedBlocks(2) > 0);
    assert.equal(two!.matchedBlocks(2), one!.matchedBlocks(2));
    assert.equal(two!.matchedBlocks(1), 0);
  });

  it("is forgotten where the replica did not process it", async () => {
    const { all, clock } = new TestRouters();
    await clock.advance(SECOND_MS);
    const booking = all[0]!.book(2, 3_000);
    await clock.advance(60);
    booking.settled("connect-failed", undefined, clock.now());
    await clock.advance(60);
    assert.equal(all[1]!.prefixOf(3_000).matchedBlocks(2), 0);
  });
});

test("the store is gone for a minute: each goes on with what it knows, and nothing jumps when it is back", async () => {
  const routers = new TestRouters();
  const { all, clock } = routers;
  await clock.advance(SECOND_MS);
  const before = all[0]!.book(0);
  await clock.advance(60);
  routers.storeGone();
  assert.equal(all[1]!.log.view?.isUp, false);
  assert.equal(all[1]!.log.view?.fault, "refused");
  const during = all[0]!.book(1);
  await clock.advance(60 * SECOND_MS);
  // What the other had booked is not known any more.
  assert.deepEqual(all[1]!.outstanding(), NOTHING);
  assert.equal(all[0]!.outstanding().inFlight, 2);
  before.settled(200, undefined, clock.now());
  routers.storeBack();
  await clock.advance(1.2 * SECOND_MS);
  assert.equal(all[1]!.outstanding().inFlight, 1);
  during.settled(200, undefined, clock.now());
  await clock.advance(60);
  for (const router of all) assert.deepEqual(router.outstanding(), NOTHING);
});

describe("what another release says", () => {
  it("facts and fields that are not known are passed over", async () => {
    const routers = new TestRouters();
    const { all, clock } = routers;
    await clock.advance(SECOND_MS);
    routers.say([
      ["warmed", 3, { any: "thing" }],
      ["began", 1, 0, 70, 1, clock.now(), "a field of tomorrow"],
      ["began", 2, 99, 70, 1, 0],
    ]);
    assert.deepEqual(all[0]!.outstanding(), { inFlight: 1, prefillTokens: 70 });
    assert.equal(all[0]!.log.view?.facts.unknown, 1);
    assert.equal(all[0]!.log.view?.facts.wrong, 0);
  });

  it("prompts in blocks of another size are left out", async () => {
    const routers = new TestRouters();
    await routers.clock.advance(SECOND_MS);
    const [one, two] = routers.all;
    routers.say([["cached", 1, 0, chainText(one!.prefixOf(2_000))]], { blockBytes: 128 });
    assert.equal(two!.index.stats().entries, 0);
  });
});

describe("a stranger in the store", () => {
  const refusals: readonly (readonly [name: string, reason: string, say: (routers: TestRouters) => void])[] = [
    [
      "who has not the secret",
      "without the common secret",
      (routers) => routers.say([["began", 1, 0, 70, 1, 0]], {}, "another secret of them"),
    ],
    ["who sends no message", "without the common secret", (routers) => routers.deliver("hello")],
    ["who sends too much", "too long", (routers) => routers.deliver("x".repeat(1_000_001))],
    [
      "who sends what was heard long ago",
      "of another time",
      (routers) => routers.say([["began", 1, 0, 70, 1, 0]], { wallMs: 1 }),
    ],
    [
      "with the secret, whose message is no batch",
      "unreadable",
      (routers) => routers.say([["began"]], { replicas: [1 as unknown as string] }),
    ],
  ];
  for (const [name, reason, say] of refusals) {
    it(`${name} is not read`, async () => {
      const routers = new TestRouters();
      await routers.clock.advance(SECOND_MS);
      say(routers);
      const view = routers.all[0]!.log.view!;
      assert.equal(view.refused[reason as keyof typeof view.refused], 1);
      assert.deepEqual(routers.all[0]!.outstanding(), NOTHING);
    });
  }

  it("who says a message again changes nothing", async () => {
    const routers = new TestRouters();
    await routers.clock.advance(SECOND_MS);
    routers.say([["began", 1, 0, 70, 1, 0]]);
    routers.say([["ended", 1]]);
    for (const message of routers.messages.slice()) routers.deliver(message);
    for (const router of routers.all) assert.deepEqual(router.outstanding(), NOTHING);
  });

  it("with the secret and any facts breaks nothing, and what he booked goes with him", async () => {
    const names = [
      "began",
      "worked",
      "ended",
      "cached",
      "withdrawn",
      "generated",
      "load",
      "wanted",
      "ejected",
      "returned",
      "gone",
      "x",
    ];
    const odd = fc.oneof(
      ...[
        fc.integer(),
        fc.double(),
        fc.string(),
        fc.constant(null),
        fc.constant(-1),
        fc.constant(1e308),
        fc.integer({ min: 0, max: 3 }),
      ],
      ...[
        fc.array(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 6 }), { maxLength: 4 }),
        fc.base64String({ maxLength: 80 }),
      ],
    );
    const fact = fc
      .tuple(fc.constantFrom(...names), fc.array(odd, { maxLength: 6 }))
      .map(([name, fields]) => [name, ...fields] as Fact);
    await fc.assert(
      fc.asyncProperty(fc.array(fact, { maxLength: 40 }), async (facts) => {
        const routers = new TestRouters(0, 1);
        const [router] = routers.all;
        await routers.clock.advance(SECOND_MS);
        routers.say(facts);
        const { inFlight, prefillTokens } = router!.outstanding();
        assert.ok(inFlight >= 0 && prefillTokens >= 0 && Number.isFinite(prefillTokens));
        router!.book(0).settled(200, undefined, routers.clock.now());
        await routers.clock.advance(5 * SECOND_MS);
        assert.deepEqual(router!.outstanding(), NOTHING);
      }),
      { numRuns: 200 },
    );
  });

  it("with the secret and any chains leaves an index that works", async () => {
    const routers = new TestRouters(0, 1);
    const [router] = routers.all;
    const random = seededRandom(3);
    await routers.clock.advance(SECOND_MS);
    for (let n = 0; n < 300; n++) {
      // Few hashes, so that chains contain each other's blocks in any order, and their own twice.
      const blocks = 1 + Math.floor(random() * 20);
      const hashes = Array.from({ length: 2 * blocks }, (_, at) => (at % 2 === 0 ? Math.floor(random() * 6) : 0));
      const text = chainText({ blocks, hashes, tokensIn: () => 1 + Math.floor(random() * 60_000) });
      routers.say([
        ["began", n, 0, 1, 1, 0],
        ["cached", n, n % REPLICAS, text],
        ["generated", n, 70_000],
        ["withdrawn", n],
        ["ended", n],
      ]);
    }
    router!.book(1, 3_000);
    assert.ok(router!.prefixOf(3_000).matchedBlocks(1) > 0);
    for (let slot = 0; slot < REPLICAS; slot++) router!.index.forget(slot);
    assert.equal(router!.index.stats().entries, 0);
  });
});
