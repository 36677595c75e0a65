import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { ENGINE_STREAMS } from "../support/engine-streams.ts";
import { exchange, openClient, postBytes } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { sampled } from "../support/sample.ts";
import { CHAT, setUp } from "../support/scripted-pool.ts";
import {
  chunkOf,
  jsonAnswer,
  LAST_CHUNK,
  type Script,
  type ScriptedReplica,
  STREAM_HEAD,
  startScriptedReplica,
} from "../support/scripted-replica.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const MESSAGES = "/v1/messages";
const RESPONSES = "/v1/responses";
const COMPLETIONS = "/v1/completions";
const GENERATE = "/inference/v1/generate";
const DONE = "data: [DONE]\n\n";
const TYPE = "Content-Type: text/event-stream\r\n";
const choice = (index: number, reason: string, text = "Hi") =>
  `data: {"choices":[{"index":${index},"delta":{"content":"${text}"},"finish_reason":${reason}}]}\n\n`;
const CHUNK = choice(0, "null");
const STARTED = 'event: message_start\ndata: {"type":"message_start","message":{"stop_reason":null}}\n\n';
const TEXT = 'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"message_stop"}}\n\n';
const CREATED = 'event: response.created\ndata: {"type":"response.created","response":{"error":null,"output":[]}}\n\n';
const DELTA = 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"Hi"}\n\n';
const LONG = "a long text, ".repeat(400);
const SAID = `event: response.output_text.done\ndata: {"type":"response.output_text.done","text":"${LONG}"}\n\n`;
const completed = `event: response.completed\ndata: {"type":"response.completed","response":{"output":[],"instructions":"${LONG}"}}\n\n`;

/** How a response ends that is framed in this way, as if it were whole. */
const FRAMINGS: Readonly<Record<string, (text: string) => Script>> = {
  "in one read, with the last chunk": (text) => (_request, socket) => void socket.write(STREAM_HEAD + chunkOf(text) + LAST_CHUNK),
  "with the last chunk in a read of its own": (text) => (_request, socket) => {
    socket.write(STREAM_HEAD + chunkOf(text));
    setTimeout(() => socket.write(LAST_CHUNK), 20);
  },
  "by the end of the connection": (text) => (_request, socket) => void socket.end(`HTTP/1.1 200 OK\r\n${TYPE}\r\n${text}`),
  "with its declared length": (text) => (_request, socket) =>
    void socket.write(`HTTP/1.1 200 OK\r\n${TYPE}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`),
};

const post = (path: string) =>
  postBytes(
    path,
    '{"model":"m","stream":true,"input":"x","prompt":"x","token_ids":[1],"max_tokens":9,"messages":[]}',
    "Connection: close\r\n",
  );

async function answerOf({ port, log }: TestRouter, path: string) {
  const before = log.length;
  const answer = wholeAnswer(await exchange(port, post(path)));
  await waitUntil(() => log.length > before);
  return { ...answer, line: log.at(-1)! };
}

/** A router whose replica answers with the text that was told last. One is enough for all texts: many at once are slow. */
function tellingRouter(scriptOf: (text: string) => Script): (text: string) => TestRouter {
  let [text, router, replica]: [string, TestRouter?, ScriptedReplica?] = [""];
  before(async () => {
    replica = await startScriptedReplica((request, socket) => scriptOf(text)(request, socket));
    router = await startTestRouter([replica.url]);
  });
  after(async () => {
    await router?.close();
    await replica?.close();
  });
  return (told) => {
    text = told;
    return router!;
  };
}

