import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { systemClock } from "../../../../core/contract/clock.ts";
import { toldAddresses } from "../../../../plugins/features/kv-events/addresses.ts";
import { tokenKeys } from "../../../../plugins/features/kv-events/prompts/token-keys.ts";
import { Publisher } from "../../../../plugins/features/kv-events/publisher.ts";
import { makeEndpoint } from "../../../support/endpoints.ts";
import { batch, CLEARED, removedMap, storedMap, tokensFrom } from "../../../support/event-batches.ts";
import { closedPort, EventPublisher, type EventPublisherOptions, startTalker } from "../../../support/event-publisher.ts";
import { waitUntil } from "../../../support/router.ts";

const MAX_BYTES = 64 * 1024;

describe("what is followed of a publisher", () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function publisherOf(options: EventPublisherOptions = {}): Promise<EventPublisher> {
    const engine = await EventPublisher.start(options);
    ends.push(() => engine.close());
    return engine;
  }

  function follow(sources: string): Publisher & { emptied: number } {
    const [address] = toldAddresses(sources, makeEndpoint(0));
    const publisher: Publisher & { emptied: number } = Object.assign(
      new Publisher({
        wire: undefined,
        ...{ clock: systemClock, random: () => 0.5, address: address!, topic: "", maxMessageBytes: MAX_BYTES },
        ...{ budget: { left: 10_000 }, emptied: () => void publisher.emptied++ },
      }),
      { emptied: 0 },
    );
    ends.push(() => publisher.stop());
    return publisher;
  }

  const sourcesAt = (port: number) => JSON.stringify([{ endpoint: `tcp://*:${port}`, replay_endpoint: null }]);
  const stored = (hash: number, time = hash) =>
    batch([storedMap({ hashes: [BigInt(hash)], tokens: tokensFrom(10 * hash, 4) })], time);
  const holds = ({ blocks }: Publisher, hash: number) => {
    const [low, high] = tokenKeys(tokensFrom(10 * hash, 4), 4, { adapter: "", salt: "" });
    return blocks.holds(low!, high!);
  };
  const following = (publisher: Publisher) => waitUntil(() => publisher.state === "following");

  it("takes batches as they come, the first of all included", async () => {
    const engine = await publisherOf();
    engine.publish(stored(1));
    const publisher = follow(engine.sources);
    await following(publisher);
    engine.publish(stored(2));
    await waitUntil(() => holds(publisher, 2));
    assert.ok(holds(publisher, 1));
    assert.equal(publisher.blocks.isWhole, true);
    assert.deepEqual([publisher.gaps, publisher.restarts, publisher.malformed], [0, 0, 0]);
  });

  it("greets a peer that sends byte by byte, and one without topics in its replay", async () => {
    const engine = await publisherOf({ isSlow: true, hasTopic: false });
    engine.publish(stored(1));
    const publisher = follow(engine.sources);
    await waitUntil(() => holds(publisher, 1));
  });

  it("asks again for what was lost", async () => {
    const engine = await publisherOf();
    const publisher = follow(engine.sources);
    await following(publisher);
    engine.publish(stored(1));
    engine.publish(stored(2), true);
    engine.publish(stored(3), true);
    engine.publish(stored(4));
    await waitUntil(() => holds(publisher, 4));
    assert.ok(holds(publisher, 2) && holds(publisher, 3));
    assert.equal(publisher.gaps, 1);
    assert.equal(publisher.blocks.isWhole, true);
    assert.equal(engine.replays.length, 2);
  });

  it("forgets what may be wrong where nobody can be asked", async () => {
    const engine = await publisherOf({ hasReplay: false });
    const publisher = follow(engine.sources);
    await waitUntil(() => engine.subscribers === 1);
    engine.publish(stored(1));
    await waitUntil(() => holds(publisher, 1));
    assert.equal(publisher.blocks.isWhole, true);
    engine.publish(stored(2), true);
    engine.publish(stored(3));
    await waitUntil(() => holds(publisher, 3));
    assert.equal(holds(publisher, 1), false);
    assert.equal(publisher.blocks.isWhole, false);
  });

  it("forgets what may be wrong where the engine keeps too little", async () => {
    const engine = await publisherOf({ keeps: 2 });
    const publisher = follow(engine.sources);
    await following(publisher);
    engine.publish(stored(1));
    await waitUntil(() => holds(publisher, 1));
    for (const hash of [2, 3, 4]) engine.publish(stored(hash), true);
    engine.publish(stored(5));
    await waitUntil(() => holds(publisher, 5));
    assert.equal(holds(publisher, 1), false);
    assert.equal(publisher.blocks.isWhole, false);
    engine.publish(batch([CLEARED], 9));
    await waitUntil(() => publisher.blocks.isWhole);
    assert.equal(publisher.emptied, 2);
  });

  it("goes on after a connection is lost, with what came meanwhile", async () => {
    const engine = await publisherOf();
    const publisher = follow(engine.sources);
    await following(publisher);
    engine.publish(stored(1));
    await waitUntil(() => holds(publisher, 1));
    engine.disconnect();
    await waitUntil(() => publisher.state === "connecting");
    assert.equal(publisher.trouble, "it closed the connection");
    engine.publish(stored(2));
    engine.publish(batch([removedMap([1n])], 3));
    await waitUntil(() => holds(publisher, 2) && publisher.state === "following");
    assert.equal(holds(publisher, 1), false);
    assert.equal(publisher.blocks.isWhole, true);
    assert.equal(publisher.emptied, 0);
  });

  it("notices a new process by its numbers, and by the times of its batches", async () => {
    const engine = await publisherOf();
    const publisher = follow(engine.sources);
    await following(publisher);
    engine.publish(stored(1));
    await waitUntil(() => holds(publisher, 1));
    engine.restart();
    engine.publish(stored(2, 50));
    engine.publish(stored(3, 51));
    await waitUntil(() => holds(publisher, 3));
    assert.deepEqual([holds(publisher, 1), holds(publisher, 2)], [false, true]);
    assert.equal(publisher.blocks.isWhole, true);
    assert.equal(publisher.restarts, 1);
    assert.equal(publisher.emptied, 1);
  });

  it("forgets all where a batch can't be read", async () => {
    const engine = await publisherOf();
    const publisher = follow(engine.sources);
    await following(publisher);
    engine.publish(stored(1));
    engine.publish(Buffer.from("no batch"));
    engine.publish(stored(3));
    await waitUntil(() => holds(publisher, 3));
    assert.equal(publisher.malformed, 1);
    assert.equal(holds(publisher, 1), false);
  });

  const HEAD = Buffer.concat([
    Buffer.from([0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 3, 0]),
    Buffer.from("NULL".padEnd(20, "\0")),
    Buffer.alloc(32),
  ]);
  const plain = Buffer.from(HEAD);
  plain.write("PLAIN", 12);
  const HOSTILE: readonly (readonly [name: string, says: Buffer, why: RegExp])[] = [
    ["another service", Buffer.from("HTTP/1.1 400 Bad Request\r\n"), /another service/],
    ["an old version", Buffer.concat([HEAD.subarray(0, 10), Buffer.from([1]), HEAD.subarray(11)]), /speaks ZMTP 1/],
    ["another mechanism", plain, /security mechanism/],
    [
      "another kind of socket",
      Buffer.concat([HEAD, Buffer.from("\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03REP", "latin1")]),
      /type PUB/,
    ],
    ["a message too early", Buffer.concat([HEAD, Buffer.from([0, 1, 65])]), /before it was ready/],
    ["unknown flags", Buffer.concat([HEAD, Buffer.from([0xf0, 1, 65])]), /unknown flags/],
    ["a huge frame", Buffer.concat([HEAD, Buffer.from([2, 0x7f, 255, 255, 255, 255, 255, 255, 255])]), /more than 65536 bytes/],
    [
      "many parts",
      Buffer.concat([HEAD, Buffer.from([1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0])]),
      /more than 8 parts/,
    ],
  ];
  for (const [name, says, why] of HOSTILE)
    it(`ends the connection with ${name}`, async () => {
      const talker = await startTalker(says);
      ends.push(() => talker.close());
      const publisher = follow(sourcesAt(talker.port));
      await waitUntil(() => why.test(publisher.trouble));
      assert.equal(publisher.state, "connecting");
    });

  it("says that nobody listens, and connects when somebody does", async () => {
    const publisher = follow(sourcesAt(await closedPort()));
    await waitUntil(() => publisher.trouble === "nobody listens at its address");
    assert.equal(publisher.state, "connecting");
  });

  it("ends the connection of a publisher of something else, or of a message that is too long", async () => {
    const engine = await publisherOf({ hasReplay: false });
    const publisher = follow(engine.sources);
    await waitUntil(() => engine.subscribers === 1);
    engine.send(Buffer.from("weather"), Buffer.from("rain"));
    await waitUntil(() => publisher.trouble === "what it publishes are no events of a cache");
    await waitUntil(() => engine.subscribers === 1);
    engine.send(Buffer.from("kv"), Buffer.alloc(8), Buffer.alloc(MAX_BYTES));
    await waitUntil(() => /more than 65536 bytes/.test(publisher.trouble));
  });

  it("answers pings", async () => {
    const engine = await publisherOf({ hasReplay: false });
    const publisher = follow(engine.sources);
    await waitUntil(() => engine.subscribers === 1);
    engine.sendBytes(Buffer.from("\x04\x0a\x04PING\x00\x0aabc", "latin1"));
    await waitUntil(() => engine.pongs.length === 1);
    assert.equal(engine.pongs[0], "abc");
    assert.equal(publisher.state, "following");
  });
});
