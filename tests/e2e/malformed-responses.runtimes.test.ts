import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { describe, it } from "node:test";
import { exchange, postBytes } from "../support/raw-client.ts";
import { type TestRouter, waitUntil } from "../support/router.ts";
import { sampled } from "../support/sample.ts";
import { CHAT, OK, setUp } from "../support/scripted-pool.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const REQUESTS = 400;
const AT_ONCE = 8;
const MOST_SHARE = 0.03;
const ANSWER_MS = 10;

const CHUNK = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n';
const GOOD_STREAM = `${STREAM_HEAD}${chunkOf(CHUNK)}${chunkOf("data: [DONE]\n\n")}${LAST_CHUNK}`;

/** What the other replicas do. */
const answerWell: Script = ({ body }, socket) =>
  void setTimeout(() => socket.write(body.includes('"stream":true') ? GOOD_STREAM : OK), ANSWER_MS);
const says =
  (answer: string): Script =>
  (_request, socket) =>
    void socket.write(answer);
/** The same, in pieces that the router reads one by one. */
const saysInPieces =
  (answer: string, size: number): Script =>
  async (_request, socket) => {
    for (let at = 0; at < answer.length; at += size) await written(socket, answer.slice(at, at + size));
  };
const written = (socket: Socket, piece: string) =>
  new Promise<void>((resolve) => void socket.write(piece, () => setTimeout(resolve, 1)));
