/**
 * Requests that are refused before their body has been read: the next request on the connection works, or the client was told
 * that the connection closes.
 */
import assert from "node:assert/strict";
import { Agent, request as httpRequest } from "node:http";
import { after, before, describe, it } from "node:test";
import { isWholeAnswer, openClient, postBytes } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";
import { answerOk, CHAT, chatBody, chatPost } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";
import { answersIn } from "../support/whole-answer.ts";

const KIB = 1024;
/** The most that is read away after a response, to keep the connection. */
const MOST_SKIPPED_BYTES = 64 * KIB;
const BODY_LIMIT_BYTES = 500_000;
/** Seen as wrong at its tenth byte or so, with the rest still to come. */
const TWO_MODELS = '{"model":"m","model":"m","a":"';

/** A body of so many bytes that is refused as soon as its beginning has come. */
const twoModels = (bytes: number) => `${TWO_MODELS.padEnd(bytes - 2, "a")}"}`;
const chunkedPost = (path: string, chunks: string) =>
  `POST ${path} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`;
/** The beginning of a request that has `left` bytes more; those come once the response is there. */
const cutBefore = (request: string, left: number) => [request.slice(0, request.length - left), request.slice(-left)] as const;

interface Row {
  readonly name: string;
  readonly sent: string;
  /** Sent once the response is there. */
  readonly rest?: string;
  readonly status: number;
  readonly isKept: boolean;
}

const unknownPath = (bytes: number) => cutBefore(postBytes("/nope", "x".repeat(bytes)), bytes);
const refusedAt = (bytes: number, left: number) => cutBefore(postBytes(CHAT, twoModels(bytes)), left);
const row = (name: string, [sent, rest]: readonly [string, string?], status: number, isKept: boolean): Row => ({
  name,
  sent,
  ...(rest !== undefined && { rest }),
  status,
  isKept,
});

const ROWS: readonly Row[] = [
  row("an unknown path, the body behind the head", [postBytes("/nope", "{}")], 404, true),
  row("an unknown path, the body later", unknownPath(100), 404, true),
  row("an unknown path, as much later as is read away", unknownPath(MOST_SKIPPED_BYTES), 404, true),
  row("an unknown path, a byte more later", unknownPath(MOST_SKIPPED_BYTES + 1), 404, false),
  row("an unknown path, the body in chunks", [chunkedPost("/nope", chunkOf("{}") + LAST_CHUNK)], 404, false),
  row("a GET that is served here, with a body", [`GET /health HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n{}`], 200, true),
  row("two models, all of it there", [postBytes(CHAT, twoModels(1_000))], 400, true),
  row("two models, in chunks, all of it there", [chunkedPost(CHAT, chunkOf(twoModels(1_000)) + LAST_CHUNK)], 400, true),
  row("two models, in chunks, the end later", [chunkedPost(CHAT, chunkOf(twoModels(1_000))), LAST_CHUNK], 400, false),
  row("two models, a short rest later", refusedAt(2_000, 1_000), 400, true),
  row("two models, a long rest later", refusedAt(200 * KIB, 190 * KIB), 400, false),
  row("a byte order mark", [postBytes(CHAT, `\ufeff${chatBody()}`)], 400, true),
  row("bytes behind the JSON", [postBytes(CHAT, `${chatBody()} x`)], 400, true),
  row("bytes behind the JSON, and more later", cutBefore(postBytes(CHAT, `${chatBody()} x${" ".repeat(500)}`), 500), 400, true),
  row("a length over the limit", [postBytes(CHAT, "").replace("Length: 0", `Length: ${BODY_LIMIT_BYTES + 1}`)], 413, false),
  row("chunks over the limit", [chunkedPost(CHAT, chunkOf(`{"a":"${"a".repeat(BODY_LIMIT_BYTES)}`))], 413, false),
  row("another content type, the body later", cutBefore(chatPost().replace("application/json", "text/plain"), 5), 415, true),
  row(
    "a body that waits to be asked for",
    [chatPost("", "Expect: 100-continue\r\n").replace(CHAT, "/nope").slice(0, -chatBody().length)],
    404,
    false,
  ),
];

describe("a request that is refused early", () => {
  let replica: ScriptedReplica;
  let router: TestRouter;
  before(async () => {
    replica = await startScriptedReplica(answerOk);
    router = await startTestRouter([replica.url], { spec: `  limits: { bodyBytes: ${BODY_LIMIT_BYTES} }` });
  });
  after(async () => {
    await router.close();
    await replica.close();
  });

  for (const { name, sent, rest, status, isKept } of ROWS) {
    it(`${name}: ${status}, and the connection is ${isKept ? "kept" : "closed, as the response says"}`, async () => {
      const client = await openClient(router.port);
      client.send(Buffer.from(sent));
      const first = await client.until(isWholeAnswer);
      assert.match(first, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.equal(/^connection: close$/im.test(first), !isKept, first);
      if (!isKept) {
        if (rest !== undefined) client.send(rest);
        assert.equal(await client.closed(), first);
        return;
      }
      // Pipelined right behind the rest of the body, and once more later.
      client.send((rest ?? "") + chatPost());
      const countOf = (received: string) => answersIn(received).filter(({ isComplete }) => isComplete).length;
      await client.until((received) => countOf(received) === 2);
      client.send(chatPost());
      const responses = answersIn(await client.until((received) => countOf(received) === 3));
      assert.deepEqual(
        responses.map((response) => response.status),
        [status, 200, 200],
      );
      client.destroy();
    });
  }

  it("with a rest that never comes keeps the connection no longer than a body may take", async () => {
    const short = await startTestRouter([replica.url], { spec: "  limits: { bodyTimeoutMs: 100, idleTimeoutMs: 60000 }" });
    const client = await openClient(short.port);
    client.send(unknownPath(100)[0]);
    assert.match(await client.closed(), /^HTTP\/1\.1 404 (?!.*connection: close)/is);
    await short.close();
  });

  it("costs a keep-alive client no later request", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const post = (path: string, body: string) =>
      new Promise<number>((resolve, reject) => {
        const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
        const request = httpRequest(
          { port: router.port, host: "127.0.0.1", method: "POST", path, headers, agent },
          (response) => {
            response.resume();
            response.on("end", () => resolve(response.statusCode ?? 0));
          },
        );
        request.on("error", reject);
        request.end(body);
      });
    const large = twoModels(400 * KIB);
    for (let round = 0; round < 10; round++) {
      for (const [path, body, status] of [
        [CHAT, large, 400],
        [CHAT, chatBody(), 200],
        ["/nope", chatBody(), 404],
        [CHAT, chatBody(), 200],
        [CHAT, twoModels(100), 400],
        [CHAT, `${chatBody()} x`, 400],
        [CHAT, chatBody(), 200],
      ] as const)
        assert.equal(await post(path, body), status);
    }
    agent.destroy();
  });
});
