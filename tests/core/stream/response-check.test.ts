import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Parser } from "../../../core/contract/parser.ts";
import { EventStream } from "../../../core/stream/event-stream.ts";
import { ResponseCheck } from "../../../core/stream/response-check.ts";
import { TAIL_BYTES } from "../../../core/stream/usage-tap.ts";
import chatCompletions from "../../../plugins/parsers/chat-completions.ts";
import completions from "../../../plugins/parsers/completions.ts";
import embeddings from "../../../plugins/parsers/embeddings.ts";
import generate from "../../../plugins/parsers/generate.ts";
import messages from "../../../plugins/parsers/messages.ts";
import responses from "../../../plugins/parsers/responses.ts";
import { ENGINE_DOCUMENTS } from "../../support/engine-documents.ts";
import { ENGINE_STREAMS } from "../../support/engine-streams.ts";
import { createPlugin } from "../../support/plugins.ts";

const PARSERS: readonly Parser[] = [
  createPlugin(chatCompletions),
  createPlugin(completions),
  createPlugin(embeddings),
  createPlugin(generate),
  createPlugin(messages),
  createPlugin(responses),
];
const SHAPES = Object.assign({}, ...PARSERS.map((parser) => parser.responses)) as NonNullable<Parser["responses"]>;

const CHAT = "/v1/chat/completions";
const RESPONSES = "/v1/responses";
const MESSAGES = "/v1/messages";

/** What the check says of a body that comes in pieces of this size, whose memory is used again. */
function lackOf(path: string, text: string, isEventStream: boolean, size = 1e9): string {
  const bytes = Buffer.from(text);
  const check = new ResponseCheck(SHAPES[path]!, isEventStream);
  const stream = new EventStream(0, SHAPES[path]!.hasTypes);
  for (let at = 0; at < bytes.length; at += size) {
    const piece = Buffer.concat([Buffer.from("\0"), bytes.subarray(at, at + size)]);
    check.read(piece, [1, piece.length], 1);
    stream.read(piece, [1, piece.length], 1);
    piece.fill('"');
  }
  return check.flaw(bytes.subarray(-TAIL_BYTES), bytes.length, stream)?.what ?? "";
}

const isStream = (text: string) => !text.startsWith("{");

describe("what engines answer lacks nothing, whatever pieces it comes in", () => {
  for (const [engine, path, body] of [...ENGINE_DOCUMENTS, ...ENGINE_STREAMS]) {
    it(`${path}: ${engine}`, () => {
      for (const size of [1, 2, 7, 100, 1e9]) assert.equal(lackOf(path, body, isStream(body), size), "", `pieces of ${size}`);
    });
  }

  const filler = (kilobytes: number) => "a long text, ".repeat(kilobytes * 79);
  const long: readonly (readonly [name: string, path: string, body: string])[] = [
    [
      "a text of 300 KB",
      CHAT,
      `{"choices":[{"index":0,"message":{"role":"assistant","content":"${filler(300)}"},"finish_reason":"stop"}]}`,
    ],
    [
      "a megabyte of numbers",
      "/v1/embeddings",
      `{"usage":{"prompt_tokens":3},"data":[{"embedding":[${"0.125,".repeat(170_000)}1]}]}`,
    ],
    [
      "choices behind a long prompt",
      "/inference/v1/generate",
      `{"prompt_token_ids":[${"17,".repeat(9_000)}1],"choices":[{"token_ids":[${"18,".repeat(9_000)}1]}]}`,
    ],
    [
      "an output behind long instructions",
      RESPONSES,
      `{"id":"r","instructions":"${filler(20)}","output":[],"tools":[{"d":"${filler(20)}"}]}`,
    ],
    [
      "a last event that is long",
      RESPONSES,
      `event: response.completed\ndata: {"type":"response.completed","response":{"output":[{"text":"${filler(9)}"}],"usage":{"output_tokens":3}}}\n\n`,
    ],
    [
      "what the client sent, behind a status",
      RESPONSES,
      '{"output":[{"type":"mcp_call","status":"failed"}],"status":"completed","text":{"schema":{"default":{"status":"failed","type":"response.failed"}}}}',
    ],
    [
      "long metadata of the client behind the usage",
      RESPONSES,
      `event: response.completed\ndata: {"type":"response.completed","response":{"output":[],"usage":null,"metadata":{"a":"${filler(9)}"}}}\n\n`,
    ],
    [
      "a last chunk that is long",
      CHAT,
      `data: {"choices":[{"delta":{"content":"${filler(9)}"},"finish_reason":null}]}\n\ndata: [DONE]\n\n`,
    ],
  ];
  for (const [name, path, body] of long)
    it(name, () => {
      for (const size of [1, 4_096, 1e9]) assert.equal(lackOf(path, body, isStream(body), size), "");
    });
});

