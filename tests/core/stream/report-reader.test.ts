import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Dialect } from "../../../core/contract/errors.ts";
import { ReportReader } from "../../../core/stream/report-reader.ts";

const NONE = Number.NaN;
const OWN = { prompt_tokens: 813, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 800 } };
const READ = { promptTokens: 813, outputTokens: 4, cachedTokens: 800 };
const OTHER = { prompt_tokens: 7, completion_tokens: 7 };
const LONG = Array.from({ length: 3000 }, (_, index) => ({ id: index, top: { usage: "}\\", '"usage"': -1.5 } }));
const event = (data: object, end = "\n") => `data: ${JSON.stringify(data)}${end}${end}`;
const messagesEvent = (data: { readonly type: string }) => `event: ${data.type}\n${event(data)}`;
const choice = (index: number, reason: string | null, delta: object = {}) => ({
  id: "chatcmpl-1",
  choices: [{ index, delta, logprobs: null, finish_reason: reason, stop_reason: null }],
});
const DONE = "data: [DONE]\n\n";

type Row = readonly [name: string, text: string, usage: object | undefined, reason?: string, dialect?: Dialect];

const DOCUMENTS: readonly Row[] = [
  ["behind what is long", JSON.stringify({ choices: [{ finish_reason: "stop", tokens: LONG }], usage: OWN }), READ, "stop"],
  ["before what is long", JSON.stringify({ usage: OWN, choices: [{ finish_reason: "stop", tokens: LONG }] }), READ, "stop"],
  [
    "between",
    JSON.stringify({ prompt_logprobs: LONG, usage: OWN, choices: [{ finish_reason: "length" }, LONG] }),
    READ,
    "length",
  ],
  ["longer than 1 KiB", JSON.stringify({ usage: { per_turn: LONG, ...OWN, more: LONG } }), READ],
  [
    "beside a tool's input before it",
    JSON.stringify({ content: [{ input: { usage: OTHER, stop_reason: "x" } }], stop_reason: "tool_use", usage: OWN }),
    READ,
    "tool_use",
    "anthropic",
  ],
  [
    "beside a tool's input behind it",
    JSON.stringify({ usage: OWN, stop_reason: "tool_use", content: [{ input: { usage: OTHER, stop_reason: "x" } }] }),
    READ,
    "tool_use",
    "anthropic",
  ],
  ["not of a choice", JSON.stringify({ choices: [{ finish_reason: "stop", usage: OTHER }] }), undefined, "stop"],
  ["not of the element of a list", JSON.stringify([{ usage: OTHER }]), undefined],
  ["not a text that looks like it", JSON.stringify({ text: JSON.stringify({ usage: OTHER }) }), undefined],
  ["not a name that ends like it", JSON.stringify({ 'a"usage': OTHER, "a\\": 1 }), undefined],
  ["behind a text that ends with a backslash", `{"text":"a\\\\","usage":${JSON.stringify(OWN)}}`, READ],
  ["the last one of two", `{"usage":${JSON.stringify(OTHER)},"usage":${JSON.stringify(OWN)}}`, READ],
  [
    "of several choices, the first one's reason",
    JSON.stringify({ choices: [choice(1, "stop"), choice(0, "length")].map((each) => each.choices[0]) }),
    undefined,
    "length",
  ],
  [
    "of a response",
    JSON.stringify({ output: [{ status: "incomplete", usage: OTHER }], status: "completed", usage: OWN }),
    READ,
    "completed",
    "responses",
  ],
  [
    "of a response that is incomplete",
    JSON.stringify({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, usage: OWN, output: LONG }),
    READ,
    "max_output_tokens",
    "responses",
  ],
  ["not of a document that is cut", JSON.stringify({ usage: OWN, text: "x" }).slice(0, 90), undefined],
];

