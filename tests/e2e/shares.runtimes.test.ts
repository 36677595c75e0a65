import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { askFor } from "../support/admin.ts";
import { isWholeAnswer, openClient, type RawClient, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { startRouterProcess } from "../support/router-process.ts";
import { answerOk, chatPost, event, STREAM, setUp } from "../support/scripted-pool.ts";
import { chunkOf, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";

const LIMIT = 3;

describe("one client address", () => {
  it("has so many connections and no more, until one ends", async () => {
    const { router } = await setUp([answerOk], { spec: `  limits: { perClientConnections: ${LIMIT} }` });
    const clients: RawClient[] = [];
    for (let n = 0; n < LIMIT; n++) {
      const client = await openClient(router.port);
      client.send(chatPost());
      assert.equal(readAnswer(await client.until(isWholeAnswer)).status, 200);
      clients.push(client);
    }
    const further = await openClient(router.port);
    assert.equal(await further.closed(), "");
    clients[0]?.destroy();
    await waitUntil(() => router.server.connections === LIMIT - 1);
    const next = await openClient(router.port);
    next.send(chatPost());
    assert.equal(readAnswer(await next.until(isWholeAnswer)).status, 200);
    for (const client of [...clients, next]) client.destroy();
  });

  it("has so many requests under way; further ones get 429 in the API's words, and the connection stays", async () => {
    const { router, replica } = await setUp([(_request, socket) => void socket.write(STREAM_HEAD + chunkOf(event(0)))], {
      spec: `  limits: { perClientRequests: ${LIMIT} }`,
    });
    const clients: RawClient[] = [];
    for (let n = 0; n < LIMIT; n++) {
      const client = await openClient(router.port);
      client.send(chatPost(STREAM));
      await client.until((received) => received.includes(event(0)));
      clients.push(client);
    }
    const further = await openClient(router.port);
    further.send(chatPost(STREAM));
    const { status, head, json } = readAnswer(await further.until(isWholeAnswer));
    assert.equal(status, 429);
    assert.match(head, /\r\nretry-after: 1\r\n/);
    assert.equal((json["error"] as { code: string }).code, "client_saturated");
    further.send("GET /health HTTP/1.1\r\nHost: test\r\n\r\n");
    await further.until((received) => received.includes("HTTP/1.1 200 "));
    clients[0]?.destroy();
    await waitUntil(() => replica.requests.length === LIMIT && router.router.pool.load.inFlight[0] === LIMIT - 1);
    const next = await openClient(router.port);
    next.send(chatPost(STREAM));
    await next.until((received) => received.includes(event(0)));
    assert.match(next.received, /^HTTP\/1\.1 200 /);
    for (const client of [...clients, further, next]) client.destroy();
  });
});

it("the admin port responds while the data port is full, one line says that it is, and it recovers", {
  timeout: 60_000,
}, async () => {
  const replica = await startScriptedReplica(answerOk);
  const router = await startRouterProcess([replica.url], { openFiles: 256, hasAdmin: true });
  after(async () => {
    router.kill("SIGKILL");
    await replica.close();
  });
  const open = () => openClient(router.port).catch(() => undefined);
  const crowd = (await Promise.all(Array.from({ length: 520 }, open))).filter((client) => client !== undefined);
  await waitUntil(() => crowd.some(({ isClosed }) => isClosed));
  const { status, body } = await askFor(router.adminPort, "/status");
  assert.equal(status, 200);
  const { acceptPauses, clientConnections } = JSON.parse(body) as { acceptPauses: number; clientConnections: number };
  assert.equal(acceptPauses, 1);
  assert.ok(clientConnections > 10, `${clientConnections} connections`);
  assert.match((await askFor(router.adminPort, "/metrics")).body, /^signalbox_accept_pauses_total 1$/m);
  await waitUntil(() => router.printed.includes("No more client connections"));
  assert.equal(router.printed.split("No more client connections").length, 2, "one line");
  for (const client of crowd) client.destroy();
  for (let tries = 0; tries < 20; tries++) {
    const client = await open();
    client?.send(chatPost());
    const received = await client?.until(isWholeAnswer);
    client?.destroy();
    if (received?.startsWith("HTTP/1.1 200 ")) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert.fail("nobody is served any more");
});
