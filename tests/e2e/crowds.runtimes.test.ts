import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, describe, it } from "node:test";
import { quantile } from "../../apps/lab/simulate/metrics.ts";
import { exchange, isWholeAnswer, openClient, type RawClient, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { type RouterProcessOptions, startRouterProcess } from "../support/router-process.ts";
import { answerOk, chatPost, event, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const CROWD = 5_000;
/** Of the crowd, those that send a head byte by byte: each one byte in five seconds. */
const SLOW_BYTES_PER_S = CROWD / 5;
const ROUNDS = 5;

async function setUpProcess(options: RouterProcessOptions = {}, script = answerOk) {
  const replica = await startScriptedReplica(script);
  const router = await startRouterProcess([replica.url], options);
  after(async () => {
    router.kill("SIGKILL");
    await replica.close();
  });
  return { router };
}

/** Opens so many connections, some at a time; those that fail are left out. */
async function openMany(port: number, count: number, atOnce = 100): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  for (let opened = 0; opened < count; opened += atOnce) {
    const batch = Array.from({ length: atOnce }, () => openClient(port).catch(() => undefined));
    for (const client of await Promise.all(batch)) if (client !== undefined) clients.push(client);
  }
  return clients;
}

/** The quickest of several rounds' slow requests: what is left when the noise of the machine is not. */
async function slowRequestMs(port: number): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const durationsMs: number[] = [];
    for (let i = 0; i < 100; i++) {
      const beganMs = performance.now();
      const answer = readAnswer(await exchange(port, chatPost()));
      durationsMs.push(performance.now() - beganMs);
      assert.equal(answer.status, 200);
    }
    rounds.push(
      quantile(
        durationsMs.sort((a, b) => a - b),
        0.95,
      ),
    );
  }
  return Math.min(...rounds);
}

describe("a crowd of streams", () => {
  it("of 1,000 at once loses none", { timeout: 60_000 }, async () => {
    const streams: Socket[] = [];
    const { router } = await setUpProcess({}, (_request, socket) => {
      socket.write(STREAM_HEAD);
      streams.push(socket);
    });
    const clients = await openMany(router.port, 1_000);
    for (const client of clients) client.send(chatPost(STREAM));
    await waitUntil(() => streams.length === clients.length, 30_000);
    const events = Array.from({ length: 10 }, (_, n) => event(n));
    for (const text of events) {
      for (const socket of streams) socket.write(chunkOf(text));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    for (const socket of streams) socket.write(LAST_CHUNK);
    for (const client of clients) {
      const answer = wholeAnswer(await client.until((text) => text.endsWith(LAST_CHUNK)));
      assert.equal(answer.body, events.join(""));
      assert.ok(answer.isComplete);
      client.destroy();
    }
  });
});

describe("a crowd of connections that ask for nothing", () => {
  it("5,000 of them, each with a byte of a head now and then, do not slow down others", { timeout: 60_000 }, async () => {
    const { router } = await setUpProcess();
    const alone = await slowRequestMs(router.port);
    const before = router.residentBytes;
    const crowd = await openMany(router.port, CROWD);
    assert.equal(crowd.length, CROWD);
    let next = 0;
    const timer = setInterval(() => {
      for (let i = 0; i < SLOW_BYTES_PER_S / 20; i++) crowd[next++ % CROWD]!.send("G");
    }, 50);
    const crowded = await slowRequestMs(router.port);
    clearInterval(timer);
    const perConnection = (router.residentBytes - before) / CROWD;
    for (const client of crowd) client.destroy();
    assert.ok(crowded < 2 * alone + 5, `${alone} ms alone, ${crowded} ms in the crowd`);
    assert.ok(perConnection < 64 * 1024, `${perConnection} bytes for each`);
  });

  it("more of them than there are file descriptors: those it has are served, and others once there is room", {
    timeout: 60_000,
  }, async () => {
    const { router } = await setUpProcess({ openFiles: 256 });
    const first = await openClient(router.port);
    // All at once, which is worse than one after the other.
    const crowd = await openMany(router.port, 800, 800);
    await waitUntil(() => crowd.some(({ isClosed }) => isClosed));
    first.send(chatPost());
    assert.match(await first.until(isWholeAnswer), /^HTTP\/1\.1 200 /);
    for (const client of crowd) client.destroy();
    await waitUntil(() => crowd.every(({ isClosed }) => isClosed));
    // The router sees the last of them leave a moment later.
    for (let tries = 0; tries < 20; tries++) {
      if (await openClient(router.port).then(isServed, () => false)) return;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    assert.fail("nobody is served any more");
  });
});

async function isServed(client: RawClient): Promise<boolean> {
  client.send(chatPost());
  const isOver = () => client.isClosed || isWholeAnswer(client.received);
  await waitUntil(isOver, 1_000).catch(() => {});
  client.destroy();
  return readAnswer(client.received).status === 200;
}