describe("an empty list is an answer where the API says so", () => {
  const usage = '"usage":{"prompt_tokens":0,"total_tokens":0}';
  const rows: readonly (readonly [path: string, body: string])[] = [
    ["/v1/embeddings", `{"object":"list","data":[],${usage}}`],
    ["/v1/embeddings", `{"object": "list",\n "data": [\n ],\n ${usage}}`],
    [RESPONSES, `{"status":"completed","output":[],${usage}}`],
    [MESSAGES, `{"type":"message","content":[],"stop_reason":"end_turn",${usage}}`],
    [
      CHAT,
      `data: {"choices":[],"prompt_filter_results":[]}\n\n${'data: {"choices":[{"finish_reason":"stop"}]}\n\n'}data: [DONE]\n\n`,
    ],
  ];
  for (const [path, body] of rows)
    it(`${path}: ${body.slice(0, 40)}`, () => {
      for (const size of [1, 3, 100, 1e9]) assert.equal(lackOf(path, body, isStream(body), size), "");
    });
});

const CHUNK = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n';
const DONE = "data: [DONE]\n\n";
const STARTED = 'event: message_start\ndata: {"type":"message_start","message":{}}\n\n';
const CREATED = 'event: response.created\ndata: {"type":"response.created","response":{"error":null,"output":[]}}\n\n';
const WHOLE = ENGINE_DOCUMENTS[0]![2];
const NO_EVENT = "no event of its API";
const ENDLESS = "an event stream without its end";
const CUT = "a JSON document that is cut";

