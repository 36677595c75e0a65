import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { after, describe, it } from "node:test";
import { isWholeAnswer, openClient, type RawClient } from "../support/raw-client.ts";
import { startRouterProcess } from "../support/router-process.ts";
import { chatPost, event, OK, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

/** A router's process over one replica, whose streams go on until the test ends them. */
async function setUpDrain(spec = "") {
  const streams: Socket[] = [];
  const replica = await startScriptedReplica((request, socket) => {
    if (!request.body.includes(STREAM)) return void socket.write(OK);
    socket.write(STREAM_HEAD + chunkOf(event(1)));
    streams.push(socket);
  });
  const router = await startRouterProcess([replica.url], { spec });
  after(async () => {
    router.kill("SIGKILL");
    await replica.close();
  });
  return { router, streams };
}

async function openStream(port: number): Promise<RawClient> {
  const client = await openClient(port);
  client.send(chatPost(STREAM));
  await client.until((text) => text.includes(event(1)));
  return client;
}

/** Sends requests on one connection, one after the other, until an answer says that it was the last; false if one was lost. */
async function keepAsking(client: RawClient): Promise<boolean> {
  for (let seen = 0; ; ) {
    client.send(chatPost());
    const answer = (await client.until((received) => isWholeAnswer(received.slice(seen)))).slice(seen);
    if (!isWholeAnswer(answer)) return false;
    if (/^connection: close/im.test(answer)) return true;
    seen += answer.length;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    const settle = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
  });
}

describe("SIGTERM", () => {
  it("lets 100 streams finish, closes what is idle, loses nothing, and ends the process soon after", {
    timeout: 60_000,
  }, async () => {
    const { router, streams } = await setUpDrain();
    const clients = await Promise.all(Array.from({ length: 100 }, () => openStream(router.port)));
    const unused = await Promise.all(Array.from({ length: 50 }, () => openClient(router.port)));
    const used = await Promise.all(Array.from({ length: 50 }, () => openClient(router.port)));
    for (const client of used) client.send(chatPost());
    await Promise.all(used.map((client) => client.until(isWholeAnswer)));
    const asking = (await Promise.all(Array.from({ length: 10 }, () => openClient(router.port)))).map(keepAsking);
    // These have connected and sent before the signal, but the router may not know of them yet.
    const late = await Promise.all(Array.from({ length: 50 }, () => openClient(router.port)));
    for (const client of late) client.send(chatPost());

    const killedMs = performance.now();
    router.kill("SIGTERM");
    await Promise.all([...unused, ...used].map((client) => client.closed()));
    const idleMs = performance.now() - killedMs;
    assert.deepEqual(
      await Promise.all(asking),
      asking.map(() => true),
    );
    for (const client of late) assert.match(await client.until(isWholeAnswer), /^HTTP\/1\.1 200 /);
    assert.equal(await connects(router.port), false);
    for (const client of clients) assert.ok(!client.isClosed);
    for (const socket of streams) socket.write(chunkOf(event(2)) + LAST_CHUNK);
    for (const client of clients) {
      const answer = wholeAnswer(await client.until((text) => text.endsWith(LAST_CHUNK)));
      assert.equal(answer.body, event(1) + event(2));
      assert.ok(answer.isComplete);
    }
    const lastMs = performance.now();
    const { code, atMs } = await router.exited;
    assert.equal(code, 0);
    // Both take well under a second; what would take longer is a timeout of somebody else's, of three seconds and more.
    assert.ok(idleMs < 2_500, `idle connections were closed after ${idleMs} ms`);
    assert.ok(atMs - lastMs < 2_500, `the process ended ${atMs - lastMs} ms after the last stream`);
  });

  it("ends what does not finish in time with the error event", { timeout: 60_000 }, async () => {
    const { router } = await setUpDrain("  limits: { drainTimeoutMs: 300 }");
    const clients = await Promise.all(Array.from({ length: 10 }, () => openStream(router.port)));
    router.kill("SIGTERM");
    for (const client of clients) {
      const answer = wholeAnswer(await client.closed());
      assert.ok(answer.body.startsWith(event(1)));
      assert.match(answer.body, /"code":"shutting_down"/);
      assert.ok(!answer.isComplete);
    }
    assert.equal((await router.exited).code, 0);
  });
});
