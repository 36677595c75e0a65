import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import { FakeClock } from "../support/fake-clock.ts";
import { openClient, readAnswer } from "../support/raw-client.ts";
import { readyCount, type TestRouter, waitUntil } from "../support/router.ts";
import { assertIdle, chatPost, event, STREAM, setUp } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, type ScriptedReplica, STREAM_HEAD } from "../support/scripted-replica.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const SECOND_MS = 1_000;

/** A router on a clock that the test moves, over one replica that says only what the test lets it say. */
async function setUpSilence() {
  const clock = new FakeClock();
  const sockets: Socket[] = [];
  const { router, replica } = await setUp([(_request, socket) => void sockets.push(socket)], { clock, ready: 0 });
  /** Lets seconds go by, and what happens on sockets in each of them happen. */
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      await clock.advance(SECOND_MS);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const passUntil = async (isTrue: () => boolean, mostSeconds: number) => {
    for (let second = 0; second < mostSeconds && !isTrue(); second++) await pass(1);
    // A probe under way needs its own time.
    await waitUntil(isTrue);
  };
  const isReady = () => readyCount(router.router) === 1;
  await passUntil(isReady, 10);
  const ask = async () => {
    const client = await openClient(router.port);
    client.send(chatPost(STREAM));
    await waitUntil(() => sockets.length === 1);
    return { client, socket: sockets[0]! };
  };
  return { router, replica, pass, passUntil, isReady, ask };
}

/** The replica's process is gone for its probes, but what it has open stays open and says nothing. */
async function vanish(replica: ScriptedReplica): Promise<void> {
  await replica.refuse();
}

async function assertOver(router: TestRouter, replica: ScriptedReplica): Promise<void> {
  await waitUntil(() => replica.sockets.size === 0);
  await assertIdle(router);
}

describe("silence", () => {
  it("of 310 s before the head, before the first token and in mid-stream is survived", { timeout: 60_000 }, async () => {
    const { router, pass, ask } = await setUpSilence();
    const { client, socket } = await ask();
    await pass(310);
    socket.write(STREAM_HEAD);
    await client.until((text) => text.includes("\r\n\r\n"));
    await pass(310);
    socket.write(chunkOf(event(1)));
    await client.until((text) => text.includes(event(1)));
    await pass(310);
    socket.write(chunkOf(event(2)) + LAST_CHUNK);
    const answer = wholeAnswer(await client.until((text) => text.endsWith(LAST_CHUNK)));
    assert.equal(answer.body, event(1) + event(2));
    assert.ok(answer.isComplete);
    client.destroy();
    await assertIdle(router);
  });

  it("in mid-stream on a replica that is declared gone ends in the error event", { timeout: 60_000 }, async () => {
    const { router, replica, pass, passUntil, isReady, ask } = await setUpSilence();
    const { client, socket } = await ask();
    socket.write(STREAM_HEAD + chunkOf(event(1)));
    await client.until((text) => text.includes(event(1)));
    await vanish(replica);
    await passUntil(() => !isReady(), 60);
    await pass(10);
    const answer = wholeAnswer(await client.closed());
    assert.ok(answer.body.startsWith(event(1)));
    assert.match(answer.body, /\n\ndata: \{"error":.*"upstream_reset".*\}\n\n$/);
    assert.ok(!answer.isComplete);
    await assertOver(router, replica);
  });

  it("before the head on a replica that is declared gone is 502", { timeout: 60_000 }, async () => {
    const { router, replica, pass, passUntil, isReady, ask } = await setUpSilence();
    const { client } = await ask();
    await vanish(replica);
    await passUntil(() => !isReady(), 60);
    await pass(10);
    const { status, json } = readAnswer(await client.until((text) => text.endsWith("}}")));
    assert.equal(status, 502);
    assert.equal((json["error"] as { code: string }).code, "upstream_reset");
    client.destroy();
    await assertOver(router, replica);
  });

  it("does not end a stream that still speaks now and then, wherever its replica is", { timeout: 60_000 }, async () => {
    const { replica, pass, passUntil, isReady, ask } = await setUpSilence();
    const { client, socket } = await ask();
    socket.write(STREAM_HEAD);
    await vanish(replica);
    await passUntil(() => !isReady(), 60);
    for (let n = 0; n < 10; n++) {
      socket.write(chunkOf(event(n)));
      await client.until((text) => text.includes(event(n)));
      await pass(4);
    }
    socket.write(LAST_CHUNK);
    assert.ok(wholeAnswer(await client.until((text) => text.endsWith(LAST_CHUNK))).isComplete);
    client.destroy();
  });

  it("does not end a stream whose replica is back in time", { timeout: 60_000 }, async () => {
    const { replica, pass, passUntil, isReady, ask } = await setUpSilence();
    const { client, socket } = await ask();
    socket.write(STREAM_HEAD);
    await vanish(replica);
    await passUntil(() => !isReady(), 60);
    await replica.listenAgain();
    await passUntil(isReady, 4);
    await pass(60);
    socket.write(chunkOf(event(1)) + LAST_CHUNK);
    const answer = wholeAnswer(await client.until((text) => text.endsWith(LAST_CHUNK)));
    assert.equal(answer.body, event(1));
    assert.ok(answer.isComplete);
    client.destroy();
  });
});