/** What comes, and how much of it the client gets in front of the error. */
const HALVES: readonly (readonly [name: string, path: string, text: string, passed?: string])[] = [
  ["no [DONE] and no reason", CHAT, CHUNK + CHUNK],
  ["one of two choices", CHAT, choice(1, "null") + choice(0, "null") + choice(1, '"stop"')],
  ["a text that says [DONE]", CHAT, CHUNK + choice(0, "null", "data: [DONE]")],
  ["a long last event", CHAT, CHUNK + choice(0, "null", LONG)],
  ["inside of an event", CHAT, `${CHUNK}data: {"choices":[{"index":0,"delta":{"con`, CHUNK],
  ["inside of [DONE]", CHAT, `${CHUNK}data: [DO`, CHUNK],
  ["inside of an error event", CHAT, `${CHUNK}data: {"error":{"message":"out of`, CHUNK],
  ["a reason that is empty", CHAT, choice(0, '""')],
  ["nothing", CHAT, ""],
  ["comments only", CHAT, ": ping\n\n"],
  ["completions", COMPLETIONS, 'data: {"choices":[{"index":0,"text":"a","finish_reason":null}]}\n\n'],
  ["generate", GENERATE, 'data: {"choices":[{"index":0,"token_ids":[67],"finish_reason":null}]}\n\n'],
  ["no stop", MESSAGES, STARTED + TEXT],
  ["only the beginning", MESSAGES, STARTED],
  ["no completed response", RESPONSES, CREATED + DELTA],
  ["only a created response", RESPONSES, CREATED],
  ["a long event that is not the last", RESPONSES, CREATED + DELTA + SAID],
  ["inside of the last event", RESPONSES, CREATED + DELTA + completed.slice(0, -400), CREATED + DELTA],
];

for (const [framing, scriptOf] of Object.entries(FRAMINGS)) {
  describe(`a stream that ends without its end, as if it were whole, ${framing}:`, () => {
    const telling = tellingRouter(scriptOf);
    for (const [name, path, text, passed = text] of sampled(HALVES)) {
      it(`${path}, ${name}: the client gets what came, an error event, and a cut`, async () => {
        const { status, body, isComplete, line } = await answerOf(telling(text), path);
        assert.deepEqual([status, isComplete], [200, false]);
        assert.ok(body.startsWith(passed), body);
        assert.match(
          body.slice(passed.length),
          path === CHAT || path === COMPLETIONS || path === GENERATE
            ? /^data: \{"error":\{.*"code":"upstream_reset"\}\}\n\n$/
            : /^event: error\ndata: \{"type":"error",.*upstream_reset.*\}\n\n$/,
        );
        assert.deepEqual(
          [line.ending, line.error, line.flags, line.attempts[0]?.result],
          ["broken", "upstream_reset", "UM", "malformed"],
        );
      });
    }
  });
}

const WHOLE: readonly (readonly [name: string, path: string, text: string])[] = [
  ...ENGINE_STREAMS,
  ["two choices, one ended before", CHAT, choice(1, '"stop"') + choice(0, "null") + choice(0, '"length"')],
  ["usage behind the reason", CHAT, `${CHUNK}${choice(0, '"stop"')}data: {"choices":[],"usage":{"completion_tokens":2}}\n\n`],
  [
    "usage that is long behind the reason",
    CHAT,
    `${CHUNK}${choice(0, '"stop"')}data: {"choices":[],"usage":{"x":"${LONG}"}}\n\n`,
  ],
  ["[DONE] behind a long event", CHAT, choice(0, "null", LONG) + DONE],
  ["[DONE] without an empty line", CHAT, `${CHUNK}data: [DONE]`],
  ["a comment behind [DONE]", CHAT, `${CHUNK + DONE}: cost`],
  ["a reason without an empty line", CHAT, choice(0, '"stop"').trimEnd()],
  ["a reason without message_stop", MESSAGES, `${STARTED}data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n`],
  ["a long last event", RESPONSES, CREATED + DELTA + completed],
  ["[DONE] behind it", RESPONSES, CREATED + DELTA + completed + DONE],
  ["an error without [DONE]", CHAT, `${CHUNK}data: {"error":{"message":"out of memory"}}\n\n`],
  [
    "a failed response",
    RESPONSES,
    `${CREATED}event: response.failed\ndata: {"type":"response.failed","response":{"instructions":"${LONG}"}}\n\n`,
  ],
  ["events of another kind", CHAT, 'data: {"token":"a"}\n\ndata: {"token":"b"}\n\n'],
];

