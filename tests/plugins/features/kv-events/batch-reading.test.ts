/** A batch that takes long is read in slices: what comes meanwhile waits, and nothing is lost or mixed up. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tokenKeys } from "../../../../plugins/features/kv-events/prompts/token-keys.ts";
import { batch, CLEARED, storedMap, tokensFrom } from "../../../support/event-batches.ts";
import { ScriptedPublisher } from "./scripted-publisher.ts";

const TOKENS = 1_000;
/** So many events of a thousand tokens are some 300 KB: five slices. */
const MANY = 100;

const eventOf = (hash: number) => storedMap({ hashes: [BigInt(hash)], tokens: tokensFrom(10 * hash, TOKENS) });
const stored = (hash: number) => batch([eventOf(hash)]);
const large = (from: number, time = from) =>
  batch(
    Array.from({ length: MANY }, (_, at) => eventOf(from + at)),
    time,
  );

function setUp() {
  const world = new ScriptedPublisher();
  const { clock, publisher, replays } = world;
  const holds = (hash: number) => {
    const [low, high] = tokenKeys(tokensFrom(10 * hash, TOKENS), TOKENS, { adapter: "", salt: "" });
    return publisher.blocks.holds(low!, high!);
  };
  return {
    ...{ clock, publisher, replays, holds, emptied: () => world.emptied },
    connect: () => world.connect(),
    disconnect: () => world.disconnect(),
    publish: (sequence: number, payload: Uint8Array) => world.publish(sequence, payload),
    replayed: (sequence: number, payload: Uint8Array) => world.replayed(sequence, payload),
    done: () => world.done(),
    isAll: (from: number) => Array.from({ length: MANY }, (_, at) => holds(from + at)).every(Boolean),
  };
}

/** With nothing published before. */
function following() {
  const world = setUp();
  world.done();
  assert.equal(world.publisher.state, "following");
  return world;
}

describe("a batch that takes long to read", () => {
  it("is read in several turns, and what comes meanwhile behind it", async () => {
    const { clock, publisher, publish, holds, isAll } = following();
    publish(0, large(1_000));
    assert.ok(holds(1_000) && !holds(1_000 + MANY - 1));
    publish(1, stored(1));
    assert.equal(holds(1), false);
    await clock.advance(0);
    assert.equal(isAll(1_000), true);
    assert.equal(holds(1), true);
    assert.deepEqual([publisher.batches, publisher.gaps, publisher.malformed, publisher.blocks.isWhole], [2, 0, 0, true]);
    publish(2, stored(2));
    assert.equal(holds(2), true, "at once again");
  });

  it("tells that the cache was dropped when all of it is read", async () => {
    const { clock, publish, holds, emptied } = following();
    publish(0, stored(1));
    publish(1, batch([...Array.from({ length: MANY }, (_, at) => eventOf(1_000 + at)), CLEARED, eventOf(2)]));
    assert.equal(emptied(), 0);
    await clock.advance(0);
    assert.equal(emptied(), 1);
    assert.ok(!holds(1) && !holds(1_000) && holds(2));
  });

  it("that can't be read to its end: nothing is known any more, and what follows is read", async () => {
    const { clock, publisher, publish, holds } = following();
    const whole = large(1_000);
    publish(0, whole.subarray(0, whole.length - 9));
    publish(1, stored(1));
    await clock.advance(0);
    assert.ok(!holds(1_000) && holds(1));
    assert.deepEqual([publisher.malformed, publisher.blocks.isWhole], [1, false]);
  });

  it("is not read on when the connection ends: all is asked for again", async () => {
    const { clock, publisher, publish, disconnect, connect, replays, replayed, done, holds, isAll } = following();
    publish(0, large(1_000));
    publish(1, stored(1));
    disconnect();
    assert.equal(publisher.state, "connecting");
    assert.equal(holds(1_000), false);
    connect();
    assert.equal(replays.at(-1)!.from, 0);
    replayed(0, large(1_000));
    replayed(1, stored(1));
    done();
    assert.equal(publisher.state, "catching-up");
    publish(2, stored(2));
    await clock.advance(0);
    assert.equal(publisher.state, "following");
    assert.ok(isAll(1_000) && holds(1) && holds(2));
    assert.deepEqual([publisher.blocks.isWhole, publisher.gaps], [true, 0]);
  });

  it("waited for a replay: it comes before what came after it", async () => {
    const { clock, publisher, publish, replayed, done, holds, isAll } = setUp();
    publish(1, large(1_000));
    publish(2, stored(2));
    replayed(0, large(2_000));
    publish(3, stored(3));
    done();
    await clock.advance(0);
    assert.equal(publisher.state, "following");
    assert.ok(isAll(1_000) && isAll(2_000) && holds(2) && holds(3));
    assert.deepEqual([publisher.blocks.isWhole, publisher.gaps, publisher.batches], [true, 0, 4]);
  });

  it("of another process than before: what the replay had before is left out", async () => {
    const { clock, publisher, publish, disconnect, connect, replays, replayed, done, holds, isAll } = following();
    publish(0, stored(1));
    disconnect();
    connect();
    const first = replays.at(-1)!;
    replayed(0, batch([eventOf(1)], 9));
    assert.deepEqual([first.isStopped, publisher.restarts], [true, 1]);
    first.owner.replayed(1, large(1_000));
    first.owner.done();
    assert.deepEqual([publisher.state, holds(1_000)], ["catching-up", false]);
    replayed(0, large(2_000));
    done();
    await clock.advance(0);
    assert.deepEqual([publisher.state, holds(1), holds(1_000), isAll(2_000)], ["following", false, false, true]);
  });

  it("has so much behind it that nobody can keep it: nothing is known, and what comes is read again", async () => {
    const { clock, publisher, publish, holds } = following();
    publish(0, large(1_000));
    for (let n = 1; n <= 4_096; n++) publish(n, batch([]));
    assert.equal(holds(1_000), true);
    publish(4_097, stored(2));
    assert.deepEqual([holds(1_000), publisher.state], [false, "following"]);
    assert.match(publisher.trouble, /more is published than can be read/);
    publish(4_098, stored(3));
    await clock.advance(0);
    assert.deepEqual([holds(2), holds(3), publisher.blocks.isWhole, clock.pending], [false, true, false, 0]);
  });

  it("ends with its publisher", async () => {
    const { clock, publisher, publish } = following();
    publish(0, large(1_000));
    publish(1, large(2_000));
    publisher.stop();
    assert.equal(clock.pending, 0);
    await clock.advance(10);
    assert.equal(publisher.blocks.size, 0);
  });
});
