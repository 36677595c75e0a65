/** What counts as silence of a replica, and what becomes of those who wait for it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FakeClock } from "../support/fake-clock.ts";
import { exchange, openClient } from "../support/raw-client.ts";
import { readyCount, waitUntil } from "../support/router.ts";
import { assertIdle, chatPost, event, STREAM, setUp } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const SECOND_MS = 1_000;
/** Each replica answers so many requests at once, and what is usual is known of it. */
const USUAL = 4;
/** More than sockets and kernels take between a replica and a client that reads nothing. */
const LONG = { pieces: 400, text: "x".repeat(60_000) };

/** A router on a clock that the test moves, over two replicas whose usual speed it knows. */
async function setUpUsual(script: Script) {
  const clock = new FakeClock();
  let isUsual = true;
  const usualFirst: Script = (request, socket) => {
    if (isUsual) socket.write(STREAM_HEAD + chunkOf(event(1)) + LAST_CHUNK);
    else script(request, socket);
  };
  const { router, replicas } = await setUp([usualFirst, usualFirst], { clock, ready: 0 });
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      await clock.advance(SECOND_MS);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  for (let second = 0; second < 10 && readyCount(router.router) < 2; second++) await pass(1);
  await waitUntil(() => readyCount(router.router) === 2);
  while (replicas.some(({ requests }) => requests.length < USUAL)) await exchange(router.port, chatPost(STREAM));
  isUsual = false;
  return {
    router,
    pass,
    ejections: () => router.router.pool.facts.endpoints.filter(({ ejection }) => ejection !== undefined).length,
  };
}

describe("a replica that makes no progress", () => {
  it("is not one whose client stopped reading", { timeout: 60_000 }, async () => {
    const { router, pass, ejections } = await setUpUsual((_request, socket) => {
      socket.write(STREAM_HEAD);
      for (let n = 0; n < LONG.pieces; n++) socket.write(chunkOf(`data: ${LONG.text}\n\n`));
    });
    const client = await openClient(router.port);
    client.socket.pause();
    client.send(chatPost(STREAM));
    await waitUntil(() => router.router.pool.load.inFlight.some((count) => count > 0));
    // Until the bytes have filled whatever takes them.
    await new Promise((resolve) => setTimeout(resolve, 300));
    for (let second = 0; second < 8; second++) {
      await pass(1);
      assert.equal(ejections(), 0, `after ${second} s`);
    }
    client.destroy();
    await assertIdle(router);
  });

  it("has its streams cut that have a head and nothing behind it", { timeout: 60_000 }, async () => {
    const { router, pass, ejections } = await setUpUsual((_request, socket) => void socket.write(STREAM_HEAD));
    const client = await openClient(router.port);
    client.send(chatPost(STREAM));
    await client.until((text) => text.includes("\r\n\r\n"));
    for (let second = 0; second < 10 && ejections() === 0; second++) await pass(1);
    assert.equal(ejections(), 1);
    await pass(1);
    const answer = wholeAnswer(await client.closed());
    assert.match(answer.body, /^data: \{"error":/);
    assert.ok(!answer.isComplete);
    assert.deepEqual(
      router.log.at(-1)?.attempts.map(({ result }) => result),
      ["wedged"],
    );
    await assertIdle(router);
  });
});
