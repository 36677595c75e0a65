/** How a replica's events stand, and what the status says of what is missing. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { kvEventsSection } from "../../../../plugins/features/kv-events/kv-events-config.ts";
import { kvEventsWarnings } from "../../../../plugins/features/kv-events/kv-events-shown.ts";
import { standingOf, whyOf } from "../../../../plugins/features/kv-events/kv-events-status.ts";
import { ReplicaCache } from "../../../../plugins/features/kv-events/replica-cache.ts";
import { makeEndpoint } from "../../../support/endpoints.ts";
import { batch, storedMap, tokensFrom } from "../../../support/event-batches.ts";
import { ScriptedPublisher } from "./scripted-publisher.ts";

function cacheOf({ publisher }: ScriptedPublisher): ReplicaCache {
  const cache = new ReplicaCache(makeEndpoint(0), () => undefined);
  cache.publishers = [publisher];
  return cache;
}

/** A batch with one block of so many tokens. */
const stored = (name: number, blockTokens = 4) =>
  batch([storedMap({ hashes: [BigInt(name)], tokens: tokensFrom(100 * name, blockTokens) })], name);

function shown(world: ScriptedPublisher): readonly [standing: string, why: string] {
  const cache = cacheOf(world);
  return [standingOf(cache), whyOf(cache)];
}

describe("an engine that starts anew with blocks of another size", () => {
  it("is known whole, by its replay, if it has published nothing yet", () => {
    const world = new ScriptedPublisher();
    world.done();
    world.publish(0, stored(1));
    world.disconnect();
    world.connect();
    world.done();
    world.done();
    assert.equal(world.publisher.restarts, 1);
    world.publish(0, stored(2, 8));
    assert.equal(world.publisher.blocks.blockTokens, 8);
    assert.deepEqual(shown(world), ["believed", ""]);
  });

  it("and if its replay has all of its batches", () => {
    const world = new ScriptedPublisher();
    world.done();
    world.publish(0, stored(1));
    world.publish(1, stored(2));
    world.disconnect();
    world.connect();
    world.replayed(1, stored(4, 8));
    world.replayed(0, stored(3, 8));
    world.replayed(1, stored(4, 8));
    world.done();
    assert.deepEqual([world.publisher.blocks.size, world.publisher.blocks.blockTokens], [2, 8]);
    assert.deepEqual(shown(world), ["believed", ""]);
  });

  it("and if only its numbers show that it is another process", () => {
    const world = new ScriptedPublisher();
    world.done();
    for (let n = 0; n < 3; n++) world.publish(n, stored(n + 1));
    world.publish(0, stored(9, 8));
    assert.deepEqual(shown(world), ["believed", ""]);
  });
});

describe("what is not known of a cache", () => {
  const ROWS: readonly (readonly [
    name: string,
    why: RegExp,
    options: { hasReplay?: boolean; blocks?: number },
    say: (world: ScriptedPublisher) => void,
  ])[] = [
    [
      "no replay",
      /had stored blocks before its events were followed: with a replay endpoint/,
      { hasReplay: false },
      (world) => world.publish(7, stored(1)),
    ],
    [
      "a replay that begins later",
      /its replay did not go back to its first batch: raise buffer_steps/,
      {},
      (world) => {
        world.replayed(5, stored(1));
        world.done();
      },
    ],
    [
      "a gap, and no replay",
      /some of its batches were missed: with a replay endpoint/,
      { hasReplay: false },
      (world) => {
        world.publish(0, stored(1));
        world.publish(2, stored(2));
      },
    ],
    [
      "a gap in the replay",
      /its replay did not bring all batches that were missed: raise buffer_steps/,
      {},
      (world) => {
        world.replayed(0, stored(1));
        world.replayed(4, stored(2));
        world.done();
      },
    ],
    [
      "a batch that can't be read",
      /a batch of its events can't be read/,
      {},
      (world) => {
        world.done();
        world.publish(0, stored(1));
        world.publish(1, Buffer.from("none"));
      },
    ],
    [
      "blocks of two sizes",
      /its blocks have another size than before, although it did not restart/,
      {},
      (world) => {
        world.done();
        world.publish(0, stored(1));
        world.publish(1, stored(2, 8));
      },
    ],
    [
      "more blocks than are kept",
      /more blocks than are kept: raise maxBlocks/,
      { blocks: 1 },
      (world) => {
        world.done();
        world.publish(0, stored(1));
        world.publish(1, stored(2));
      },
    ],
  ];
  for (const [name, why, options, say] of ROWS)
    it(`is told: ${name}`, () => {
      const world = new ScriptedPublisher(options);
      say(world);
      const [standing, text] = shown(world);
      assert.equal(standing, "partly-known");
      assert.match(text, why);
    });
});

describe("what is warned of", () => {
  const settings = kvEventsSection.schema.parse({});
  const warn = (cache: ReplicaCache, counts = { learned: 1, failed: 9, dropped: 0 }, hasIndex = true) =>
    kvEventsWarnings({ settings, caches: { all: () => [cache] }, rendering: { counts }, hasIndex });

  it("is a replica whose events can't be read, not one of which something is unknown", () => {
    const world = new ScriptedPublisher({ hasReplay: false });
    world.publish(7, stored(1));
    assert.deepEqual(warn(cacheOf(world)), []);
    world.publish(8, Buffer.from("none"));
    assert.match(warn(cacheOf(world))[0]!, /^The cache events of e0 do not count: a batch of its events can't be read/);
  });

  it("is that no prompt's tokens can be known, or that nothing asks", () => {
    const world = new ScriptedPublisher();
    world.done();
    assert.deepEqual(warn(cacheOf(world), { learned: 0, failed: 4, dropped: 0 }), []);
    assert.match(
      warn(cacheOf(world), { learned: 0, failed: 5, dropped: 0 })[0]!,
      /changes nothing: no replica says which tokens/,
    );
    assert.match(warn(cacheOf(world), undefined, false)[0]!, /changes nothing: no plugin of the profile reads prompts/);
  });
});
