/** Clients that send slowly, or nothing, in numbers: each is let go within its limit, and the others are served meanwhile. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { PARTING_MS } from "../../core/server/connection-state.ts";
import { DEFAULT_LIMITS } from "../../core/settings.ts";
import { MemoryRouter } from "../support/memory-router.ts";
import { postBytes } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

const CHAT = "/v1/chat/completions";
const POST = Buffer.from(postBytes(CHAT, '{"model":"m","messages":[]}'));
const HEAD = Buffer.from(`POST ${CHAT} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`);
const CHUNKED_HEAD = Buffer.from(HEAD.toString().replace("Content-Length: 1000", "Transfer-Encoding: chunked"));
/** A deadline is met within one sweep, and the client's end is waited for two seconds more. */
const LATE_MS = 3000;

interface Row {
  readonly name: string;
  readonly count: number;
  /** Sent at once, then this one byte after every period. */
  readonly first: Buffer;
  readonly repeated: string;
  readonly limitMs: number;
  /** 0 where the connection just ends. */
  readonly status: number;
}

const { headTimeoutMs, bodyTimeoutMs, idleTimeoutMs } = DEFAULT_LIMITS;
const rows: readonly Row[] = [
  {
    name: "a header byte each 5 s",
    count: 5000,
    first: HEAD.subarray(0, 60),
    repeated: "a",
    limitMs: headTimeoutMs,
    status: 408,
  },
  {
    name: "half a head, then silence",
    count: 1000,
    first: HEAD.subarray(0, 60),
    repeated: "",
    limitMs: headTimeoutMs,
    status: 408,
  },
  {
    name: "an empty line, then silence",
    count: 100,
    first: Buffer.from("\r\n"),
    repeated: "",
    limitMs: headTimeoutMs,
    status: 0,
  },
  { name: "a body byte each 5 s", count: 1000, first: HEAD, repeated: " ", limitMs: bodyTimeoutMs, status: 408 },
  { name: "a chunk size byte each 5 s", count: 1000, first: CHUNKED_HEAD, repeated: "0", limitMs: bodyTimeoutMs, status: 408 },
  { name: "a silent body", count: 1000, first: HEAD, repeated: "", limitMs: bodyTimeoutMs, status: 408 },
  { name: "nothing at all", count: 10_000, first: Buffer.alloc(0), repeated: "", limitMs: headTimeoutMs, status: 0 },
  { name: "nothing after an answer", count: 1000, first: POST, repeated: "", limitMs: idleTimeoutMs + PARTING_MS, status: 200 },
];

describe("thousands of slow clients", () => {
  let replica: ScriptedReplica;
  let router: TestRouter;
  before(async () => {
    replica = await startScriptedReplica(
      (_request, socket) => void socket.write(jsonAnswer('{"choices":[{"index":0}],"ok":true}')),
    );
    router = await startTestRouter([replica.url]);
  });
  after(async () => {
    await router.close();
    await replica.close();
  });

  for (const { name, count, first, repeated, limitMs, status } of rows) {
    it(`${name}: all gone after ${limitMs} ms`, async () => {
      const memory = new MemoryRouter(router);
      const clients = Array.from({ length: count }, () => memory.connect());
      if (first.length > 0) for (const client of clients) client.receive(first);
      const open = () => clients.filter(({ isEnded, destroyed }) => !isEnded && !destroyed).length;
      await memory.settle(clients);
      assert.equal(memory.takeRequests().length, status === 200 ? count : 0, "requests at the replica");
      for (let passedMs = 0; passedMs + 5000 < limitMs; passedMs += 5000) {
        await memory.clock.advance(5000);
        if (repeated !== "") for (const client of clients) client.receive(Buffer.from(repeated));
      }
      assert.equal(open(), count, "none before its limit");
      assert.match((await memory.exchange([POST])).received, /^HTTP\/1\.1 200 /, "others are served");
      await memory.clock.advance(5000 + LATE_MS);
      await memory.settle(clients);
      assert.equal(open(), 0);
      const answers = new Set(clients.map((client) => client.takeWritten().toString("latin1", 0, 12)));
      assert.deepEqual([...answers], [status === 0 ? "" : `HTTP/1.1 ${status}`]);
      assert.equal(memory.takeRequests().length, 0);
    });
  }
});
