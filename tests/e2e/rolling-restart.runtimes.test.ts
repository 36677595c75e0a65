import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, it } from "node:test";
import { obstacleToSharedPorts } from "../../core/runtime/shared-port.ts";
import { isWholeAnswer, openClient, type RawClient } from "../support/raw-client.ts";
import { startRouterProcess } from "../support/router-process.ts";
import { chatPost, event, OK, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const STREAMS = 500;
/** Callers that keep their connections, and as many that open one for each request. */
const CALLERS = 8;
const LAST_REQUEST = "Connection: close\r\n";
const SPEC = "  listen: { reusePort: true }";

async function openStream(port: number): Promise<RawClient> {
  const client = await openClient(port);
  client.send(chatPost(STREAM));
  await client.until((text) => text.includes(event(1)));
  return client;
}

/** A new connection, or null where it was reset or refused before this process saw it open. */
const tryToConnect = (port: number): Promise<RawClient | null> => openClient(port).catch(() => null);

/**
 * Sends requests until it is told to end, on one connection unless `lines` or a response say that it is the last on it; returns how
 * many were answered, and the responses that were not what they should be. Like SDKs, it tries once more what a new connection loses before any answer: where the system does not move connections from a closing process to
 * the other one, one may be lost at that very moment, before or after this process saw it open.
 */
async function keepCalling(port: number, lines: string, isOver: () => boolean): Promise<{ answered: number; failed: string[] }> {
  const outcome = { answered: 0, failed: [] as string[] };
  let isSecondTry = false;
  let client: RawClient | null = null;
  let seen = 0;
  while (!isOver()) {
    if (client === null) {
      client = await tryToConnect(port);
      seen = 0;
    }
    client?.send(chatPost("", lines));
    const received = (await client?.until((text) => isWholeAnswer(text.slice(seen)))) ?? "";
    const answer = received.slice(seen);
    const isAnswered = isWholeAnswer(answer) && answer.startsWith("HTTP/1.1 200 ");
    const isLost: boolean = received === "" && !isSecondTry;
    if (isAnswered) outcome.answered += 1;
    else if (!isLost) outcome.failed.push(answer);
    isSecondTry = isLost;
    seen = received.length;
    if (!isAnswered || /^connection: close/im.test(answer)) {
      client?.destroy();
      client = null;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  client?.destroy();
  return outcome;
}

const obstacle = obstacleToSharedPorts();

it("a new process takes over the port from an old one with 500 streams and loses nothing", {
  timeout: 90_000,
  skip: obstacle || false,
}, async () => {
  const streams: Socket[] = [];
  const replica = await startScriptedReplica((request, socket) => {
    if (!request.body.includes(STREAM)) return void socket.write(OK);
    socket.write(STREAM_HEAD + chunkOf(event(1)));
    streams.push(socket);
  });
  const old = await startRouterProcess([replica.url], { spec: SPEC });
  const routers = [old];
  let isOver = false;
  after(async () => {
    isOver = true;
    for (const router of routers) router.kill("SIGKILL");
    await replica.close();
  });
  const clients = await Promise.all(Array.from({ length: STREAMS }, () => openStream(old.port)));
  const calling = ["", LAST_REQUEST].flatMap((lines) =>
    Array.from({ length: CALLERS }, () => keepCalling(old.port, lines, () => isOver)),
  );

  const fresh = await startRouterProcess([replica.url], { spec: SPEC, port: old.port });
  routers.push(fresh);
  old.kill("SIGTERM");
  for (const socket of streams) socket.write(chunkOf(event(2)));
  for (const client of clients) await client.until((text) => text.includes(event(2)));
  for (const socket of streams) socket.write(chunkOf(event(3)) + LAST_CHUNK);
  for (const client of clients) {
    const answer = wholeAnswer(await client.closed());
    assert.equal(answer.body, event(1) + event(2) + event(3));
    assert.ok(answer.isComplete);
  }
  assert.equal((await old.exited).code, 0);
  // All of these go to the new process.
  const late = await Promise.all(Array.from({ length: 20 }, () => openStream(old.port)));
  isOver = true;
  const outcomes = await Promise.all(calling);
  for (const client of late) client.destroy();
  assert.deepEqual(
    outcomes.flatMap(({ failed }) => failed),
    [],
  );
  assert.ok(outcomes.every(({ answered }) => answered > 5));
});
