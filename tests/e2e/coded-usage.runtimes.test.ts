/** Responses that replicas compress, though the router asks for plain ones: they are passed on as they came, and their tokens count. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import * as zlib from "node:zlib";
import { CODINGS } from "../support/compressed.ts";
import { openClient, postBytes } from "../support/raw-client.ts";
import { type AccessLine, waitUntil } from "../support/router.ts";
import { CHAT, setUp } from "../support/scripted-pool.ts";

interface Line extends AccessLine {
  readonly promptTokens: number | null;
  readonly outputTokens: number | null;
  readonly outputEstimated: boolean;
  readonly finishReason: string;
}

const KEY = "sk-counted";
const digest = createHash("sha256").update(KEY).digest("hex");
const auth = `  auth: { keys: [ { name: counted, sha256: ${digest}, tenant: t, limits: { tokensPerMinute: 1000000 } } ] }\n`;

/** What the replica answers next, each piece in a chunk of its own. */
let pieces: readonly Buffer[] = [];
let head = "";
const { router, replica } = await setUp(
  [
    (_request, socket) => {
      socket.write(head);
      for (const piece of pieces)
        socket.write(Buffer.concat([latin1(`${piece.length.toString(16)}\r\n`), piece, latin1("\r\n")]));
      socket.write("0\r\n\r\n");
    },
  ],
  { spec: auth },
);

const latin1 = (text: string) => Buffer.from(text, "latin1");
/** With `step` 0 whole. */
const cut = (body: Buffer, step: number) =>
  step === 0 ? [body] : Array.from({ length: Math.ceil(body.length / step) }, (_, i) => body.subarray(i * step, (i + 1) * step));

/** Asks, and returns what the client got and what the router counted. */
async function ask(path: string, request: object, coding: string, type: string, body: Buffer, step = 0) {
  head = `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Encoding: ${coding}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  pieces = cut(body, step);
  const lines = router.log.length;
  const client = await openClient(router.port);
  client.send(
    postBytes(path, JSON.stringify({ model: "m", ...request }), `Authorization: Bearer ${KEY}\r\nAccept-Encoding: gzip\r\n`),
  );
  const answer = await client.until((received) => received.endsWith("\r\n0\r\n\r\n"));
  client.destroy();
  await waitUntil(() => router.log.length > lines);
  return { head: answer.slice(0, answer.indexOf("\r\n\r\n")), body: unchunked(answer), line: router.log[lines] as Line };
}

function unchunked(answer: string): Buffer {
  const parts: string[] = [];
  for (let at = answer.indexOf("\r\n\r\n") + 4; ; ) {
    const lineEnd = answer.indexOf("\r\n", at);
    const length = Number.parseInt(answer.slice(at, lineEnd), 16);
    if (length === 0) return latin1(parts.join(""));
    parts.push(answer.slice(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 4 + length;
  }
}

const messages = [{ role: "user", content: "hello" }];
const JSON_TYPE = "application/json";
const EVENTS = "text/event-stream";
const usage = '"usage":{"prompt_tokens":4000,"completion_tokens":2010,"total_tokens":6010}';
const text = "word ".repeat(50);
const delta = (n: number) => `data: {"choices":[{"index":0,"delta":{"content":"w${n} "}}]}\n\n`;
const DELTAS = Array.from({ length: 200 }, (_, n) => delta(n)).join("");
const ANSWERS: readonly (readonly [
  name: string,
  path: string,
  request: object,
  type: string,
  plain: string,
  tokens: readonly [number | null, number | null],
])[] = [
  ["a chat", CHAT, { messages }, JSON_TYPE, `{"choices":[{"message":{"content":"${text}"}}],${usage}}`, [4000, 2010]],
  [
    "a stream of a chat",
    CHAT,
    { messages, stream: true },
    EVENTS,
    `${DELTAS}data: {"choices":[],${usage}}\n\ndata: [DONE]\n\n`,
    [4000, 2010],
  ],
  [
    "a stream of messages",
    "/v1/messages",
    { messages, stream: true, max_tokens: 5000 },
    EVENTS,
    `event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":4000,"output_tokens":0}}}\n\n` +
      `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2010}}\n\n` +
      `event: message_stop\ndata: {"type":"message_stop"}\n\n`,
    [4000, 2010],
  ],
  [
    "embeddings",
    "/v1/embeddings",
    { input: "hello" },
    JSON_TYPE,
    `{"data":[{"embedding":[0.1,0.2]}],"usage":{"prompt_tokens":4000,"total_tokens":4000}}`,
    [4000, null],
  ],
];
const DEFLATES = [
  ...CODINGS,
  ["deflate", (bytes: Buffer) => zlib.deflateSync(bytes)],
  ["deflate, identity", (bytes: Buffer) => zlib.deflateRawSync(bytes)],
  ["deflate, gzip", (bytes: Buffer) => zlib.gzipSync(zlib.deflateSync(bytes))],
] as const;

