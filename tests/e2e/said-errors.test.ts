import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exchange, postBytes } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { sampled } from "../support/sample.ts";
import { CHAT, setUp } from "../support/scripted-pool.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const MESSAGES = "/v1/messages";
const RESPONSES = "/v1/responses";
const DONE = "data: [DONE]\n\n";
const CHUNK = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n';
const STARTED = 'event: message_start\ndata: {"type":"message_start","message":{}}\n\n';
const CREATED = 'event: response.created\ndata: {"type":"response.created","response":{"error":null,"output":[]}}\n\n';
const LONG_TEXT = "the prompt again, ".repeat(400);

const stream = (...events: readonly string[]) => `${STREAM_HEAD}${events.map(chunkOf).join("")}${LAST_CHUNK}`;

/** What engines answer with 200 to a request that they refuse, and what it says. */
const SAID: readonly (readonly [name: string, path: string, answer: string, status: number])[] = [
  [
    "SGLang",
    CHAT,
    stream(
      'data: {"error": {"object": "error", "message": "too long", "type": "BadRequestError", "param": null, "code": 400}}\n\n',
      DONE,
    ),
    400,
  ],
  [
    "a named event",
    MESSAGES,
    stream('event: error\ndata: {"type":"error","error":{"type":"invalid_request_error","message":"x"}}\n\n'),
    400,
  ],
  [
    "a flat error",
    CHAT,
    stream('data: {"object":"error","message":"too long","type":"BadRequestError","code":400}\n\n', DONE),
    400,
  ],
  ["a code that is text", CHAT, stream('data: {"error":{"message":"x","code":"422"}}\n\n'), 422],
  [
    "OpenAI's words",
    CHAT,
    stream('data: {"error":{"message":"x","type":"invalid_request_error","code":"context_length_exceeded"}}\n\n'),
    400,
  ],
  ["another key in front", CHAT, stream('data: {"id":"a","choices":[],"error":{"message":"x","code":413}}\n\n', DONE), 413],
  ["behind an event of the API", CHAT, stream(CHUNK, 'data: {"error":{"message":"x","code":400}}\n\n', DONE), 400],
  ["behind the beginning", MESSAGES, stream(STARTED, 'data: {"type":"error","error":{"type":"not_found_error"}}\n\n'), 404],
  [
    "an error that quotes the prompt",
    CHAT,
    stream(`data: {"error":{"message":"${LONG_TEXT} \\"code\\":500","type":"BadRequestError","code":400}}\n\n`, DONE),
    400,
  ],
  [
    "a failed response",
    RESPONSES,
    stream(
      CREATED,
      'event: response.failed\ndata: {"type":"response.failed","response":{"error":{"code":"invalid_prompt","message":"x"}}}\n\n',
    ),
    400,
  ],
  ["a document", CHAT, jsonAnswer('{"error":{"message":"too long","type":"BadRequestError","code":400}}'), 400],
  ["a flat document", CHAT, jsonAnswer('{"object":"error","message":"x","type":"Unprocessable Entity","param":null}'), 422],
  ["a long document", CHAT, jsonAnswer(`{"error":{"code":400,"message":"${LONG_TEXT}","type":"BadRequestError"}}`), 400],
  ["a rate limit", CHAT, stream('data: {"error":{"message":"x","type":"rate_limit_error"}}\n\n', DONE), 429],
];

const says =
  (answer: string): Script =>
  (_request, socket) =>
    void socket.write(answer);

const postOf = (path: string, n: number) =>
  postBytes(
    path,
    `{"model":"m","stream":true,"input":"${n}","max_tokens":9,"messages":[{"role":"user","content":"${n}"}]}`,
    "Connection: close\r\n",
  );

describe("an error that a replica says inside of a 200 is judged as its status would be:", () => {
  for (const [name, path, answer, status] of sampled(SAID)) {
    it(`${name}: ${status}`, async () => {
      const { router } = await setUp([says(answer), says(answer), says(answer), says(answer)], {
        spec: "  retries: { budgetShare: 0, budgetLeast: 0 }\n",
      });
      for (let n = 0; n < 30; n++) {
        const { body, isComplete } = wholeAnswer(await exchange(router.port, postOf(path, n)));
        assert.ok(isComplete && body.includes("error"), body);
      }
      await waitUntil(() => router.log.length === 30);
      assert.deepEqual([...new Set(router.log.flatMap(({ attempts }) => attempts.map(({ result }) => result)))], [status]);
      assert.deepEqual([...new Set(router.log.map((line) => line.status))], [200]);
      assert.deepEqual([...new Set(router.log.map(({ flags }) => flags))], [""]);
      assert.deepEqual(
        router.router.pool.facts.endpoints.map(({ phase }) => phase),
        ["ready", "ready", "ready", "ready"],
      );
    });
  }
});

const BUSY: readonly (readonly [name: string, path: string, answer: string])[] = [
  ["an event", CHAT, stream('data: {"error":{"message":"busy","type":"rate_limit_error","code":429}}\n\n', DONE)],
  ["a named event", MESSAGES, stream('event: error\ndata: {"type":"error","error":{"type":"rate_limit_error"}}\n\n')],
  ["a document", CHAT, jsonAnswer('{"error":{"message":"busy","code":429}}')],
];
const SERVED = stream(CHUNK, 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n', DONE);

describe("a replica that has too much to do, and says so inside of a 200 that nobody has seen:", () => {
  for (const [name, path, answer] of BUSY) {
    it(`another one gets the request (${name})`, async () => {
      const served = path === CHAT ? SERVED : jsonAnswer('{"type":"message","content":[{"type":"text","text":"Hi"}]}');
      // Whichever replica is asked first has too much to do.
      let asked = 0;
      const first: Script = (_request, socket) => {
        asked += 1;
        socket.write(asked === 1 ? answer : served);
      };
      const { router } = await setUp([first, first]);
      const { body, isComplete } = wholeAnswer(await exchange(router.port, postOf(path, 1)));
      assert.ok(isComplete && body.includes("Hi") && !body.includes("busy"), body);
      await waitUntil(() => router.log.length === 1);
      assert.deepEqual(
        router.log.flatMap(({ attempts }) => attempts.map(({ result }) => result)),
        [429, 200],
      );
    });
  }

  it("once a part of it was passed on, it stays what the client gets", async () => {
    const late: Script = (_request, socket) => {
      socket.write(`${STREAM_HEAD}${chunkOf(CHUNK)}`);
      setTimeout(() => socket.write(`${chunkOf('data: {"error":{"message":"busy","code":429}}\n\n')}${LAST_CHUNK}`), 50);
    };
    const { router } = await setUp([late, late]);
    assert.match(wholeAnswer(await exchange(router.port, postOf(CHAT, 1))).body, /Hi.*busy/s);
  });
});
