import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Usage } from "../../../core/contract/outcome.ts";
import type { BodyForm } from "../../../core/contract/slots/inflate.ts";
import { TAIL_BYTES, UsageTap } from "../../../core/stream/usage-tap.ts";

const OPENAI = `{"id":"x","choices":[{"text":"ok"}],"usage":{"prompt_tokens":813,"total_tokens":817,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":800,"created_cache_tokens":null},"completion_tokens_details":null},"kv_transfer_params":null}`;
const CHAT_STREAM = `data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\ndata: {"choices":[],"usage":{"prompt_tokens":813,"total_tokens":817,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":800}}}\n\ndata: [DONE]\n\n`;
const RESPONSES = `{"id":"r","usage":{"input_tokens":813,"input_tokens_details":{"cached_tokens":800,"cached_tokens_per_turn":[]},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":817},"user":null}`;
const MESSAGES = `event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":813,"output_tokens":0}}}\n\nevent: message_delta\ndata: {"type":"message_delta","usage":{"input_tokens":13,"output_tokens":4,"cache_creation_input_tokens":0,"cache_read_input_tokens":800}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n`;
const ALL = { promptTokens: 813, outputTokens: 4, cachedTokens: 800 };
const NONE = Number.NaN;

const CASES: readonly (readonly [name: string, text: string, usage: Usage | undefined])[] = [
  ["a completion", OPENAI, ALL],
  ["a stream, by its last chunk with usage", CHAT_STREAM, ALL],
  ["a response", RESPONSES, ALL],
  ["messages, which count cached tokens apart", MESSAGES, ALL],
  ["spaces and lines", OPENAI.replaceAll(":", " :\n\t "), ALL],
  [
    "no details",
    `{"usage":{"prompt_tokens":7,"completion_tokens":2,"prompt_tokens_details":null}}`,
    { promptTokens: 7, outputTokens: 2, cachedTokens: undefined },
  ],
  [
    "embeddings",
    `{"usage":{"prompt_tokens":7,"total_tokens":7}}`,
    { promptTokens: 7, outputTokens: NONE, cachedTokens: undefined },
  ],
  ["null after an object", `${OPENAI}\ndata: {"usage":null}`, ALL],
  ["text that looks like it", JSON.stringify({ text: '"usage":{"prompt_tokens":5}' }), undefined],
  ["text that looks like it, after the real one", `${OPENAI}${JSON.stringify({ text: '"usage":{"prompt_tokens":5}' })}`, ALL],
  [
    "fields that follow the object don't belong to it",
    `{"usage":{"completion_tokens":4},"prompt_tokens":9}`,
    { promptTokens: NONE, outputTokens: 4, cachedTokens: undefined },
  ],
  ["an object cut off", OPENAI.slice(0, OPENAI.indexOf("prompt_tokens_details")), undefined],
  ["no numbers", `{"usage":{"prompt_tokens":"7","completion_tokens":-1}}`, undefined],
  ["numbers that are too large", `{"usage":{"prompt_tokens":12345678901}}`, undefined],
  ["nothing", "", undefined],
  ["a key at the very end", `{"usage":`, undefined],
];

describe("usage tap", () => {
  for (const [name, text, usage] of CASES) {
    test(name, () => {
      const bytes = Buffer.from(text);
      for (const size of [1, 7, 200, 100_000]) assert.deepEqual(tapped(bytes, size), usage, `reads of ${size}`);
    });
  }

  test("keeps the end of long responses, in reads of any size", () => {
    const long = Buffer.from(`${"x".repeat(3 * TAIL_BYTES + 17)}${OPENAI}`);
    for (const size of [1, 199, TAIL_BYTES - 1, TAIL_BYTES, TAIL_BYTES + 1, long.length])
      assert.deepEqual(tapped(long, size), ALL);
  });

  test("finds it however much follows", () => {
    const long = Buffer.from(OPENAI.replace(/}$/, `,"prompt_logprobs":[${'{"1":"}"},'.repeat(TAIL_BYTES)}null]}`));
    for (const size of [199, TAIL_BYTES, long.length]) assert.deepEqual(tapped(long, size), ALL);
  });

  test("reads only the bytes in the spans", () => {
    const parts = [OPENAI.slice(0, 100), OPENAI.slice(100, 180), OPENAI.slice(180)];
    const chunk = Buffer.from(parts.map((part) => `50\r\n${part}\r\n`).join(""));
    const spans: number[] = [];
    let at = 0;
    for (const part of parts) {
      spans.push(at + 4, at + 4 + part.length);
      at += part.length + 6;
    }
    const tap = new UsageTap("openai", "no text");
    tap.read(chunk, spans, parts.length);
    assert.deepEqual(tap.finish(true, OPENAI.length).usage, ALL);
    assert.equal(tap.finish(true, OPENAI.length).usage, undefined);
  });

  describe("generated tokens", () => {
    const event = (text: string) => `data: {"choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":null}]}\n\n`;
    const UNTOLD = `${event("one")}${event(" two")}${event(" three")}data: [DONE]\n\n`;
    const tap = (text: string, isStream: boolean, isComplete: boolean) => {
      const bytes = Buffer.from(text);
      const reader = tapOf(bytes, 50);
      const events = isStream ? text.split("\n\n").length - 1 : undefined;
      const { usage, outputTokens, isOutputEstimated } = reader.finish(isComplete, bytes.length, events);
      return [usage?.outputTokens, outputTokens, isOutputEstimated];
    };
    const rows: readonly (readonly [name: string, text: string, isStream: boolean, isComplete: boolean, expected: unknown[]])[] =
      [
        ["as reported", CHAT_STREAM, true, true, [4, 4, false]],
        ["counted in a stream that reports nothing", UNTOLD, true, true, [undefined, 3, true]],
        ["counted in a stream that broke off, whatever it reported so far", CHAT_STREAM, true, false, [undefined, 1, true]],
        ["estimated by the text of a document", `{"text":"${"word ".repeat(20)}"}`, false, true, [undefined, 20, true]],
        [
          "unknown of a stream in which no event can be seen",
          "\u001f\u008b".repeat(99),
          true,
          true,
          [undefined, Number.NaN, false],
        ],
        ["unknown of a response without a body", "", true, true, [undefined, Number.NaN, false]],
      ];
    for (const [name, text, isStream, isComplete, expected] of rows)
      test(name, () => assert.deepEqual(tap(text, isStream, isComplete), expected));
  });

  test("does not read one response's usage for the next", () => {
    assert.deepEqual(tapped(Buffer.from(OPENAI), 50), ALL);
    assert.equal(tapped(Buffer.from("{}"), 50), undefined);
  });
});

function tapped(bytes: Buffer, readSize: number) {
  return tapOf(bytes, readSize).finish(true, bytes.length).usage;
}

/** The tap after all reads. The memory of a read is used again for the next one. */
function tapOf(bytes: Buffer, readSize: number, form: BodyForm = bytes[0] === 0x7b ? "document" : "events"): UsageTap {
  const tap = new UsageTap("openai", form);
  const memory = Buffer.alloc(readSize + 3);
  for (let at = 0; at < bytes.length; at += readSize) {
    if (at > 0) tap.readDone();
    const length = bytes.copy(memory, 3, at, at + readSize);
    tap.read(memory, [3, 3 + length], 1);
  }
  return tap;
}
