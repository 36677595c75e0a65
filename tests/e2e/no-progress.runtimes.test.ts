/** What counts as silence of a replica, and what becomes of those who wait for it. */
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import { openClient } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { assertIdle, chatPost, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";
import { setUpUsual } from "../support/usual-pool.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

/** More than sockets and kernels take between a replica and a client that reads nothing. */
const LONG = { pieces: 400, text: "x".repeat(60_000) };

let flooding: Socket | undefined;
const floods: Script = (_request, socket) => {
  flooding = socket;
  socket.write(STREAM_HEAD);
  for (let n = 0; n < LONG.pieces; n++) socket.write(chunkOf(`data: ${LONG.text}\n\n`));
};
const sendsHead: Script = (_request, socket) => void socket.write(STREAM_HEAD);

describe("a replica that makes no progress", () => {
  it("is not one whose client stopped reading", { timeout: 60_000 }, async () => {
    const { router, pass, ejections } = await setUpUsual([floods, floods]);
    let isHeld = false;
    const { traffic } = router.router.pool.control;
    const { held, released } = traffic;
    traffic.held = (...args) => {
      isHeld = true;
      held.apply(traffic, args);
    };
    traffic.released = (...args) => {
      isHeld = false;
      released.apply(traffic, args);
    };
    const client = await openClient(router.port);
    client.socket.pause();
    client.send(chatPost(STREAM));
    await waitUntil(() => router.router.pool.load.inFlight.some((count) => count > 0));
    // Until the bytes have filled whatever takes them, and the router holds the replica back.
    for (let unsent = -1; !isHeld || unsent !== flooding?.writableLength; ) {
      unsent = flooding?.writableLength ?? -1;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    for (let second = 0; second < 8; second++) {
      await pass(1);
      assert.equal(ejections(), 0, `after ${second} s`);
    }
    client.destroy();
    await assertIdle(router);
  });

  it("has its streams cut that have a head and nothing behind it", { timeout: 60_000 }, async () => {
    const { router, pass, ejections } = await setUpUsual([sendsHead, sendsHead], "  retries: { wedged: false }\n");
    const client = await openClient(router.port);
    client.send(chatPost(STREAM));
    await client.until((text) => text.includes("\r\n\r\n"));
    for (let second = 0; second < 10 && ejections() === 0; second++) await pass(1);
    assert.equal(ejections(), 1);
    // It waits alone, so it is given half a minute.
    await pass(26);
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
