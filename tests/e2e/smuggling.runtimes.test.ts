/**
 * Hostile requests: each is answered as the table says, and what the replica's own parser makes of the router's bytes is
 * exactly what the router decided. A replica on a foreign parser (this runtime's `node:http`) must see the same.
 */
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { cleanRequests } from "../support/clean-exchange.ts";
import { type Exchange, MemoryRouter } from "../support/memory-router.ts";
import { openClient } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";
import { offsets } from "../support/sample.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";
import { answersIn } from "../support/whole-answer.ts";
import { cut, singles } from "../support/wire-transcript.ts";
import { BODY, CHAT, CHUNK_ROWS, CODING_ROWS, HEAD_ROWS, LENGTH_ROWS, type Row } from "./smuggling-rows.ts";

/** Sent behind every row: answered in order where the connection is still good, and never where it is not. */
const NEXT_BODY = '{"model":"m","next":true}';
const NEXT = `POST ${CHAT} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: ${NEXT_BODY.length}\r\n\r\n${NEXT_BODY}`;
/** Longer rows are split in fewer places. */
const MOST_SPLITS = 80;
/** Silence for longer than this is a failure; a busy machine needs less. */
const WITHIN_MS = 20_000;

let replica: ScriptedReplica;
let router: TestRouter;
let foreign: ForeignReplica;
let foreignRouter: TestRouter;
before(async () => {
  replica = await startScriptedReplica(
    (_request, socket) => void socket.write(jsonAnswer('{"choices":[{"index":0}],"ok":true}')),
  );
  foreign = await startForeignReplica();
  [router, foreignRouter] = await Promise.all([startTestRouter([replica.url]), startTestRouter([foreign.url])]);
});
after(async () => {
  await Promise.all([router.close(), foreignRouter.close()]);
  await Promise.all([replica.close(), foreign.close()]);
});

describe("hostile requests", () => {
  for (const [group, rows] of Object.entries({ LENGTH_ROWS, CODING_ROWS, CHUNK_ROWS, HEAD_ROWS })) {
    describe(group.slice(0, -5).toLowerCase(), () => {
      for (const row of rows) it(row.name, { timeout: WITHIN_MS }, () => checkRow(row));
    });
  }
});

async function checkRow(row: Row): Promise<void> {
  const sent = Buffer.from(row.sent + NEXT, "latin1");
  const delivered = [
    ...(row.delivered ?? (row.statuses[0] === 200 && row.sent.startsWith("POST") ? [BODY] : [])),
    ...(row.isClosed ? [] : [NEXT_BODY]),
  ];
  const statuses = [...row.statuses, ...(row.isClosed ? [] : [200])];
  const method = /^\S*/.exec(row.sent)![0];
  const statusesOf = (received: string) =>
    answersIn(received, [method])
      .filter(({ isComplete }) => isComplete)
      .map(({ status }) => status);

  const memory = new MemoryRouter(router);
  const whole = await memory.exchange([sent]);
  assert.deepEqual({ ...seenIn(whole), statuses: statusesOf(whole.received) }, { statuses, delivered, isClosed: row.isClosed });
  for (const at of offsets(1, sent.length, MOST_SPLITS))
    assert.deepEqual(await memory.exchange(cut(sent, [at]), "paced"), whole, `split at ${at}`);
  assert.deepEqual(await memory.exchange(singles(sent)), whole, "byte by byte");

  for (const { port, deliveredBodies } of [overSockets(), overForeign()]) {
    const client = await openClient(port);
    client.send(sent);
    const received = row.isClosed
      ? await client.closed()
      : await client.until((text) => statusesOf(text).length >= statuses.length);
    assert.deepEqual(
      { statuses: statusesOf(received), isClosed: client.isClosed, delivered: deliveredBodies() },
      { statuses, isClosed: row.isClosed, delivered },
    );
    client.destroy();
  }
}

function seenIn({ requests, isClosed }: Exchange) {
  return { delivered: requests.map(({ body }) => body.toString("latin1")), isClosed };
}

/** The router over sockets; what its replica received is put through the strict parser byte for byte. */
function overSockets() {
  const before = replica.requests.length;
  return {
    port: router.port,
    deliveredBodies: () => cleanRequests(replica, before).map(({ body }) => body.toString("latin1")),
  };
}

function overForeign() {
  const before = foreign.bodies.length;
  return { port: foreignRouter.port, deliveredBodies: () => foreign.bodies.slice(before) };
}

interface ForeignReplica {
  readonly url: string;
  /** Of each POST, as latin1. */
  readonly bodies: readonly string[];
  close(): Promise<void>;
}

async function startForeignReplica(): Promise<ForeignReplica> {
  const bodies: string[] = [];
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const answer = request.url?.endsWith("/v1/models")
        ? '{"object":"list","data":[{"id":"m","object":"model"}]}'
        : '{"ok":true}';
      if (request.method === "POST") bodies.push(Buffer.concat(parts).toString("latin1"));
      response.writeHead(200, { "content-type": "application/json", "content-length": answer.length });
      response.end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