const STREAMS: readonly Row[] = [
  ["of the last event", event({ ...choice(0, "stop"), usage: null }) + event({ choices: [], usage: OWN }) + DONE, READ, "stop"],
  [
    "of each event, the last one's",
    event({ ...choice(0, null), usage: OTHER }) + event({ ...choice(0, "stop"), usage: OWN }),
    READ,
    "stop",
  ],
  ["before an event that is long", event({ ...choice(0, "stop"), usage: OWN }) + event({ sglext: LONG }) + DONE, READ, "stop"],
  [
    "before much of its own event",
    event({ ...choice(0, "stop"), usage: OWN, __verbose: { content: LONG, usage: OTHER } }) + DONE,
    READ,
    "stop",
  ],
  ["before many comments", event({ ...choice(0, "stop"), usage: OWN }) + ": ping\n\n".repeat(900), READ, "stop"],
  ["with other lines in its event", `${event({ ...choice(0, "stop"), usage: OWN }).slice(0, -1)}: "}{\nid: {"\n\n`, READ, "stop"],
  [
    "in lines that end with CRLF",
    event({ ...choice(0, "stop"), usage: OWN }, "\r\n") + event({ usage: null }, "\r\n"),
    READ,
    "stop",
  ],
  [
    "in lines that end with CR",
    event({ ...choice(0, "stop"), usage: OWN }, "\r") + event({ a: { usage: OTHER } }, "\r"),
    READ,
    "stop",
  ],
  ["of several lines of data", event({ ...choice(0, "stop"), usage: OWN }).replaceAll(',"', ',\ndata: "'), READ, "stop"],
  ["without an empty line at the end", event({ ...choice(0, "stop"), usage: OWN }).trimEnd(), READ, "stop"],
  [
    "after an event that is no JSON",
    `data: {"usage":{"prompt_tokens": 3, "a\n\n${event({ ...choice(0, "stop"), usage: OWN })}`,
    READ,
    "stop",
  ],
  [
    "of the first of several choices",
    event(choice(1, "stop")) + event(choice(0, "length")) + event(choice(2, "stop")) + DONE,
    undefined,
    "length",
  ],
  ["of another choice, where the first one's is not there", event(choice(1, "stop")) + DONE, undefined, "stop"],
  ["of a stream that broke off", event(choice(0, null, { content: '"finish_reason":"stop"' })), undefined],
  ["no word", event(choice(0, "<b>")) + event(choice(0, "x".repeat(50))), undefined],
  [
    "of messages",
    messagesEvent({
      type: "message_start",
      message: { usage: { input_tokens: 9, cache_read_input_tokens: 800 }, stop_reason: null },
    } as never) +
      messagesEvent({ type: "content_block_start", content_block: { input: { usage: OTHER } } } as never) +
      messagesEvent({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 4 } } as never) +
      messagesEvent({ type: "message_stop", more: LONG } as never),
    { promptTokens: 809, outputTokens: 4, cachedTokens: 800 },
    "end_turn",
    "anthropic",
  ],
  [
    "of the event's response, and of nothing else in it",
    event({ response: { status: "in_progress", usage: null }, type: "response.created" }) +
      event({ item: { status: "incomplete", usage: OTHER, response: { usage: OTHER, status: "failed" } } }) +
      event({
        type: "response.completed",
        response: { output: [{ usage: OTHER }], usage: OWN, status: "completed", more: { usage: OTHER } },
        beside: { usage: OTHER, status: "a" },
      }) +
      event({ more: LONG }),
    READ,
    "completed",
    "responses",
  ],
];

