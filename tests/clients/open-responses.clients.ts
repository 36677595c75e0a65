/**
 * The cases that Open Responses lists for servers of its API, as requests and checks of our own, sent with fetch. It has six; the seventh
 * came later. What an engine can't do is named, with what it answers instead.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseSse } from "../support/sse-events.ts";
import { withClients } from "./client.ts";
import { assertServed, KEY, linesSince, MODEL, type Stack, stacks } from "./stack.ts";

type Json = Readonly<Record<string, unknown>>;

interface Case {
  readonly name: string;
  readonly body: Json;
  /** Events that a stream must have beside those of every stream; undefined: the response comes whole. */
  readonly events?: readonly string[];
  /** The type of an item that the output must have. */
  readonly output: "message" | "function_call";
  /** What a model that takes text only says. */
  readonly refusal?: RegExp;
}

const said = (role: string, content: unknown) => ({ type: "message", role, content });

/** The tool's name is in the question, and the tool is chosen: neither the mock nor a random model can think. */
const TOOLS = {
  input: [said("user", "Use weather_at for Oslo.")],
  tools: [
    {
      type: "function",
      name: "weather_at",
      description: "The weather at a place",
      parameters: {
        type: "object",
        properties: { place: { type: "string", enum: ["Oslo", "Rome"] } },
        required: ["place"],
        additionalProperties: false,
      },
    },
  ],
  tool_choice: { type: "function", name: "weather_at" },
};

/** One grey point. */
const PICTURE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";

const CASES: readonly Case[] = [
  { name: "a basic text response", body: { input: [said("user", "Greet me in a few words.")] }, output: "message" },
  {
    name: "a streaming response",
    body: { input: [said("user", "Name three stations.")] },
    events: ["response.content_part.added", "response.output_text.delta", "response.output_text.done"],
    output: "message",
  },
  {
    name: "a system prompt",
    body: { input: [said("system", "You announce trains."), said("user", "Greet me.")] },
    output: "message",
  },
  { name: "the call of a tool", body: TOOLS, output: "function_call" },
  {
    name: "the call of a tool, in a stream",
    body: TOOLS,
    events: ["response.function_call_arguments.delta", "response.function_call_arguments.done"],
    output: "function_call",
  },
  {
    name: "an image as input",
    body: {
      input: [
        said("user", [
          { type: "input_text", text: "What is this?" },
          { type: "input_image", image_url: PICTURE },
        ]),
      ],
    },
    output: "message",
    refusal: /not a multimodal model/,
  },
  {
    name: "a conversation of several turns",
    body: {
      input: [said("user", "I am Ida."), said("assistant", "Good morning, Ida."), said("user", "Who am I?")],
    },
    output: "message",
  },
];

/** A random model, left to itself, has nothing to say or does not end. The mock's texts are shorter. */
const BOUNDS = { temperature: 0, max_output_tokens: 200 };

/** Events of every stream. */
const EVENTS = ["response.created", "response.in_progress", "response.output_item.added", "response.output_item.done"];

withClients("Open Responses", () => {
  for (const stack of stacks()) {
    describe(`Open Responses, through the router to ${stack.name}`, () => {
      for (const one of CASES) {
        it(`has ${one.name}${refuses(one, stack) ? ": the engine's refusal" : ""}`, async () => {
          const from = stack.lines().length;
          const response = await ask(stack, one);
          const text = await response.text();
          const lines = await linesSince(stack, from);
          if (refuses(one, stack)) {
            assert.deepEqual([response.status, lines.map(({ status }) => status)], [400, [400]]);
            assert.match(text, one.refusal ?? /./);
            return;
          }
          assert.equal(response.status, 200, text);
          assertResponse(one.events === undefined ? (JSON.parse(text) as Json) : lastOf(text, one.events), one, stack);
          assertServed(lines, "/v1/responses");
        });
      }
    });
  }
});

function refuses({ refusal }: Case, { isMock }: Stack): boolean {
  return refusal !== undefined && !isMock;
}

function ask({ url }: Stack, { body, events }: Case): Promise<Response> {
  return fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ model: MODEL, ...BOUNDS, stream: events !== undefined, ...body }),
  });
}

/** The response in a stream's last event, once its events are in order. */
function lastOf(text: string, more: readonly string[]): Json {
  const events = parseSse(text).map(({ data }) => JSON.parse(data) as Json & { readonly type: string });
  const types = events.map(({ type }) => type);
  for (const type of [...EVENTS, ...more]) assert.ok(types.includes(type), `No ${type} in ${types}`);
  assert.equal(types[0], "response.created");
  assert.deepEqual(
    events.map((event) => event["sequence_number"]),
    events.map((_, index) => index),
  );
  const last = events.at(-1);
  assert.match(last?.type ?? "", /^response\.(completed|incomplete)$/);
  return last?.["response"] as Json;
}

/** Keys that a response has, and of which type they are. Engines leave out more that the document wants: `completed_at`, `error`, `store` … */
function assertResponse(response: Json, { output, body }: Case, { isMock }: Stack): void {
  assert.match(String(response["id"]), /^resp_/);
  assert.deepEqual([response["object"], response["previous_response_id"]], ["response", null]);
  assert.ok(Number.isInteger(response["created_at"]));
  // The real model's text may go on to its limit.
  assert.match(String(response["status"]), isMock ? /^completed$/ : /^(completed|incomplete)$/);
  assert.equal(response["model"], "food-review-v1");
  assert.equal((response["tools"] as unknown[]).length, ((body["tools"] ?? []) as unknown[]).length);
  for (const key of ["temperature", "top_p"]) assert.equal(typeof response[key], "number", key);
  assert.equal(typeof response["parallel_tool_calls"], "boolean");
  const { input_tokens: input, output_tokens: out, total_tokens: total } = response["usage"] as Readonly<Record<string, number>>;
  assert.ok(input! > 0 && out! > 0 && total === input! + out!);
  const item = (response["output"] as readonly Json[]).find(({ type }) => type === output);
  assert.ok(item !== undefined, JSON.stringify(response["output"]));
  if (output === "message") assertMessage(item);
  else assertCall(item);
}

function assertMessage(item: Json): void {
  const [part] = item["content"] as readonly Json[];
  assert.deepEqual([item["role"], part?.["type"]], ["assistant", "output_text"]);
  assert.ok(String(part?.["text"]).length > 0);
}

function assertCall(item: Json): void {
  assert.equal(item["name"], "weather_at");
  assert.ok(String(item["call_id"]).length > 0);
  const { place } = JSON.parse(String(item["arguments"])) as Json;
  assert.ok(place === "Oslo" || place === "Rome");
}
