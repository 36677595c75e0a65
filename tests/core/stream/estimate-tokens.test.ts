import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { estimateInDocument } from "../../../core/stream/estimate-tokens.ts";
import { TAIL_BYTES, UsageTap } from "../../../core/stream/usage-tap.ts";

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const choice = (index: number, reason: string | null, delta: object = {}) =>
  event({ id: "chatcmpl-1", choices: [{ index, delta, logprobs: null, finish_reason: reason, stop_reason: null }] });
const said = (content: string) => choice(0, null, { content });
const DONE = "data: [DONE]\n\n";

describe("estimated tokens", () => {
  const WORDS = ["The", " quick", " brown", " fox", " jumps", " over", " the", " lazy", " dog", "."];
  const ROLE = choice(0, null, { role: "assistant", content: "" });
  const stream = (tokens: number, perEvent = 1) => {
    const words = Array.from({ length: tokens }, (_, at) => WORDS[at % WORDS.length]!);
    const events = [ROLE];
    for (let at = 0; at < tokens; at += perEvent) events.push(said(words.slice(at, at + perEvent).join("")));
    return [...events, choice(0, "stop"), DONE];
  };
  /** Of a stream that comes in reads of so many bytes, or event by event. */
  const estimate = (events: readonly string[], readBytes?: number) => {
    const bytes = Buffer.from(events.join(""));
    const tap = new UsageTap("openai", "events");
    const sizes = readBytes === undefined ? events.map((one) => Buffer.byteLength(one)) : [];
    for (let at = 0; at < bytes.length; ) {
      const read = Buffer.from(bytes.subarray(at, at + (readBytes ?? sizes.shift()!)));
      tap.read(read, [0, read.length], 1);
      tap.readDone();
      at += read.length;
    }
    return tap.finish(false, bytes.length, events.filter((one) => !one.startsWith(":")).length).outputTokens;
  };
  const logprob = (token: string) => ({ token, logprob: -0.123456, bytes: [...Buffer.from(token)] });
  const logprobs = {
    content: [{ ...logprob(" tok"), top_logprobs: Array.from({ length: 20 }, (_, n) => logprob(` alternative${n}`)) }],
  };
  const scored = (content: string) => event({ choices: [{ index: 0, delta: { content }, logprobs, finish_reason: null }] });
  const few = stream(50);
  /** Short events, and one that is very long, behind so many of them. */
  const among = (long: string, behind = 25) => [...few.slice(0, behind), long, ...few.slice(behind)];
  const escaped = WORDS.join("").replaceAll(" ", '\n"');
  const cases: readonly (readonly [name: string, events: readonly string[], least: number, most: number])[] = [
    ["nothing", [], 0, 0],
    ["a stream without text", [ROLE, choice(0, "stop"), DONE], 0, 0],
    ["one token", stream(1), 1, 1],
    ["a few, one in each event: exactly", stream(5), 5, 5],
    ["many, one in each event: but for the first event", stream(1_000), 1_001, 1_001],
    ["long ones, one in each event", Array.from({ length: 9 }, () => said(" слов")).concat(DONE), 9, 9],
    ["several in each event", stream(1_000, 4), 800, 1_100],
    ["many in one event", stream(200, 200), 150, 220],
    [
      "one in each event, with the probabilities of twenty others: exactly",
      [...Array.from({ length: 300 }, () => scored(" tok")), DONE],
      300,
      300,
    ],
    ["one event alone, longer than what is kept", [scored(" tok"), DONE], 0, 2],
    ["very many in one event among few", among(said(WORDS.join("").repeat(2_000))), 16_000, 22_000],
    ["very many in one escaped event among few", among(said(escaped.repeat(2_000))), 16_000, 30_000],
    ["very many in one event of another script", among(said("строка ".repeat(9_000))), 18_000, 27_000],
    ...[90, 95, 100, 103, 107].map(
      (behind) =>
        [
          `sixty in one event behind ${behind}`,
          [...stream(150).slice(0, behind), said(WORDS.join("").repeat(6)), ...stream(150).slice(behind)],
          150,
          260,
        ] as const,
    ),
    [
      "few, behind an event with the ids of the prompt",
      among(event({ choices: [], prompt_token_ids: Array.from({ length: 40_000 }, (_, n) => n) }), 1),
      50,
      53,
    ],
    [
      "few, before the same",
      among(event({ choices: [], prompt_token_ids: Array.from({ length: 40_000 }, (_, n) => n) }), few.length - 1),
      45,
      53,
    ],
    [
      "few, and one with a sound",
      among(choice(0, null, { audio: { data: Buffer.alloc(90_000, 0x5b).toString("base64") } })),
      45,
      53,
    ],
    [
      "few, and one with the probabilities of the prompt",
      among(event({ choices: [], prompt_logprobs: Array.from({ length: 900 }, () => logprobs) })),
      45,
      53,
    ],
    ["after comments", [": ping\n\n", ": ping\n: pong\n\n", ...stream(1)], 1, 1],
    ["reasoning", [choice(0, null, { reasoning_content: "Hm" }), said("a"), DONE], 2, 2],
    ["arguments of a tool", [choice(0, null, { tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] }), DONE], 1, 1],
    [
      "completions",
      [event({ choices: [{ text: "a" }] }), event({ choices: [{ text: "b", finish_reason: "stop" }] }), DONE],
      2,
      2,
    ],
    [
      "messages",
      [
        `event: message_start\n${event({ type: "message_start", message: { content: [] } })}`,
        `event: content_block_start\n${event({ type: "content_block_start", content_block: { type: "text", text: "" } })}`,
        `event: content_block_delta\n${event({ type: "content_block_delta", delta: { type: "text_delta", text: "Hi" } })}`,
      ],
      1,
      1,
    ],
  ];
  for (const [name, events, least, most] of cases)
    for (const readBytes of [undefined, 65_536, 4_096, 1_000])
      it(`${name}, in reads of ${readBytes ?? "an event each"}`, () => {
        const tokens = estimate(events, readBytes);
        assert.ok((Number.isNaN(tokens) ? 0 : tokens) >= least && !(tokens > most), `${tokens}`);
      });
});

describe("estimated tokens of a document", () => {
  const words = (count: number) => "word ".repeat(count);
  const chat = (content: string, more: object = {}) =>
    JSON.stringify({ id: "chatcmpl-1", choices: [{ index: 0, message: { role: "assistant", content }, ...more }] });
  const cases: readonly (readonly [name: string, document: string, least: number, most: number])[] = [
    ["none", chat(""), 0, 0],
    ["of a short text: exactly", chat(words(20)), 20, 20],
    ["of a long text: about", chat(words(2000)), 1800, 2000],
    ["of several choices", JSON.stringify({ choices: [{ text: words(9) }, { text: words(9) }] }), 18, 18],
    ["of a tool's arguments", chat("", { tool_calls: [{ function: { arguments: words(30) } }] }), 30, 30],
    ["of a tool's input", JSON.stringify({ content: [{ type: "tool_use", input: { path: words(200) } }] }), 120, 220],
  ];
  for (const [name, document, least, most] of cases)
    it(name, () => {
      const tokens = estimateInDocument(document.slice(-TAIL_BYTES), document.length);
      assert.ok(tokens >= least && tokens <= most, `${tokens}`);
    });
});
