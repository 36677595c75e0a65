import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { estimateTokens } from "../../../core/stream/estimate-tokens.ts";
import { TAIL_BYTES } from "../../../core/stream/usage-tap.ts";

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
  const estimate = (events: readonly string[]) => {
    const text = events.join("");
    return estimateTokens(text.slice(-TAIL_BYTES), events.filter((one) => !one.startsWith(":")).length, text.length);
  };
  const cases: readonly (readonly [name: string, events: readonly string[], least: number, most: number])[] = [
    ["nothing", [], 0, 0],
    ["a stream without text", [ROLE, choice(0, "stop"), DONE], 0, 0],
    ["one token", stream(1), 1, 1],
    ["a few, one in each event: exactly", stream(5), 5, 5],
    ["many, one in each event: but for the first event", stream(1_000), 1_001, 1_001],
    ["long ones, one in each event", Array.from({ length: 9 }, () => said(" строка")).concat(DONE), 9, 9],
    ["several in each event", stream(1_000, 4), 800, 1_100],
    ["many in one event", stream(200, 200), 150, 220],
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
  for (const [name, events, least, most] of cases) {
    it(name, () => {
      const tokens = estimate(events);
      assert.ok(tokens >= least && tokens <= most, `${tokens}`);
    });
  }
});
