/**
 * Requests that can't be read to their end: the response has the called API's shape and the client's own request id, the access
 * log says what happened, and the connection is not used again.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openClient, postBytes, readAnswer } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { answerOk, event, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, type ScriptedReplica, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";
import { answersIn } from "../support/whole-answer.ts";

const BODY_TIMEOUT_MS = 200;
const BODY = '{"model":"m","max_tokens":1,"messages":[]}';

interface Row {
  readonly name: string;
  /** Lines of the head behind Host. */
  readonly lines: readonly string[];
  readonly body: string;
  readonly status: number;
  readonly code: string;
}

const JSON_LINE = "Content-Type: application/json";
const CHUNKED = "Transfer-Encoding: chunked";
const LENGTH = `Content-Length: ${BODY.length}`;
const halfChunk = chunkOf(BODY.slice(0, 20));
const bad = (name: string, lines: readonly string[], body: string): Row => ({
  name,
  lines: [JSON_LINE, ...lines],
  body,
  status: 400,
  code: "bad_request",
});
const late = (name: string, lines: readonly string[], body: string): Row => ({
  name,
  lines: [JSON_LINE, ...lines],
  body,
  status: 408,
  code: "request_timeout",
});

const ROWS: readonly Row[] = [
  bad("a chunk size that is none, in the middle of the body", [CHUNKED], `${halfChunk}zz\r\n`),
  bad("a chunk size that is none, first of all", [CHUNKED], "zz\r\n"),
  bad("a chunk longer than its size", [CHUNKED], `${halfChunk}1\r\nab\r\n`),
  bad("a trailer that is none", [CHUNKED], `${chunkOf(BODY)}0\r\nno trailer\r\n\r\n`),
  bad("a Content-Length that is no number", ["Content-Length: 4x"], BODY),
  bad("two Content-Lengths", [LENGTH, LENGTH], BODY),
  bad("a length and a coding", [LENGTH, CHUNKED], chunkOf(BODY) + LAST_CHUNK),
  bad("a coding that is not just chunked", ["Transfer-Encoding: chunked, identity"], chunkOf(BODY) + LAST_CHUNK),
  bad("a second Content-Type", [JSON_LINE, LENGTH], BODY),
  bad("a second Host", ["Host: other", LENGTH], BODY),
  bad("a Connection that names Content-Type", ["Connection: Content-Type", LENGTH], BODY),
  { ...bad("another coding", ["Transfer-Encoding: gzip, chunked"], ""), status: 501, code: "not_implemented" },
  { ...bad("an expectation of something else", ["Expect: a miracle", LENGTH], BODY), status: 417, code: "expectation_failed" },
  late("a body that stops", [LENGTH], BODY.slice(0, 10)),
  late("a chunked body that stops", [CHUNKED], halfChunk),
  late("a body that never begins", [LENGTH], ""),
];

describe("a request that can't be read to its end", () => {
  let replica: ScriptedReplica;
  let router: TestRouter;
  before(async () => {
    replica = await startScriptedReplica((request, socket) => {
      if (!request.body.includes(STREAM)) return answerOk(request, socket);
      socket.write(STREAM_HEAD + chunkOf(event(1)));
      setTimeout(() => socket.write(chunkOf(event(2)) + LAST_CHUNK), 50);
    });
    router = await startTestRouter([replica.url], { spec: `  limits: { bodyTimeoutMs: ${BODY_TIMEOUT_MS} }` });
  });
  after(async () => {
    await router.close();
    await replica.close();
  });

  const paths = [
    { path: "/v1/messages", isAnthropic: true },
    { path: "/v1/chat/completions", isAnthropic: false },
  ];
  for (const [index, { name, lines, body, status, code }] of ROWS.entries()) {
    for (const { path, isAnthropic } of paths) {
      it(`${name}: ${status} on ${path}`, async () => {
        const id = `asked-${index}-${isAnthropic}`;
        const before = replica.requests.length;
        const client = await openClient(router.port);
        client.send(`POST ${path} HTTP/1.1\r\nHost: test\r\nX-Request-Id: ${id}\r\n${lines.join("\r\n")}\r\n\r\n${body}`);
        const received = await client.closed();
        const { status: seen, head, json } = readAnswer(received);
        assert.equal(seen, status, received);
        assert.match(head, /^connection: close$/im);
        assert.match(head, new RegExp(`^x-request-id: ${id}$`, "m"));
        assert.equal((json["error"] as { code: string }).code, code);
        assert.equal(json["type"], isAnthropic ? "error" : undefined);
        assert.equal(json["request_id"], isAnthropic ? id : undefined);
        await waitUntil(() => router.log.some((line) => line.id === id));
        const logged = router.log.filter((line) => line.id === id);
        assert.deepEqual(
          logged.map((line) => ({ path: line.path, status: line.status, error: line.error, ending: line.ending })),
          [{ path, status, error: code, ending: "complete" }],
        );
        assert.equal(replica.requests.length, before);
      });
    }
  }

  it("does not disturb the response before it, and gets a response of its own", async () => {
    const client = await openClient(router.port);
    client.send(postBytes("/v1/chat/completions", `{"model":"m","messages":[]${STREAM}}`));
    await client.until((text) => text.includes(event(1)));
    client.send("nonsense\r\n\r\n");
    const responses = answersIn(await client.closed());
    assert.deepEqual(
      responses.map(({ status, isComplete }) => ({ status, isComplete })),
      [
        { status: 200, isComplete: true },
        { status: 400, isComplete: true },
      ],
    );
    assert.equal(responses[0]!.body, event(1) + event(2));
  });

  for (const method of ["GET", "HEAD"]) {
    it(`is not served even where its head would do: ${method} /health`, async () => {
      const client = await openClient(router.port);
      client.send(`${method} /health HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n`);
      const received = await client.closed();
      assert.match(received, /^HTTP\/1\.1 400 /);
      assert.equal(received.endsWith("\r\n\r\n"), method === "HEAD");
    });
  }
});
