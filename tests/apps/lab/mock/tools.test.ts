import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { type MockReplica, startMockReplica } from "../../../../apps/lab/mock/replica.ts";
import { z } from "../../../../core/contract/options.ts";

let replica: MockReplica;
let openai: OpenAI;
let anthropic: Anthropic;
before(async () => {
  replica = await startMockReplica({ model: "m", timeScale: 0 });
  openai = new OpenAI({ baseURL: `${replica.url}/v1`, apiKey: "none", maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: replica.url, apiKey: "none", maxRetries: 0 });
});
after(() => replica.close());

const SCHEMA = {
  type: "object" as const,
  properties: {
    city: { type: "string", minLength: 6 },
    unit: { enum: ["celsius", "kelvin"] },
    days: { type: "integer", minimum: 3 },
  },
  required: ["city", "unit", "days"],
};
const ARGUMENTS = { city: "textxx", unit: "celsius", days: 3 };
const WEATHER = { name: "get_weather", parameters: SCHEMA };
const ask = (content: string) => [{ role: "user" as const, content }];

describe("chat completions call tools", () => {
  const tools = [{ type: "function" as const, function: WEATHER }];
  const chat = (words: string, more: object) =>
    openai.chat.completions.create({ model: "m", messages: ask(words), tools, ...more }) as Promise<OpenAI.ChatCompletion>;

  it("one of them, where one is required", async () => {
    const [choice] = (await chat("hello", { tool_choice: "required" })).choices;
    const [call] = choice!.message.tool_calls!;
    assert.ok(call?.type === "function");
    assert.deepEqual([choice!.finish_reason, choice!.message.content, call.function.name], ["tool_calls", null, "get_weather"]);
    assert.deepEqual(JSON.parse(call.function.arguments), ARGUMENTS);
  });

  it("the one that is named, and ends as servers do then", async () => {
    const [choice] = (await chat("hello", { tool_choice: { type: "function", function: { name: "get_weather" } } })).choices;
    assert.deepEqual([choice!.finish_reason, choice!.message.tool_calls?.length], ["stop", 1]);
  });

  it("with auto, the one that the user speaks of; then text", async () => {
    const called = await chat("please use get_weather", {});
    const { message } = called.choices[0]!;
    const result = { role: "tool" as const, tool_call_id: message.tool_calls![0]!.id, content: "sunny" };
    const messages = [...ask("please use get_weather"), message, result];
    const last = await openai.chat.completions.create({ model: "m", messages, tools });
    assert.deepEqual([last.choices[0]?.finish_reason, typeof last.choices[0]?.message.content], ["stop", "string"]);
    assert.ok(last.usage!.prompt_tokens > called.usage!.prompt_tokens);
    assert.equal((await chat("hello", {})).choices[0]?.message.tool_calls?.length, 0);
    assert.equal((await chat("get_weather", { tool_choice: "none" })).choices[0]?.message.tool_calls?.length, 0);
  });

  it("with auto, by the user's own words among what agents add: instructions behind them, and parts in front", async () => {
    const parts = (...texts: string[]) => texts.map((text) => ({ type: "text" as const, text }));
    const said = (...messages: OpenAI.ChatCompletionMessageParam[]) =>
      openai.chat.completions.create({ model: "m", messages, tools });
    const behind = [
      { role: "system" as const, content: "Where you are" },
      { role: "developer" as const, content: "What you may" },
    ];
    const called = await said({ role: "user", content: parts("reminder", "please use get_weather") }, ...behind);
    assert.equal(called.choices[0]?.finish_reason, "tool_calls");
    const reminded = await said({ role: "user", content: parts("get_weather is a tool", "hello") }, ...behind);
    assert.equal(reminded.choices[0]?.finish_reason, "stop");
    assert.equal((await said(behind[0]!)).choices[0]?.finish_reason, "stop");
  });

  it("in a stream, which the SDK puts together, and in its loop over tools", async () => {
    const runner = openai.chat.completions.stream({ model: "m", messages: ask("x"), tools, tool_choice: "required", n: 2 });
    const final = await runner.finalChatCompletion();
    const calls = final.choices.map(({ message }) => message.tool_calls?.[0]);
    assert.deepEqual(
      calls.map((call) => call?.type === "function" && [call.function.name, JSON.parse(call.function.arguments)]),
      [
        ["get_weather", ARGUMENTS],
        ["get_weather", ARGUMENTS],
      ],
    );
    assert.notEqual(calls[0]?.id, calls[1]?.id);
    const seen: unknown[] = [];
    const run = (args: unknown) => {
      seen.push(args);
      return "sunny";
    };
    const tool = {
      type: "function" as const,
      function: { ...WEATHER, description: "the weather", parse: JSON.parse, function: run },
    };
    const text = await openai.chat.completions
      .runTools({ model: "m", messages: ask("get_weather now"), tools: [tool] })
      .finalContent();
    assert.deepEqual(seen, [ARGUMENTS]);
    assert.ok((text ?? "").length > 0);
  });

  it("is refused where there is no such tool", async () => {
    const named = { type: "function", function: { name: "nope" } };
    await assert.rejects(chat("x", { tool_choice: named }), { status: 400 });
    await assert.rejects(chat("x", { tools: undefined, tool_choice: "required" }), { status: 400 });
  });

  it("cut by its limit, it says so", async () => {
    const [choice] = (await chat("x", { tool_choice: "required", max_tokens: 2 })).choices;
    assert.equal(choice?.finish_reason, "length");
  });
});