const LIES: readonly (readonly [name: string, path: string, type: "json" | "events", body: string, lack: string])[] = [
  ["nothing", CHAT, "json", "", "an empty body"],
  ["white space", CHAT, "json", " \r\n\t\n", "an empty body"],
  ["an empty object", CHAT, "json", "{}", 'no "choices"'],
  ["null", CHAT, "json", "null", 'no "choices"'],
  ["an empty list", CHAT, "json", "[]", 'no "choices"'],
  ["a list of what is right", CHAT, "json", `[${WHOLE}]`, 'no "choices"'],
  ["FastAPI's error", CHAT, "json", '{"detail":[{"loc":["body","choices"],"msg":"field required"}]}', 'no "choices"'],
  ["an error object", CHAT, "json", '{"error":{"message":"no \\"choices\\":[{\\"","type":"x"}}', 'no "choices"'],
  ["SGLang's error", CHAT, "json", '{"object":"error","message":"boom","code":500}', 'no "choices"'],
  ["an error that says so", CHAT, "json", '{"error":"Unauthorized"}', 'no "choices"'],
  ["no choices", CHAT, "json", '{"object":"chat.completion","choices":[],"usage":{"completion_tokens":0}}', 'no "choices"'],
  ["empty choices", CHAT, "json", '{"choices":[{}]}', 'no "choices"'],
  ["null in their place", CHAT, "json", '{"choices":null}', 'no "choices"'],
  [
    "another API's answer",
    CHAT,
    "json",
    '{"model":"m","message":{"role":"assistant","content":"Hi"},"done":true}',
    'no "choices"',
  ],
  ["a list of models", CHAT, "json", '{"object":"list","data":[{"id":"m","object":"model"}]}', 'no "choices"'],
  ["cut in a text", CHAT, "json", WHOLE.slice(0, WHOLE.indexOf("Hi") + 1), CUT],
  ["cut behind an inner end", CHAT, "json", WHOLE.slice(0, WHOLE.indexOf('},"logprobs"') + 1), CUT],
  ["cut before its last byte", CHAT, "json", WHOLE.slice(0, -1), CUT],
  ["with more behind it", CHAT, "json", `${WHOLE}{}`, CUT],
  ["HTML", CHAT, "json", "<!DOCTYPE html><html><body>Welcome to nginx!</body></html>", 'no "choices"'],
  ["text", CHAT, "json", "OK", 'no "choices"'],
  ["an event stream without an event", CHAT, "events", "", "an empty body"],
  ["only comments", CHAT, "events", ": ping\n\n: ping\n\n", NO_EVENT],
  ["only [DONE]", CHAT, "events", DONE, NO_EVENT],
  ["only an error", CHAT, "events", 'data: {"error":{"message":"x"}}\n\n', "an error event"],
  ["only a named error", CHAT, "events", "event: error\ndata: boom\n\n", "an error event"],
  ["only usage", CHAT, "events", `data: {"choices":[],"usage":{"completion_tokens":0}}\n\n${DONE}`, NO_EVENT],
  ["an error behind good events", CHAT, "events", `${CHUNK}data: {"error":{"message":"x"}}\n\n${DONE}`, "an error event"],
  ["an error with spaces", CHAT, "events", `${CHUNK}data: { "error": "x" }\r\n\r\n${DONE}`, "an error event"],
  ["a named error behind good events", CHAT, "events", `${CHUNK}event:error\ndata: {}\n\n${DONE}`, "an error event"],
  ["llama.cpp's error of before", CHAT, "events", `${CHUNK}error: {"code":500}\n\n`, "an error event"],
  ["no end", CHAT, "events", CHUNK.repeat(99), ENDLESS],
  ["a document", CHAT, "events", WHOLE, NO_EVENT],
  ["HTML as events", CHAT, "events", "<html></html>", NO_EVENT],
  ["events as a document, without their end", CHAT, "json", CHUNK, ENDLESS],
  ["only the beginning", MESSAGES, "events", STARTED, ENDLESS],
  [
    "an error behind the beginning",
    MESSAGES,
    "events",
    `${STARTED}event: error\ndata: {"type":"error","error":{}}\n\n`,
    "an error event",
  ],
  ["an error without a name", MESSAGES, "events", `${STARTED}data: {"type": "error"}\n\n`, "an error event"],
  ["an error document", MESSAGES, "json", '{"type":"error","error":{"type":"api_error","message":"x"}}', 'no "content"'],
  ["no count", "/v1/messages/count_tokens", "json", '{"input_tokens":null}', 'no "input_tokens"'],
  ["only the opening", RESPONSES, "events", CREATED, NO_EVENT],
  [
    "a failure behind the opening",
    RESPONSES,
    "events",
    `${CREATED}event: response.failed\ndata: {"type":"response.failed","response":{}}\n\n`,
    "an error event",
  ],
  ["an object embedded whose list is cut", "/v1/embeddings", "json", '{"data":[', 'no "embedding"'],
  ["no list", "/v1/embeddings", "json", '{"object":"list","data":null,"usage":{"prompt_tokens":0}}', 'no "embedding"'],
  ["an empty list that is cut", "/v1/embeddings", "json", '{"object":"list","data":[]', CUT],
  ["objects of another kind", "/v1/embeddings", "json", '{"data":[{"object":"embedding"}]}', 'no "embedding"'],
  ["null embedded", "/v1/embeddings", "json", '{"data":[{"embedding": null}]}', 'no "embedding"'],
];

describe("what lacks something says what, whatever pieces it comes in", () => {
  for (const [name, path, type, body, lack] of LIES) {
    it(`${path}: ${name}`, () => {
      for (const size of [1, 3, 100, 1e9]) assert.equal(lackOf(path, body, type === "events", size), lack, `pieces of ${size}`);
    });
  }
});

describe("it shows", () => {
  const shownAfter = (path: string, body: string, isEventStream: boolean) => {
    const check = new ResponseCheck(SHAPES[path]!, isEventStream);
    for (let at = 0; at < body.length; at++) {
      check.read(Buffer.from(body[at]!), [0, 1], 1);
      if (check.hasShown) return body.slice(0, at + 1);
    }
    return undefined;
  };
  it("with the first event of its API", () => assert.equal(shownAfter(CHAT, CHUNK, true), 'data: {"choices":[{"'));
  it("not with what comes before the prompt is worked off", () => assert.equal(shownAfter(RESPONSES, CREATED, true), undefined));
  it("never with an error", () => assert.equal(shownAfter(CHAT, `data: {"error":{}}\n\n`, true), undefined));
});

it("says the same of any bytes, however they are cut", () => {
  const piece = fc.constantFrom(
    ...['"choices"', ":", "[", "{", '"', "}", "]", " ", "\n", "data: ", "error", '"error"', "event: error\n", "[DONE]", "null"],
    ...['"finish_reason"', '"stop"', "\\", "x".repeat(700), "\n\n", "\r\n"],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.boolean(), fc.integer({ min: 1, max: 90 }), (pieces, isEvents, size) => {
      const text = pieces.join("");
      assert.equal(lackOf(CHAT, text, isEvents, size), lackOf(CHAT, text, isEvents));
    }),
    { numRuns: 500 },
  );
});
