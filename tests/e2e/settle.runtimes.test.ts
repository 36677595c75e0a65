import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, describe, it } from "node:test";
import { exchange, openClient, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { startRouterProcess } from "../support/router-process.ts";
import { chatPost, event, OK, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";

const TIMEOUT = { timeout: 60_000 };
/** Longer than two signals may be apart to count as one. */
const APART_MS = 700;
const READY = "GET /ready HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";

/** A router's process with one open stream. */
async function setUp(limits: string) {
  const streams: Socket[] = [];
  const replica = await startScriptedReplica((request, socket) => {
    if (!request.body.includes(STREAM)) return void socket.write(OK);
    socket.write(STREAM_HEAD + chunkOf(event(1)));
    streams.push(socket);
  });
  const router = await startRouterProcess([replica.url], { spec: `  limits: ${limits}` });
  after(async () => {
    router.kill("SIGKILL");
    await replica.close();
  });
  const client = await openClient(router.port);
  client.send(chatPost(STREAM));
  await client.until((text) => text.includes(event(1)));
  return { router, client, stream: streams[0]! };
}

describe("SIGTERM with a settle time", () => {
  it("/ready says 503 at once while new clients are served; then none are, and the stream ends whole", TIMEOUT, async () => {
    const { router, client, stream } = await setUp("{ settleMs: 1500 }");
    assert.equal(readAnswer(await exchange(router.port, READY)).status, 200);
    const killedMs = performance.now();
    router.kill("SIGTERM");
    await waitUntil(() => router.errors.includes("settle time"));
    const refused = readAnswer(await exchange(router.port, READY));
    assert.equal(refused.status, 503);
    assert.deepEqual(refused.json, { ready: 1, endpoints: 1, stopping: true });
    const served = readAnswer(await exchange(router.port, chatPost()));
    assert.equal(served.status, 200);
    assert.doesNotMatch(served.head, /connection: close/i);

    await waitUntil(() => router.errors.includes("waiting for requests in progress"));
    assert.ok(performance.now() - killedMs >= 1_400);
    let isRefused = false;
    while (!isRefused) {
      isRefused = await openClient(router.port).then(
        (late) => {
          late.destroy();
          return false;
        },
        () => true,
      );
    }
    stream.write(chunkOf(event(2)) + LAST_CHUNK);
    assert.ok((await client.closed()).endsWith(chunkOf(event(2)) + LAST_CHUNK));
    assert.equal((await router.exited).code, 0);
  });
});

describe("a second signal", () => {
  it("ends the process at once, settling or not", TIMEOUT, async () => {
    for (const limits of ["{ settleMs: 60000 }", "{ settleMs: 0 }"]) {
      const { router, client } = await setUp(limits);
      router.kill("SIGTERM");
      await waitUntil(() => /settle time|waiting for requests in progress/.test(router.errors));
      assert.ok(!client.isClosed);
      // Signals that come close together are one, and how close they come is up to the machine.
      const again = setInterval(() => router.kill("SIGTERM"), APART_MS);
      assert.equal((await router.exited).code, 130);
      clearInterval(again);
      await client.closed();
    }
  });

  it("that comes together with the first one is the same one", TIMEOUT, async () => {
    const { router, client, stream } = await setUp("{}");
    router.kill("SIGINT");
    router.kill("SIGINT");
    await waitUntil(() => router.errors.includes("waiting for requests in progress"));
    router.kill("SIGTERM");
    stream.write(LAST_CHUNK);
    assert.ok((await client.closed()).endsWith(LAST_CHUNK));
    assert.equal((await router.exited).code, 0);
  });
});