for (const [framing, scriptOf] of Object.entries(FRAMINGS)) {
  describe(`a stream with its end passes as it is, ${framing}:`, () => {
    const telling = tellingRouter(scriptOf);
    for (const [name, path, text] of sampled(WHOLE)) {
      it(`${path}, ${name}`, async () => {
        const { status, body, isComplete, line } = await answerOf(telling(text), path);
        assert.deepEqual([status, body, isComplete, line.ending, line.error], [200, text, true, "complete", ""]);
      });
    }
  });
}

describe("a replica that omits the last chunk", () => {
  const ends: readonly (readonly [name: string, path: string, text: string])[] = [
    ["behind [DONE]", CHAT, CHUNK + DONE],
    ["behind message_stop", MESSAGES, `${STARTED}event: message_stop\ndata: {"type":"message_stop"}\n\n`],
    ["behind a completed response", RESPONSES, CREATED + DELTA + completed],
  ];
  const breaks: Readonly<Record<string, (replica: Socket) => void>> = {
    "closes the connection": (replica) => void replica.end(),
    "resets it": (replica) => void replica.resetAndDestroy(),
    "goes on with other bytes": (replica) => void replica.write("no chunk\r\n"),
  };
  for (const [name, path, text] of ends) {
    for (const [how, breakOff] of Object.entries(breaks)) {
      it(`${name} and ${how}: the answer is whole, and nothing is put behind it`, async () => {
        let replica: Socket | undefined;
        const script: Script = (_request, socket) => {
          replica = socket;
          socket.write(STREAM_HEAD + chunkOf(text));
        };
        const { router } = await setUp([script]);
        const client = await openClient(router.port);
        client.send(post(path));
        await client.until((answer) => answer.includes(text));
        breakOff(replica!);
        const { body, isComplete } = wholeAnswer(await client.closed());
        await waitUntil(() => router.log.length > 0);
        const { ending, flags, attempts } = router.log[0]!;
        assert.deepEqual([body, isComplete, ending, flags, attempts[0]?.result], [text, true, "complete", "", 200]);
      });
    }
  }

  it("inside of the answer breaks it off", async () => {
    const script: Script = (_request, socket) =>
      void socket.end(STREAM_HEAD + chunkOf(CHUNK + choice(0, "null", "data: [DONE]")));
    const { router } = await setUp([script]);
    const { body, isComplete } = await answerOf(router, CHAT);
    assert.ok(!isComplete && body.includes("upstream_reset"), body);
  });
});

describe("a JSON answer that is cut", () => {
  const half = '{"object":"list","data":[{"embedding":[0.1,0.';
  const long = `{"choices":[{"message":{"content":"${LONG}`;
  const scripts: readonly (readonly [name: string, path: string, text: string, script: Script])[] = [
    [
      "with the last chunk",
      "/v1/embeddings",
      half,
      (_request, socket) =>
        void socket.write(
          `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunkOf(half)}${LAST_CHUNK}`,
        ),
    ],
    [
      "by the end of the connection",
      "/v1/embeddings",
      half,
      (_request, socket) => void socket.end(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n${half}`),
    ],
    [
      "behind a long text",
      CHAT,
      long,
      (_request, socket) => void socket.end(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n${long}`),
    ],
  ];
  for (const [name, path, text, script] of scripts)
    it(`${name}: the client sees that it is not complete`, async () => {
      const { router } = await setUp([script]);
      const { body, isComplete, line } = await answerOf(router, path);
      assert.deepEqual([body, isComplete, line.ending, line.flags], [text, false, "broken", "UM"]);
    });

  it("with a declared length passes: nothing can be put behind it", async () => {
    const { router } = await setUp([(_request, socket) => void socket.write(jsonAnswer(half))]);
    const { body, isComplete, line } = await answerOf(router, "/v1/embeddings");
    assert.deepEqual([body, isComplete, line.flags], [half, true, "UM"]);
  });
});
