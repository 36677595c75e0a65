/** Routers that are heard and do not agree: who is shown, and what is logged. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { modelledCarrier } from "../../../../apps/lab/simulate/modelled-carrier.ts";
import { silentLog } from "../../../../core/contract/log.ts";
import { seededRandom } from "../../../../core/contract/test-kit.ts";
import type { LinkEvents } from "../../../../core/pool/carrier.ts";
import { Apart } from "../../../../plugins/features/shared/apart.ts";
import { sealed } from "../../../../plugins/features/shared/message.ts";
import { marksOf, Neighbours, type Presence, sealedPresence } from "../../../../plugins/features/shared/neighbours.ts";
import { sharedWarnings } from "../../../../plugins/features/shared/shared-status.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { TestRouters } from "./routers.ts";

const SECRET = "0123456789abcdef";
const SECOND_MS = 1_000;

/** A log whose lines are kept. */
function keptLog() {
  const lines: string[] = [];
  const keep = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { lines, log: { ...silentLog, warn: keep } };
}

const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

describe("messages that are refused", () => {
  async function setUp() {
    const { lines, log } = keptLog();
    const routers = new TestRouters(0, 1, () => [], log);
    await routers.clock.advance(SECOND_MS);
    const warnings = () => sharedWarnings(routers.all[0]!.log.view);
    return { routers, lines, warnings };
  }
  const FACTS = [["ended", 1]] as const;

  it("are told by router and cause, in one line of the log however many there are, until they end", async () => {
    const { routers, lines, warnings } = await setUp();
    for (let second = 0; second < 100; second++) {
      routers.say(FACTS, { from: idOf(1), wallMs: routers.clock.wall() + 90_000 });
      routers.say(FACTS, { from: idOf(2) }, "another secret of them");
      await routers.clock.advance(SECOND_MS);
    }
    const clock = `The router ${idOf(1)} does not agree with this one: its clock is 90 s ahead of this router's: set the clocks of both machines.`;
    const secret = `The router ${idOf(2)} does not agree with this one: it has another secret: give all routers of the pool the same spec.shared.secret.`;
    assert.deepEqual(warnings(), [clock, secret]);
    assert.equal(lines.length, 2);
    assert.match(lines[0]!, new RegExp(`^A router is heard that does not agree .*${idOf(1)}.*90 s ahead`));
    assert.match(lines[1]!, new RegExp(`${idOf(2)}.*another secret`));
    routers.say(FACTS, { from: idOf(3), wallMs: routers.clock.wall() - 3_600_000 });
    assert.match(warnings()[2]!, /clock is 3,600 s behind/);
    await routers.clock.advance(16 * SECOND_MS);
    assert.deepEqual(warnings(), []);
  });

  it("of any number of senders fill neither the status nor the log", async () => {
    const { routers, lines, warnings } = await setUp();
    for (let n = 0; n < 5_000; n++) {
      routers.say(FACTS, { from: idOf(n) }, "another secret of them");
      routers.deliver(`${"x".repeat(43)}{"from":"${"\\u202e".repeat(9)}${n}"`);
      if (n % 100 === 0) await routers.clock.advance(SECOND_MS);
    }
    assert.equal(warnings().length, 9);
    assert.match(warnings()[8]!, /^Further routers are heard/);
    assert.ok(lines.length <= 2, String(lines.length));
    assert.equal(routers.all[0]!.log.view!.refused["without the common secret"], 10_000);
  });

  it("and name no router are somebody's; those that name this one are not told as its own", async () => {
    const { routers, warnings } = await setUp();
    routers.deliver("hello");
    assert.match(warnings()[0]!, /^Somebody writes into the store of the routers who is none of them: it has another secret/);
    const own = routers.all[0]!.log.view!.router;
    routers.say(FACTS, { from: own, wallMs: 1 });
    assert.equal(warnings().length, 1);
  });

  it("can't be read with the secret: the releases differ", async () => {
    const { routers, warnings } = await setUp();
    routers.say([["ended"]], { from: idOf(4), replicas: [1 as unknown as string] });
    assert.match(warnings()[0]!, /its messages can't be read: run the same release of Signalbox everywhere/);
  });
});

describe("routers that hear nothing of each other's facts", () => {
  const REPLICAS = marksOf(["http://a:1/", "http://b:1/"]);

  async function setUp(changes: Partial<Presence> = {}, secret = SECRET) {
    const clock = new FakeClock();
    const { lines, log } = keptLog();
    const apart = new Apart(clock);
    apart.log = log;
    const carrier = modelledCarrier({ delayMs: 1, loss: 0 }, clock, seededRandom(1));
    const listeners: LinkEvents[] = [];
    const open = (channel: string, events: LinkEvents) => {
      listeners.push(events);
      return carrier(channel, events);
    };
    const way = { text: "", secret: SECRET, isPublic: true, open };
    const neighbours = new Neighbours(idOf(1), clock, apart, () => ({ blockBytes: 256, replicas: REPLICAS }));
    neighbours.open(way, "llama");
    const link = carrier("signalbox:routers", { received: () => {}, up: () => {}, down: () => {}, lost: () => {} });
    const presence = { from: idOf(2), version: 1, group: "llama", blockBytes: 256, replicas: REPLICAS, ...changes };
    const say = () => link.publish(sealedPresence({ wallMs: clock.wall(), ...presence }, secret));
    await clock.advance(10);
    say();
    await clock.advance(10);
    return { clock, apart, lines, say, neighbours, deliver: (message: string) => listeners[0]!.received(message) };
  }

  const OTHERS = marksOf(["http://c:1/"]);
  const ROWS: readonly (readonly [name: string, changes: Partial<Presence>, secret: string, cause: string, why: RegExp])[] = [
    ["another version", { version: 2 }, SECRET, "of another version", /version 2, this router's 1: run the same release/],
    ["another group", { group: "lama" }, SECRET, "of another group", /same replicas in the group "lama", this router in "llama"/],
    ["another group and version", { group: "x", version: 7 }, SECRET, "of another version", /version 7/],
    ["other addresses", { replicas: OTHERS }, SECRET, "of other replicas", /none of its replicas has an address .* same urls/],
    ["other blocks", { blockBytes: 64 }, SECRET, "of other blocks", /blocks of another size/],
    ["another secret", {}, "another secret of them", "without the common secret", /another secret/],
    ["another secret and group", { group: "x" }, "another secret of them", "without the common secret", /another secret/],
    ["another clock", { wallMs: 1 }, SECRET, "of another time", /clock is .* behind/],
  ];
  for (const [name, changes, secret, cause, why] of ROWS)
    it(`are told: ${name}`, async () => {
      const { apart, lines, clock, say } = await setUp(changes, secret);
      const [view, ...more] = apart.views();
      assert.deepEqual([view?.router, view?.cause, more.length], [idOf(2), cause, 0]);
      assert.match(view!.why, why);
      for (let n = 0; n < 50; n++) {
        say();
        await clock.advance(5 * SECOND_MS);
      }
      assert.equal(lines.length, 1);
      assert.equal(apart.views().length, 1);
    });

  it("are not told where they agree, or serve another pool by the same store", async () => {
    const fine: readonly (readonly [changes: Partial<Presence>, secret?: string])[] = [
      [{}],
      [{ from: idOf(1), version: 9 }],
      [{ group: "other", replicas: OTHERS }],
      [{ group: "other", replicas: OTHERS, version: 9, wallMs: 1 }, "another secret of them"],
      [{ replicas: [] }],
      [{ blockBytes: 0 }],
    ];
    for (const [changes, secret] of fine) {
      const { apart, lines } = await setUp(changes, secret);
      assert.deepEqual([apart.views(), lines], [[], []], JSON.stringify(changes));
    }
  });

  it("say who they are, to the end", async () => {
    const { clock, neighbours } = await setUp();
    assert.equal(clock.pending > 0, true);
    neighbours.close();
    await clock.advance(10);
    assert.equal(clock.pending, 0);
  });

  it("whatever is said on that channel, nothing breaks", async () => {
    const { apart, deliver } = await setUp();
    const bodies = ["", "{}", "null", "[]", "{", '{"from":1}', `{"from":"x","replicas":[${'"a",'.repeat(2_000)}"a"]}`];
    for (const body of bodies) {
      deliver(body);
      deliver(`${"x".repeat(43)}${body}`);
    }
    for (const odd of [
      { version: -1 },
      { version: 1e300 },
      { wallMs: null },
      { group: 7 },
      { blockBytes: "1" },
      { replicas: {} },
    ]) {
      const presence = { from: idOf(3), version: 1, group: "llama", wallMs: 0, blockBytes: 1, replicas: REPLICAS, ...odd };
      deliver(sealedPresence(presence as Presence, SECRET));
    }
    deliver(sealed({ from: idOf(3), number: 1, wallMs: 1, nowMs: 1, blockBytes: 1, replicas: [], facts: [] }, SECRET));
    for (let n = 0; n < 2_000; n++) deliver("y".repeat(8_000));
    assert.deepEqual(apart.views(), []);
  });
});