describe("structured output", () => {
  const shape = z.object({
    names: z.array(z.string()).min(2),
    place: z.object({ lat: z.number(), kind: z.enum(["a", "b"]) }).nullable(),
  });

  it("of chat completions and responses fits the schema", async () => {
    const chat = await openai.chat.completions.parse({
      model: "m",
      messages: ask("x"),
      response_format: zodResponseFormat(shape, "s"),
    });
    const response = await openai.responses.parse({ model: "m", input: "x", text: { format: zodTextFormat(shape, "s") } });
    for (const parsed of [chat.choices[0]?.message.parsed, response.output_parsed]) assert.ok(shape.safeParse(parsed).success);
  });

  it("of any form is JSON", async () => {
    const format = { type: "json_object" as const };
    const chat = await openai.chat.completions.create({ model: "m", messages: ask("x"), response_format: format });
    assert.doesNotThrow(() => JSON.parse(chat.choices[0]?.message.content ?? ""));
  });
});

it("responses call tools, whole and in a stream", async () => {
  const tools = [{ type: "function" as const, strict: true, ...WEATHER }];
  const asked = { model: "m", input: "x", tools, tool_choice: "required" as const };
  const whole = await openai.responses.create(asked);
  const streamed = await openai.responses.stream(asked).finalResponse();
  for (const { output, status } of [whole, streamed]) {
    const [item] = output;
    assert.ok(item?.type === "function_call" && item.call_id !== "");
    assert.deepEqual([item.name, JSON.parse(item.arguments), status], ["get_weather", ARGUMENTS, "completed"]);
  }
});

it("messages call tools, whole and in a stream", async () => {
  const asked = {
    model: "m",
    max_tokens: 500,
    messages: ask("x"),
    tools: [{ name: "get_weather", input_schema: SCHEMA }],
    tool_choice: { type: "any" as const },
  };
  const whole = await anthropic.messages.create(asked);
  const streamed = await anthropic.messages.stream(asked).finalMessage();
  for (const { content, stop_reason } of [whole, streamed]) {
    const [block] = content;
    assert.ok(block?.type === "tool_use");
    assert.deepEqual([block.name, block.input, stop_reason], ["get_weather", ARGUMENTS, "tool_use"]);
  }
});

it("log probabilities come where they are asked for", async () => {
  const chat = await openai.chat.completions.create({
    model: "m",
    messages: ask("x"),
    logprobs: true,
    top_logprobs: 2,
    max_tokens: 3,
  });
  const content = chat.choices[0]?.logprobs?.content ?? [];
  assert.deepEqual([content.length, content[0]?.top_logprobs.length], [3, 2]);
  assert.equal(content.map(({ token }) => token).join(""), chat.choices[0]?.message.content);
  const text = await openai.completions.create({ model: "m", prompt: "x", logprobs: 1, max_tokens: 3 });
  assert.deepEqual(text.choices[0]?.logprobs?.tokens?.join(""), text.choices[0]?.text);
});