const events = (...texts: readonly string[]) => `${STREAM_HEAD}${texts.map(chunkOf).join("")}${LAST_CHUNK}`;
const page = (type: string, body: string) =>
  `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const ERROR = 'data: {"error":{"message":"out of memory","code":500}}\n\n';

const LIES: readonly (readonly [name: string, lie: Script, isStream: boolean, lack: string])[] = [
  ["an error object", says(jsonAnswer('{"error":{"message":"out of memory"}}')), false, 'no "choices"'],
  ["the same to streams", says(jsonAnswer('{"error":{"message":"out of memory"}}')), true, 'no "choices"'],
  ["an HTML page", says(page("text/html", "<html>Welcome</html>")), false, 'no "choices"'],
  ["an event stream without an event", says(events()), true, "an empty body"],
  ["comments only", says(events(": ping\n\n", ": ping\n\n")), true, "no event of its API"],
  ["nothing", says(page("application/json", "")), false, "an empty body"],
  ["null", says(jsonAnswer("null")), false, 'no "choices"'],
  ["half a document", says(jsonAnswer('{"choices":[{"message":{"content":"Hi')), false, "a JSON document that is cut"],
  ["only [DONE]", says(events("data: [DONE]\n\n")), true, "no event of its API"],
  ["an error behind good events", saysInPieces(events(CHUNK, ERROR, "data: [DONE]\n\n"), 50), true, "an error event"],
  ["a stream that just ends", says(events(CHUNK, CHUNK)), true, "an event stream without its end"],
];

const chatBytes = (index: number, isStream: boolean) =>
  postBytes(
    CHAT,
    `{"model":"m","stream":${isStream},"messages":[{"role":"user","content":"question ${index}"}]}`,
    "Connection: close\r\n",
  );

async function ask(router: TestRouter, requests: number, isStream: boolean): Promise<readonly number[]> {
  let next = 0;
  const statuses: number[] = [];
  const client = async () => {
    while (next < requests) {
      next += 1;
      statuses.push(wholeAnswer(await exchange(router.port, chatBytes(next, isStream))).status);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return statuses;
}

const endpoint = ({ router }: TestRouter) => router.pool.facts.endpoints[0]!;

describe("one of four replicas answers 200 at once, with", () => {
  for (const [name, lie, isStream, lack] of sampled(LIES)) {
    it(`${name}: it gets at most 3 % of the traffic, and is ejected for it`, async () => {
      const { router, replica } = await setUp([lie, answerWell, answerWell, answerWell]);
      const statuses = await ask(router, REQUESTS, isStream);
      assert.deepEqual([...new Set(statuses)], [200]);
      assert.ok(replica.requests.length <= MOST_SHARE * REQUESTS, `${replica.requests.length} of ${REQUESTS}`);
      assert.equal(endpoint(router).phase, "ejected");
      const reason = endpoint(router).ejection?.reason ?? "";
      assert.match(reason, /^\d+ responses of status 200 in a row are none of their API, the last: /);
      assert.ok(reason.endsWith(lack), reason);
      assert.ok(router.log.some(({ attempts }) => attempts[0]?.result === "malformed"));
    });
  }
});

it("teaches nothing: neither a prompt in its cache, nor a speed, nor tokens", async () => {
  const usage = '"usage":{"prompt_tokens":90000,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":80000}}';
  const { router } = await setUp([says(jsonAnswer(`{"error":{},${usage}}`))], {
    spec: "  plugins: [ { type: prefix-cache } ]\n",
  });
  const { pool } = router.router;
  const before = pool.load.at(0).prefillRate(0);
  const content = "a long prompt, ".repeat(2_000);
  for (let n = 0; n < 5; n++)
    await exchange(
      router.port,
      postBytes(CHAT, `{"model":"m","stream":true,"messages":[{"role":"user","content":"${content}"}]}`, "Connection: close\r\n"),
    );
  assert.equal(pool.prefixStats?.slots[0]?.tokens ?? 0, 0);
  assert.equal(pool.load.at(0).prefillRate(0), before);
  assert.equal(pool.tokenScale.factor("chat-completions"), 1);
  assert.equal(endpoint(router).phase, "ready", "the last one that serves a model stays");
});

describe("is no failure:", () => {
  const compressed = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x1f\x1f\x1f`;
  const rows: readonly (readonly [name: string, path: string, answer: string, body?: string])[] = [
    ["no content", CHAT, "HTTP/1.1 204 No Content\r\n\r\n"],
    ["no content yet", CHAT, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"],
    [
      "nothing embedded where nothing was to be",
      "/v1/embeddings",
      jsonAnswer('{"object":"list","data":[]}'),
      '{"model":"m","input":[ ]}',
    ],
    ["nothing embedded", "/v1/embeddings", jsonAnswer('{"object":"list","data":[]}'), '{"model":"m","input":" "}'],
    ["no choices for no prompts", "/v1/completions", jsonAnswer('{"choices":[]}'), '{"model":"m","prompt":[]}'],
    ["no choices where none are asked for", CHAT, jsonAnswer('{"choices":[]}'), '{"model":"m","n":0,"messages":[]}'],
    [
      "the same in a stream",
      CHAT,
      events('data: {"choices":[],"usage":{"prompt_tokens":1}}\n\n', "data: [DONE]\n\n"),
      '{"model":"m","n":0,"stream":true,"messages":[]}',
    ],
    [
      "a cancelled response",
      "/v1/responses",
      events('event: response.cancelled\ndata: {"type":"response.cancelled","response":{"status":"cancelled"}}\n\n'),
    ],
    ["a compressed response, though none was asked for: it can't be read", CHAT, compressed],
    ["an error", CHAT, jsonAnswer("{}", "400 Bad Request")],
    ["whatever passthrough forwards", "/tokenize", jsonAnswer("{}")],
    ["embeddings as bytes", "/v1/embeddings", page("application/octet-stream", "\0\0\0\0")],
  ];
  for (const [name, path, answer, body] of rows) {
    it(name, async () => {
      const routes = "[ { method: POST, path: /tokenize } ]";
      const spec = `  plugins: [ { type: passthrough, parameters: { routes: ${routes} } } ]\n`;
      const { router } = await setUp([says(answer), says(answer)], { spec });
      for (let n = 0; n < 8; n++)
        await exchange(
          router.port,
          postBytes(path, body ?? `{"model":"m","input":"${n}","messages":[]}`, "Connection: close\r\n"),
        );
      await waitUntil(() => router.log.length === 8);
      assert.deepEqual(
        new Set(router.log.flatMap(({ attempts }) => attempts.map(({ result }) => typeof result))),
        new Set(["number"]),
      );
      assert.deepEqual(
        router.router.pool.facts.endpoints.map(({ phase }) => phase),
        ["ready", "ready"],
      );
    });
  }

  it("a stream that its client leaves", async () => {
    const begins: Script = (_request, socket) => void socket.write(`${STREAM_HEAD}${chunkOf(CHUNK)}`);
    const { router } = await setUp([begins, begins]);
    for (let n = 0; n < 8; n++) {
      const socket = connect(router.port, "127.0.0.1");
      socket.write(chatBytes(n, true));
      await new Promise((resolve) => socket.once("data", resolve));
      socket.destroy();
    }
    await waitUntil(() => router.log.length === 8);
    assert.deepEqual(
      router.router.pool.facts.endpoints.map(({ phase }) => phase),
      ["ready", "ready"],
    );
  });
});
