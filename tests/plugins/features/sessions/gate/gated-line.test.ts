import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../../../core/contract/endpoint.ts";
import { silentLog } from "../../../../../core/contract/log.ts";
import { withoutRouter } from "../../../../../core/router-host.ts";
import type { Run } from "../../../../../core/run.ts";
import { GatedLine } from "../../../../../plugins/features/sessions/gate/gated-line.ts";
import { makeEndpoint, seededRandom } from "../../../../support/endpoints.ts";
import { FakeClock } from "../../../../support/fake-clock.ts";
import { MemoryParts, makeRun } from "../../../../support/memory-parts.ts";

const PROMPT = 200_000;
const MAX_WAIT_MS = 600_000;
const JSON_BODY = '{"model":"m","messages":[]}';

/** A line in front of replicas of 500,000 tokens: each has room for two prompts. */
function makeLine(endpoints: readonly Endpoint[] = [makeEndpoint(0)], cacheTokens = 500_000) {
  const clock = new FakeClock();
  const host = withoutRouter({ clock, random: seededRandom(1), log: silentLog });
  for (const { slot } of endpoints) host.load.cacheTokens[slot] = cacheTokens;
  const line = new GatedLine(host);
  line.use(MAX_WAIT_MS);
  line.follow(endpoints);
  const parts = new MemoryParts({});
  let ids = 0;
  const asked = new Map<object, { tenant: string; source: string; turns: number }>();
  /** A turn of the session; `at`: the endpoint that will have served it. */
  const turn = (session: object, { tenant = "t", tokens = PROMPT, priority = 0, turns = 2 } = {}) => {
    const run: Run = makeRun(parts, JSON_BODY);
    ids += 1;
    run.parsed = { promptTokens: tokens } as Run["parsed"];
    if (priority !== 0) Object.assign(run.ticket, { principal: { tenant, priority } });
    const seen = { admitted: 0, failed: 0, id: ids };
    const asking = asked.get(session) ?? { tenant, source: "x-session-id", turns };
    asked.set(session, asking);
    const place = line.enter(asking, run, { admitted: () => (seen.admitted += 1), failed: () => (seen.failed += 1) });
    const ended = (at = endpoints[0]!) => {
      if (!run.ticket.attempts.some(({ endpoint }) => endpoint === at.name))
        (run.ticket.attempts as { endpoint: string }[]).push({ endpoint: at.name });
      line.settled(run.ticket);
    };
    return { run, seen, place, isWaiting: place !== undefined && seen.admitted === 0, ended, leave: () => place?.leave() };
  };
  /** Sessions that came and went, so that the pool is full of places. */
  const fill = async (count: number) => {
    const sessions = Array.from({ length: count }, () => ({}));
    for (let round = 0; round < 10; round++) {
      for (const session of sessions) turn(session).ended();
      await clock.advance(5_000);
    }
    return sessions;
  };
  return { clock, line, turn, fill, host };
}

