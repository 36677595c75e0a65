import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { quantile } from "../bench/quantile.ts";
import { exchange, isWholeAnswer, openClient, type RawClient, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { type RouterProcessOptions, startRouterProcess } from "../support/router-process.ts";
import { answerOk, chatPost } from "../support/scripted-pool.ts";
import { startScriptedReplica } from "../support/scripted-replica.ts";

const CROWD = 5_000;
/** Of the crowd, those that send a head byte by byte: each one byte in five seconds. */
const SLOW_BYTES_PER_S = CROWD / 5;
const ROUNDS = 5;

async function setUpProcess(options: RouterProcessOptions = {}) {
  const replica = await startScriptedReplica(answerOk);
  const router = await startRouterProcess([replica.url], options);
  after(async () => {
    router.kill("SIGKILL");
    await replica.close();
  });
  return { router, replica };
}

/** Opens so many connections, a few at a time; those that fail are left out. */
async function openMany(port: number, count: number): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  for (let opened = 0; opened < count; opened += 100) {
    const batch = Array.from({ length: Math.min(100, count - opened) }, () => openClient(port).catch(() => undefined));
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
    const { router } = await setUpProcess({ openFiles: 200 });
    const first = await openClient(router.port);
    const crowd = await openMany(router.port, 400);
    await waitUntil(() => crowd.some(({ isClosed }) => isClosed));
    first.send(chatPost());
    assert.match(await first.until(isWholeAnswer), /^HTTP\/1\.1 200 /);
    for (const client of crowd) client.destroy();
    await waitUntil(() => crowd.every(({ isClosed }) => isClosed));
    // The router sees the last of them leave a moment later.
    for (let tries = 0; tries < 100; tries++) {
      if (await openClient(router.port).then(isServed, () => false)) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.fail("nobody is served any more");
  });
});

async function isServed(client: RawClient): Promise<boolean> {
  client.send(chatPost());
  const answer = await client.until(isWholeAnswer);
  client.destroy();
  return readAnswer(answer).status === 200;
}
