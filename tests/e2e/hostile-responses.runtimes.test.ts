/** Answers that are broken or made to be read in two ways: one verdict each, however they arrive, and no connection used again that can't be trusted. */
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { type MemoryAnswer, MemoryRouter } from "../support/memory-router.ts";
import { exchange, openClient, postBytes, readAnswer } from "../support/raw-client.ts";
import { outstanding, startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { offsets } from "../support/sample.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";
import { answersIn } from "../support/whole-answer.ts";
import { cut, singles } from "../support/wire-transcript.ts";

interface Row {
  readonly name: string;
  /** As latin1. */
  readonly answer: string;
  /** What the client gets; an answer that breaks off after its head is not complete. */
  readonly status: number;
  readonly body?: string;
  readonly isComplete?: boolean;
  /** The connection may carry another request. */
  readonly isKept?: boolean;
  /** The replica then ends its side. */
  readonly ending?: "end";
}

const OK = "HTTP/1.1 200 OK\r\n";
const refused = (name: string, answer: string): Row => ({ name, answer, status: 502 });
const broken = (name: string, answer: string, ending?: "end"): Row => ({
  name,
  answer,
  status: 200,
  isComplete: false,
  ...(ending && { ending }),
});
const passed = (name: string, answer: string, body: string, isKept = true): Row => ({ name, answer, status: 200, body, isKept });
const framed = (lines: string, body = "ab") => `${OK}${lines}\r\n\r\n${body}`;

const rows: readonly Row[] = [
  refused("two lengths", framed("Content-Length: 2\r\nContent-Length: 3", "abc")),
  refused("the same length twice", framed("Content-Length: 2\r\nContent-Length: 2")),
  ...["2, 2", "2,3", "+2", "-2", "0x2", "2.0", "", "two", "9007199254740992", "2\x0b"].map((value) =>
    refused(`Content-Length: ${JSON.stringify(value)}`, framed(`Content-Length: ${value}`)),
  ),
  refused("length, then chunked", framed("Content-Length: 2\r\nTransfer-Encoding: chunked", "0\r\n\r\n")),
  refused("chunked, then length", framed("Transfer-Encoding: chunked\r\nContent-Length: 2", "0\r\n\r\n")),
  refused("chunked twice", framed("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n")),
  ...["foo", "gzip, chunked", "chunked, gzip", "chunked, chunked", "identity", "", "xchunked", "chunked;a=b"].map((value) =>
    refused(`Transfer-Encoding: ${JSON.stringify(value)}`, framed(`Transfer-Encoding: ${value}`, "0\r\n\r\n")),
  ),
  refused("chunked in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
  refused("a space before the colon", framed("Content-Length : 2")),
  refused("a length that Connection names", framed("Connection: content-length\r\nContent-Length: 2")),
  refused("bare LF", "HTTP/1.1 200 OK\nContent-Length: 2\n\nab"),
  refused("bare CR", "HTTP/1.1 200 OK\r\nA: b\rC: d\r\nContent-Length: 2\r\n\r\nab"),
  refused("obs-fold", framed("A: b\r\n c\r\nContent-Length: 2")),
  refused("NUL in a header", framed("A: b\0c\r\nContent-Length: 2")),
  refused("an empty line first", `\r\n${framed("Content-Length: 2")}`),
  refused("a header without colon", framed("A\r\nContent-Length: 2")),
  refused("status 099", "HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\nab"),
  refused("status 999", "HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nab"),
  refused("status 20", "HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\nab"),
  refused("101 unasked", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
  refused("fifty interim answers", "HTTP/1.1 100 Continue\r\n\r\n".repeat(50)),
  refused("204 with a body", "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nab"),
  refused("204 with chunks", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
  refused("a 100 KB header", framed(`A: ${"b".repeat(100_000)}\r\nContent-Length: 0`, "")),
  refused("a thousand headers", framed(`${"A: b\r\n".repeat(1000)}Content-Length: 0`, "")),
  refused("a reason of 100 KB", `HTTP/1.1 200 ${"a".repeat(100_000)}`),
  refused("another protocol", "SSH-2.0-OpenSSH\r\n\r\n"),
  refused("a TLS alert", "\x15\x03\x03\x00\x02\x02\x28"),
  refused("ICY", "ICY 200 OK\r\n\r\n"),
  refused("HTTP/0.9", "<html>"),
  refused("HTTP/1.2", "HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n"),
  refused("HTTP/2", "HTTP/2 200 OK\r\nContent-Length: 0\r\n\r\n"),
  { ...refused("half a head, then the end", "HTTP/1.1 200 OK\r\nContent-"), ending: "end" },
  { ...refused("the end at once", ""), ending: "end" },
  { ...refused("an interim answer, then the end", "HTTP/1.1 100 Continue\r\n\r\n"), ending: "end" },

  broken("a chunk size that is none", framed("Transfer-Encoding: chunked", "zz\r\nab\r\n0\r\n\r\n")),
  broken("a chunk size with a space", framed("Transfer-Encoding: chunked", "2 \r\nab\r\n0\r\n\r\n")),
  broken("a chunk size beyond all", framed("Transfer-Encoding: chunked", "fffffffffffffffff\r\nab")),
  broken("a chunk longer than its size", framed("Transfer-Encoding: chunked", "1\r\nab\r\n0\r\n\r\n")),
  broken("LF alone in the chunks", framed("Transfer-Encoding: chunked", "2\nab\n0\n\n")),
  broken("CR and another byte after the data", framed("Transfer-Encoding: chunked", "2\r\nab\rX0\r\n\r\n")),
  broken("CR and another byte after the size", framed("Transfer-Encoding: chunked", "2\rXab\r\n0\r\n\r\n")),
  broken("an endless chunk extension", framed("Transfer-Encoding: chunked", `2;${"a".repeat(20_000)}`)),
  broken("extensions over many chunks", framed("Transfer-Encoding: chunked", "1;aaaaaaa\r\nx\r\n".repeat(3000))),
  broken("endless trailers", framed("Transfer-Encoding: chunked", `0\r\n${"A: b\r\n".repeat(4000)}`)),
  broken("a folded trailer", framed("Transfer-Encoding: chunked", "2\r\nab\r\n0\r\nA: b\r\n c\r\n\r\n")),
  broken("chunks without end", framed("Transfer-Encoding: chunked", "2\r\nab\r\n"), "end"),
  broken("half a chunk", framed("Transfer-Encoding: chunked", "8\r\nab"), "end"),
  broken("a body shorter than its length", framed("Content-Length: 8"), "end"),

  passed("an honest answer", framed("Content-Length: 2"), "ab"),
  passed("no reason phrase", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nab", "ab"),
  passed("an interim answer", `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${framed("Content-Length: 2")}`, "ab"),
  passed("__proto__ as header", framed("__proto__: x\r\nconstructor: y\r\nContent-Length: 2"), "ab"),
  passed(
    "six-fold gzip, which nobody here unpacks",
    framed("Content-Encoding: gzip, gzip, gzip, gzip, gzip, gzip\r\nContent-Length: 2", "\x1f\x8b"),
    "\x1f\x8b",
  ),
  passed(
    "extensions and trailers, which are dropped",
    framed("Trailer: X-T\r\nTransfer-Encoding: chunked", "2;a=b\r\nab\r\n0\r\nX-T: 1\r\nContent-Length: 9\r\n\r\n"),
    "ab",
  ),
  passed("bytes after the body", framed("Content-Length: 2", "abc"), "ab", false),
  passed("a second answer at once", framed("Content-Length: 2", `ab${framed("Content-Length: 6", "poison")}`), "ab", false),
  passed("bytes after the last chunk", framed("Transfer-Encoding: chunked", "2\r\nab\r\n0\r\n\r\n\r\n"), "ab", false),
  passed("a last answer", framed("Connection: close\r\nContent-Length: 2"), "ab", false),
  passed("HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nab", "ab", false),
  { ...passed("a body that ends with the connection", framed("A: b"), "ab", false), ending: "end" },
  {
    name: "304 with a length",
    answer: "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n",
    status: 304,
    body: "",
    isKept: true,
  },
  { name: "304 with a body", answer: "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nab", status: 304, body: "" },
  {
    name: "204 with length 0",
    answer: "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
    status: 204,
    body: "",
    isKept: true,
  },
];

const POST = postBytes("/v1/chat/completions", '{"model":"m","messages":[]}');
/** Longer answers are split in fewer places. */
const MOST_SPLITS = 60;
/** Silence for longer than this is a failure; a busy machine needs less. */
const WITHIN_MS = 20_000;

describe("hostile answers", () => {
  let replica: ScriptedReplica;
  let router: TestRouter;
  let answer: MemoryAnswer;
  /** The connection that brought the last request. */
  let used: Socket;
  before(async () => {
    replica = await startScriptedReplica((_request, socket) => {
      used = socket;
      for (const piece of answer.pieces) socket.write(piece);
      if (answer.ending === "end") socket.end();
    });
    router = await startTestRouter([replica.url]);
  });
  after(async () => {
    await router.close();
    await replica.close();
  });

  for (const row of rows) {
    const outcome = row.status === 502 ? "502" : row.isComplete === false ? "breaks off" : "passed on";
    it(`${row.name}: ${outcome}${row.isKept ? "" : ", and the connection is not used again"}`, {
      timeout: WITHIN_MS,
    }, async () => {
      const bytes = Buffer.from(row.answer, "latin1");
      const memory = new MemoryRouter(router);
      const check = async (pieces: readonly Buffer[], how: string) => {
        memory.answer = () => ({ pieces, ending: row.ending });
        const { received, keptUpstream } = await memory.exchange([Buffer.from(POST)]);
        assertAnswered(row, received, keptUpstream > 0, how);
      };
      await check([bytes], "whole");
      for (const at of offsets(1, bytes.length, MOST_SPLITS)) await check(cut(bytes, [at]), `split at ${at}`);
      await check(singles(bytes), "byte by byte");

      answer = { pieces: [bytes], ending: row.ending };
      const client = await openClient(router.port);
      client.send(POST);
      const isWhole = (text: string) => answersIn(text).some(({ isComplete }) => isComplete);
      const received = row.isComplete === false ? await client.closed() : await client.until(isWhole);
      client.destroy();
      if (!row.isKept) await waitUntil(() => !replica.sockets.has(used));
      assertAnswered(row, received, replica.sockets.has(used), "over sockets");
      await waitUntil(() => outstanding(router.router).inFlight === 0);
      assert.deepEqual(outstanding(router.router), { inFlight: 0, prefillTokens: 0 });
    });
  }

  it("a second answer on an idle connection reaches nobody", async () => {
    const poison = jsonAnswer('{"poison":true}');
    answer = { pieces: [Buffer.from(jsonAnswer('{"choices":[{"index":0}],"ok":1}'))] };
    await exchange(router.port, POST);
    used.write(poison);
    await waitUntil(() => !replica.sockets.has(used));
    const second = readAnswer(await exchange(router.port, POST));
    assert.deepEqual([second.status, second.json["ok"]], [200, 1]);
  });
});

function assertAnswered(row: Row, received: string, isKept: boolean, how: string): void {
  const answers = answersIn(received);
  assert.equal(answers.length, 1, how);
  const { status, body, isComplete, headers } = answers[0]!;
  assert.deepEqual(
    { status, isComplete, isKept },
    { status: row.status, isComplete: row.isComplete ?? true, isKept: row.isKept ?? false },
    how,
  );
  if (row.body !== undefined) assert.equal(body, row.body, how);
  if (status === 502) assert.match(body, row.ending === undefined ? /"code":"upstream_invalid"/ : /"code":"upstream_reset"/);
  const dropped = headers.map(([name]) => name).filter((name) => /^(trailer|x-t|link|upgrade|keep-alive)$/.test(name));
  assert.deepEqual(dropped, [], how);
  for (const once of ["content-length", "transfer-encoding", "connection"]) {
    assert.ok(headers.filter(([name]) => name === once).length <= 1, `${once} more than once, ${how}`);
  }
  assert.ok(
    !(headers.some(([name]) => name === "content-length") && headers.some(([name]) => name === "transfer-encoding")),
    how,
  );
}