describe("the line of turns that have no place", () => {
  it("lets a turn wait until a place is free, in the order in which they came, and says how long", async () => {
    const { clock, line, turn, fill } = makeLine();
    const [one, other] = await fill(2);
    const busy = [turn(one!), turn(other!)];
    assert.ok(busy.every(({ place }) => place === undefined));
    const [first, second] = [turn({}), turn({})];
    assert.deepEqual([first.isWaiting, second.isWaiting, line.size], [true, true, 2]);
    assert.deepEqual([first.run.ticket.wait?.position, second.run.ticket.wait?.position], [1, 2]);
    busy[0]!.ended();
    await clock.advance(120_000);
    assert.deepEqual([first.seen.admitted, second.seen.admitted, line.size], [1, 0, 1]);
    assert.equal(first.run.placedAt, 0);
    const { wait } = first.run.ticket;
    assert.ok(wait?.end === "admitted" && wait.waitedMs > 0 && /no replica's cache has room/.test(wait.reason));
    for (const { ended } of busy) ended();
    await clock.advance(300_000);
    assert.deepEqual([second.seen.admitted, line.size, clock.pending], [1, 0, 0]);
  });

  it("has a short turn that comes later wait behind a long one that came before", async () => {
    const { clock, turn, fill } = makeLine();
    const [one, other] = await fill(2);
    const busy = [turn(one!), turn(other!)];
    const [long, short] = [turn({}, { tokens: 300_000 }), turn({}, { tokens: 50_000 })];
    // There would be room for it.
    assert.deepEqual([long.isWaiting, short.isWaiting], [true, true]);
    for (const { ended } of busy) ended();
    await clock.advance(300_000);
    assert.deepEqual([long.seen.admitted, short.seen.admitted], [1, 1]);
  });

  it("has higher priorities go first", async () => {
    const { clock, turn, fill } = makeLine();
    const [one, other] = await fill(2);
    const busy = [turn(one!), turn(other!)];
    const [low, high] = [turn({}), turn({}, { priority: 5 })];
    busy[0]!.ended();
    for (let look = 0; look < 10_000 && low.seen.admitted + high.seen.admitted === 0; look++) await clock.advance(50);
    assert.deepEqual([low.seen.admitted, high.seen.admitted, high.run.ticket.wait?.priority], [0, 1, 5]);
  });

  it("keeps the replica for a turn that has waited longer at another router, as long as that is heard of", async () => {
    for (const [waitedMs, isOthers] of [
      [60_000, true],
      [0, false],
    ] as const) {
      const { clock, line, turn, fill } = makeLine();
      const [one, other] = await fill(2);
      const busy = [turn(one!), turn(other!)];
      const mine = turn({});
      for (const { ended } of busy) ended();
      for (let look = 0; look < 6_000; look++) {
        // Each look at the other line is told.
        line.others.heard(
          "other",
          [{ tokens: PROMPT, priority: 0, waitedMs: waitedMs === 0 ? 0 : waitedMs + clock.now() }],
          clock.now(),
        );
        await clock.advance(50);
      }
      assert.equal(mine.seen.admitted, isOthers ? 0 : 1);
      // Who comes later waits behind the other router's.
      const later = turn({}, { tokens: 10_000 });
      assert.equal(later.isWaiting, true);
      line.others.gone("other");
      await clock.advance(300_000);
      assert.deepEqual([mine.seen.admitted, later.seen.admitted, line.size], [1, 1, 0]);
    }
  });

  for (const [name, isFound] of [
    ["gives out less of a cache that loses prompts which it should have", false],
    ["gives out all of a cache that keeps what it should have", true],
  ] as const) {
    it(name, async () => {
      const { clock, turn } = makeLine([makeEndpoint(0)], 1_000_000);
      const sessions = Array.from({ length: 4 }, () => ({}));
      const served = (session: object, cachedTokens: number) => {
        const { run, ended } = turn(session);
        Object.assign(run.ticket, { usage: { promptTokens: PROMPT, outputTokens: 0, cachedTokens }, predictedTokens: PROMPT });
        ended();
      };
      for (let round = 0; round < 4; round++) {
        for (const session of sessions) {
          // What comes back behind three others, and what comes back at once.
          served(session, isFound ? PROMPT : 0);
          await clock.advance(1_000);
          served(session, PROMPT);
          await clock.advance(1_000);
        }
      }
      for (const session of sessions) assert.equal(turn(session).isWaiting, false);
      assert.equal(turn({}, { tokens: 150_000 }).isWaiting, !isFound);
    });
  }

  it("lets a turn go on without a place when it has waited for too long", async () => {
    const { clock, line, turn, fill } = makeLine();
    const busy = (await fill(2)).map((session) => turn(session));
    const late = turn({});
    await clock.advance(MAX_WAIT_MS - 100);
    assert.equal(late.seen.admitted, 0);
    await clock.advance(200);
    assert.deepEqual([late.seen.admitted, late.seen.failed, late.run.placedAt, line.counts.late], [1, 0, -1, 1]);
    for (const { ended } of busy) ended();
    late.ended();
  });

  it("lets all go on that wait when the last replica goes: they fare as those that come then", async () => {
    const { clock, line, turn, fill } = makeLine();
    const busy = (await fill(2)).map((session) => turn(session));
    const waiting = Array.from({ length: 40 }, () => turn({}));
    assert.ok(waiting.every(({ isWaiting }) => isWaiting));
    line.follow([]);
    await clock.advance(1_000);
    assert.deepEqual([waiting.every(({ seen }) => seen.admitted === 1), line.size, line.counts.late], [true, 0, 0]);
    assert.ok(waiting.every(({ run }) => run.placedAt === -1));
    assert.equal(turn({}).isWaiting, false);
    for (const { ended } of [...busy, ...waiting]) ended();
  });

  it("lets all go on that wait when the gate leaves the config", async () => {
    const { clock, line, turn, fill } = makeLine();
    const busy = (await fill(2)).map((session) => turn(session));
    const waiting = [turn({}), turn({})];
    line.use(undefined);
    await clock.advance(100);
    assert.deepEqual([...waiting.map(({ seen }) => seen.admitted), turn({}).isWaiting], [1, 1, false]);
    for (const { ended } of [...busy, ...waiting]) ended();
  });

  it("forgets a turn whose client leaves, and who leaves twice or after it went on changes nothing", async () => {
    const { clock, line, turn, fill } = makeLine();
    const busy = (await fill(2)).map((session) => turn(session));
    const [gone, next] = [turn({}), turn({})];
    for (let time = 0; time < 2; time++) gone.leave();
    gone.ended();
    assert.deepEqual([line.size, gone.run.ticket.wait?.end], [1, "left"]);
    for (const { ended } of busy) ended();
    await clock.advance(300_000);
    next.leave();
    assert.deepEqual([gone.seen.admitted, next.seen.admitted, next.run.ticket.wait?.end], [0, 1, "admitted"]);
  });

  it("has the next turn of a session go on with the one before it, which has the place already", async () => {
    const { clock, turn, fill } = makeLine();
    const busy = (await fill(2)).map((session) => turn(session));
    const session = {};
    // Two places of this size are not to be had.
    const [first, next] = [turn(session, { tokens: 300_000 }), turn(session, { tokens: 301_000 })];
    assert.deepEqual([first.isWaiting, next.isWaiting], [true, true]);
    for (const { ended } of busy) ended();
    await clock.advance(60_000);
    assert.deepEqual([first.seen.admitted, next.seen.admitted], [1, 1]);
  });

  it("holds nobody up for new sessions of a kind that never come back", async () => {
    const { line, turn, fill } = makeLine();
    const busy = (await fill(2)).map((session) => turn(session));
    for (let time = 0; time < 100; time++) turn({}, { turns: 1 }).leave();
    assert.equal(turn({}, { turns: 1 }).isWaiting, false);
    assert.equal(turn({}, { turns: 2 }).isWaiting, true);
    assert.ok(busy.length === 2 && line.size > 0);
  });

  it("gives each of a hundred turns of one session at once a place of its own, and none at their end", async () => {
    const { clock, line, turn } = makeLine();
    const session = {};
    const agents = Array.from({ length: 100 }, () => turn(session));
    assert.ok(agents.filter(({ isWaiting }) => isWaiting).length >= 97);
    for (let round = 0; round < 120; round++) {
      for (const { ended, seen, isWaiting } of agents) if (!isWaiting || seen.admitted === 1) ended();
      await clock.advance(10_000);
    }
    assert.deepEqual([agents.every(({ isWaiting, seen }) => !isWaiting || seen.admitted === 1), line.size], [true, 0]);
    assert.ok(line.placesAt(0) <= 1);
  });

  it("gives a tenant with one turn its place before the hundredth turn of another", async () => {
    const { clock, turn, fill } = makeLine();
    const busy = (await fill(2)).map((session) => turn(session));
    const many = Array.from({ length: 100 }, () => turn({}, { tenant: "many" }));
    const one = turn({}, { tenant: "one" });
    for (const { ended } of busy) ended();
    for (let round = 0; round < 30 && one.seen.admitted === 0; round++) await clock.advance(10_000);
    assert.equal(one.seen.admitted, 1);
    assert.ok(many.filter(({ seen }) => seen.admitted === 1).length <= 2);
  });

  it("lets everybody go on at once beyond 4,096 that wait", async () => {
    const { line, turn, fill } = makeLine();
    const busy = (await fill(2)).map((session) => turn(session));
    const all = Array.from({ length: 4_100 }, () => turn({}));
    assert.deepEqual([line.size, all.filter(({ place }) => place === undefined).length, busy.length], [4_096, 4, 2]);
    line.close();
  });

  it("has the sessions of a replica that is gone begin elsewhere, one after the other", async () => {
    const endpoints = [makeEndpoint(0), makeEndpoint(1)];
    const { clock, line, turn, fill, host } = makeLine(endpoints);
    const sessions = await fill(2);
    const others = [turn({}), turn({})];
    line.follow([endpoints[1]!]);
    for (const other of others) other.ended(endpoints[1]);
    assert.deepEqual([line.placesAt(0), line.placesAt(1)], [0, 2]);
    // The others have places there, and have just been used.
    const moved = sessions.map((session) => turn(session));
    host.load.begin(1, { tokens: 1_000_000, cachedTokens: 0 } as never, clock.now());
    await clock.advance(1_000);
    assert.ok(moved.filter(({ seen, isWaiting }) => isWaiting && seen.admitted === 1).length === 0);
    for (const { run, isWaiting } of moved) if (!isWaiting) assert.notEqual(run.placedAt, 0);
    line.close();
  });

  it("holds nobody back for a replica that does not say how large its cache is", () => {
    const { turn } = makeLine([makeEndpoint(0)], Number.NaN);
    assert.ok(Array.from({ length: 50 }, () => turn({})).every(({ isWaiting }) => !isWaiting));
  });
});