describe("what a response reports of its generation", () => {
  for (const [rows, isStream] of [
    [DOCUMENTS, false],
    [STREAMS, true],
  ] as const)
    for (const [name, text, usage, reason = "", dialect = "openai"] of rows)
      it(`${isStream ? "in a stream" : "in a document"}: ${name}`, () => {
        const bytes = Buffer.from(text);
        // Which choice it is of is only seen where both are in one read.
        const pieces = name.includes("choices") ? [] : bytes.length > 10_000 ? [999, 65_536] : [1, 2, 3, 5, 7, 11, 16, 23, 100];
        for (const size of [...pieces, bytes.length])
          assert.deepEqual(read(bytes, isStream, dialect, size), { usage, reason }, `in reads of ${size}`);
      });

  const count = fc.oneof(fc.integer({ min: 0, max: 999_999_999 }), fc.constant(null));
  const usage = fc.record({
    completion_tokens: count,
    prompt_tokens: count,
    prompt_tokens_details: fc.option(fc.record({ cached_tokens: count })),
  });
  const name = fc.constantFrom("usage", "finish_reason", "a", 'us"age', "\\", "message", "response");
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(1.5, null, "usage", '"usage":{', "\\", "é"),
      usage,
      fc.dictionary(name, tie("value"), { maxKeys: 4 }),
      fc.array(tie("value"), { maxLength: 3 }),
    ),
  }));
  const document = fc
    .tuple(fc.dictionary(name, value), fc.option(usage), fc.dictionary(name, value))
    .map(([before, own, behind]) => {
      delete before["usage"];
      delete behind["usage"];
      return { ...before, usage: own, ...behind };
    });

  it("is what a JSON parser reads, whatever stands around it, in whatever pieces and spaces", () => {
    fc.assert(
      fc.property(document, fc.constantFrom(undefined, 1, "\t"), fc.integer({ min: 1, max: 60 }), (object, space, size) => {
        assert.deepEqual(
          read(Buffer.from(JSON.stringify(object, undefined, space)), false, "openai", size).usage,
          expected(object.usage),
        );
      }),
    );
  });

  it("is the last event's that has one", () => {
    fc.assert(
      fc.property(
        fc.array(document, { maxLength: 4 }),
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.integer({ min: 1, max: 60 }),
        (objects, end, size) => {
          const text = objects.map((object) => `: "{\n${event(object, end)}`.replaceAll("\n", end)).join("");
          const merged: Record<string, number> = {};
          for (const object of objects) Object.assign(merged, expected(object.usage, false));
          const { usage: found } = read(Buffer.from(text), true, "openai", size);
          if (found === undefined)
            assert.deepEqual(
              Object.keys(merged).filter((key) => key !== "cachedTokens"),
              [],
            );
          else assert.deepEqual(found, { promptTokens: NONE, outputTokens: NONE, cachedTokens: undefined, ...merged });
        },
      ),
    );
  });

  it("reads no byte behind the end, and never throws", () => {
    const piece = fc.constantFrom(
      '"usage"',
      ":",
      "{",
      "}",
      "[",
      " ",
      "\n",
      "\r",
      '"input_tokens"',
      '"status"',
      "12",
      "\\",
      '"',
      'usage":{',
      "x",
      "data: ",
      '"response":{',
    );
    const dialects = fc.constantFrom<Dialect>("openai", "anthropic", "responses");
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }),
        fc.array(piece, { maxLength: 10 }),
        dialects,
        fc.boolean(),
        fc.integer({ min: 1, max: 90 }),
        (pieces, rest, dialect, isStream, size) => {
          const text = pieces.join("");
          const all = Buffer.from(text + rest.join("")).subarray(0, text.length);
          assert.deepEqual(read(all, isStream, dialect, size), read(Buffer.from(text), isStream, dialect, text.length + 1));
        },
      ),
      { numRuns: 1000 },
    );
  });
});

interface Reported {
  readonly completion_tokens: number | null;
  readonly prompt_tokens: number | null;
  readonly prompt_tokens_details: { readonly cached_tokens: number | null } | null;
}

function expected(usage: Reported | null, isWhole = true): object | undefined {
  const cached = usage?.prompt_tokens_details?.cached_tokens ?? undefined;
  const prompt = usage?.prompt_tokens ?? undefined;
  const output = usage?.completion_tokens ?? undefined;
  if (!isWhole)
    return {
      ...(prompt !== undefined && { promptTokens: prompt }),
      ...(output !== undefined && { outputTokens: output }),
      ...(cached !== undefined && { cachedTokens: cached }),
    };
  if (prompt === undefined && output === undefined) return undefined;
  return { promptTokens: prompt ?? NONE, outputTokens: output ?? NONE, cachedTokens: cached };
}

/** The memory of a read is used again for the next one. */
function read(bytes: Buffer, isStream: boolean, dialect: Dialect, size: number) {
  const reader = new ReportReader();
  reader.begin(dialect, isStream);
  const memory = Buffer.alloc(size + 9, '"usage":n');
  for (let at = 0; at < bytes.length; at += size) {
    const length = bytes.copy(memory, 2, at, at + size);
    memory.write(":null{}", 2 + length);
    reader.read(memory, 2, 2 + length);
  }
  reader.end();
  return { usage: reader.marks.usage(), reason: reader.marks.finishReason };
}
