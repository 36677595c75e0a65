import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { startNameServer } from "../support/name-server.ts";
import { isWholeAnswer, openClient } from "../support/raw-client.ts";
import { readyCount, startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { assertIdle, chatPost, event, OK, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";

const TIMEOUT = { timeout: 60_000 };
const HOST = "_http._tcp.vllm.test.example";
const ROUNDS = 12;

/** Three replicas; their streams go on until the test ends them. */
async function startPool() {
  const streams: Socket[] = [];
  const replicas = await Promise.all(
    [1, 2, 3].map(() =>
      startScriptedReplica((request, socket) => {
        if (!request.body.includes(STREAM)) return void setTimeout(() => socket.write(OK), 5);
        socket.write(STREAM_HEAD + chunkOf(event(1)));
        streams.push(socket);
      }),
    ),
  );
  after(() => Promise.all(replicas.map((replica) => replica.close())));
  return { replicas, streams };
}

/** Sends requests until it is told to end; resolves to the status lines of what failed. */
async function keepCalling(router: TestRouter, isOver: () => boolean): Promise<readonly string[]> {
  const failures: string[] = [];
  const client = await openClient(router.port);
  let seen = 0;
  while (!isOver() && !client.isClosed) {
    client.send(chatPost());
    const answer = (await client.until((received) => isWholeAnswer(received.slice(seen)))).slice(seen);
    seen += answer.length;
    if (!answer.startsWith("HTTP/1.1 200 ")) failures.push(answer.split("\r\n")[0]!);
  }
  client.destroy();
  return failures;
}

/** Lists two of three replicas at a time, another two in each round, under load; nothing may be lost. */
async function changeUnderLoad(router: TestRouter, streams: readonly Socket[], list: (replicas: readonly number[]) => void) {
  const names = () => router.router.pool.facts.endpoints.map(({ name }) => name).join();
  await waitUntil(() => readyCount(router.router) === 2);
  const clients = await Promise.all(Array.from({ length: 8 }, () => openClient(router.port)));
  for (const client of clients) client.send(chatPost(STREAM));
  await Promise.all(clients.map((client) => client.until((text) => text.includes(event(1)))));
  let isOver = false;
  const calling = Array.from({ length: 6 }, () => keepCalling(router, () => isOver));
  for (let round = 1; round <= ROUNDS; round++) {
    const before = names();
    list([round % 3, (round + 1) % 3]);
    await waitUntil(() => names() !== before && readyCount(router.router) === 2);
  }
  isOver = true;
  assert.deepEqual((await Promise.all(calling)).flat(), []);
  for (const socket of streams) socket.write(chunkOf(event(2)) + LAST_CHUNK);
  for (const client of clients) {
    assert.ok((await client.until((text) => text.endsWith(LAST_CHUNK))).endsWith(chunkOf(event(2)) + LAST_CHUNK));
    client.destroy();
  }
  await assertIdle(router);
}

describe("replicas that come and go under load: requests under way finish, and none is lost", () => {
  it("by the SRV records of a name", TIMEOUT, async () => {
    const server = await startNameServer();
    const { replicas, streams } = await startPool();
    server.names.set("pod.test.example", { ttl: 0, A: ["127.0.0.1"] });
    const list = (indexes: readonly number[]) => {
      const SRV = indexes.map((index) => ({ target: "pod.test.example", port: replicas[index]!.port }));
      server.names.set(HOST, { ttl: 0, SRV });
    };
    list([0, 1]);
    const parameters = `{ record: SRV, host: ${HOST}, servers: ["${server.address}"], minSeconds: 0.1 }`;
    const router = await startTestRouter([], { spec: `  plugins: [ { type: dns, parameters: ${parameters} } ]` });
    after(async () => {
      await router.close();
      server.close();
    });
    await changeUnderLoad(router, streams, list);
  });

  it("by a file", TIMEOUT, async () => {
    const { replicas, streams } = await startPool();
    const folder = mkdtempSync(join(tmpdir(), "signalbox-found-"));
    const path = join(folder, "replicas.json");
    const list = (indexes: readonly number[]) => {
      writeFileSync(
        `${path}.new`,
        JSON.stringify(indexes.map((index) => ({ url: replicas[index]!.url, labels: { n: `${index}` } }))),
      );
      renameSync(`${path}.new`, path);
    };
    list([0, 1]);
    const parameters = `{ path: "${path}", periodSeconds: 0.1 }`;
    const router = await startTestRouter([], { spec: `  plugins: [ { type: file, parameters: ${parameters} } ]` });
    after(async () => {
      await router.close();
      rmSync(folder, { recursive: true });
    });
    await changeUnderLoad(router, streams, list);
  });
});