describe("a compressed response goes to the client as it is, and its tokens count:", () => {
  for (const [name, path, request, type, plain, tokens] of ANSWERS)
    for (const [coding, compress] of DEFLATES)
      for (const step of [0, 7])
        it(`${name} in ${coding}, ${step === 0 ? "whole" : "in pieces"}`, async () => {
          const coded = compress(Buffer.from(plain));
          const { head: got, body, line } = await ask(path, request, coding, type, coded, step);
          assert.match(got, new RegExp(`\r\ncontent-encoding: ${coding}`, "i"));
          assert.deepEqual(body, coded);
          const { promptTokens, outputTokens, outputEstimated, error } = line;
          assert.deepEqual([promptTokens, outputTokens, outputEstimated, error], [...tokens, false, ""]);
        });

  it("the router asked for a plain one", () => {
    assert.ok(replica.requests.every(({ headers }) => headers.get("accept-encoding") === "identity"));
  });
});

describe("where a compressed response reports nothing, its plain text is counted:", () => {
  const rows: readonly (readonly [name: string, type: string, plain: string, tokens: number])[] = [
    ["a document", JSON_TYPE, `{"choices":[{"message":{"content":"${text}"}}]}`, 50],
    ["a stream", EVENTS, `${DELTAS}data: [DONE]\n\n`, 200],
  ];
  for (const [name, type, plain, tokens] of rows)
    it(name, async () => {
      const { line } = await ask(CHAT, { messages, stream: type === EVENTS }, "gzip", type, zlib.gzipSync(plain));
      assert.deepEqual([line.outputTokens, line.outputEstimated], [tokens, true]);
    });
});

describe("what can't be inflated is passed on, and estimated:", () => {
  const plain = Buffer.from(`{"choices":[{"message":{"content":"${text}"}}],${usage}}`);
  const gzip = zlib.gzipSync(plain);
  const rows: readonly (readonly [name: string, coding: string, body: Buffer])[] = [
    ["no gzip at all", "gzip", plain],
    ["a broken end", "gzip", Buffer.concat([gzip.subarray(0, -8), Buffer.alloc(8)])],
    ["a coding that nobody knows", "rot13", plain],
    ["too many codings", "gzip, gzip, gzip, gzip", gzip],
    ["one byte", "br", Buffer.from([0x0b])],
  ];
  for (const [name, coding, body] of rows)
    it(name, async () => {
      const { body: got, line } = await ask(CHAT, { messages }, coding, JSON_TYPE, body);
      assert.deepEqual(got, body);
      assert.equal(line.promptTokens, null);
      assert.ok(line.outputEstimated && line.outputTokens! > 0, `${line.outputTokens}`);
    });

  const ZEROS = Buffer.alloc(64 * 1024 * 1024);
  const bombs: readonly (readonly [coding: string, body: Buffer])[] = [
    ["gzip", zlib.gzipSync(ZEROS)],
    ["br", zlib.brotliCompressSync(ZEROS, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 2 } })],
    ["gzip, gzip", zlib.gzipSync(zlib.gzipSync(ZEROS))],
  ];
  for (const [coding, body] of bombs)
    it(`a bomb in ${coding}, by no more than the request allows`, async () => {
      const { body: got, line } = await ask(CHAT, { messages, max_tokens: 77 }, coding, JSON_TYPE, body, 50_000);
      assert.deepEqual(got, body);
      assert.deepEqual([line.outputTokens, line.outputEstimated], [77, true]);
    });
});

it("limits of tokens see what such responses report", async () => {
  const coded = zlib.gzipSync(`{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":5,"completion_tokens":999999}}`);
  await ask(CHAT, { messages }, "gzip", JSON_TYPE, coded);
  const client = await openClient(router.port);
  client.send(postBytes(CHAT, JSON.stringify({ model: "m", messages }), `Authorization: Bearer ${KEY}\r\n`));
  assert.match(await client.until((received) => received.includes("\r\n\r\n")), /^HTTP\/1\.1 429 /);
  client.destroy();
});
