import assert from "node:assert/strict";
import type { Json, ReplicaAssertion } from "./checks.ts";
import {
  chunksOf,
  count,
  fields,
  list,
  object,
  onlyLastFinishes,
  openaiUsage,
  PROMPT,
  postJson,
  postStream,
  REQUESTS,
  sameHead,
  targets,
  text,
  typedOf,
} from "./checks.ts";
import { responseObject } from "./whole-answers.ts";

/** One row per generation API and kind of stream. */
export const streamRows: readonly ReplicaAssertion[] = [
  {
    name: "completions: a stream of data lines up to [DONE]",
    needs: "generate",
    async run(baseUrl, names) {
      for (const model of targets(names)) {
        const events = await postStream(baseUrl, REQUESTS.completions.path, { ...REQUESTS.completions.body, model });
        const chunks = chunksOf(events);
        sameHead(chunks, model, "text_completion");
        onlyLastFinishes(chunks);
        for (const chunk of chunks) {
          fields(list(chunk["choices"], "choices")[0] ?? {}, {
            index: [0],
            text: "string",
            logprobs: [null],
            stop_reason: [null],
          });
        }
        fields(chunks.at(-1) ?? {}, { system_fingerprint: "string" });
        assert.ok(chunks.every((chunk) => !("usage" in chunk) || chunk["usage"] === null));
      }
    },
  },
  {
    name: "completions: include_usage adds one chunk without choices",
    needs: "generate",
    async run(baseUrl, names) {
      const body = { ...REQUESTS.completions.body, model: names.base, stream_options: { include_usage: true } };
      const chunks = chunksOf(await postStream(baseUrl, REQUESTS.completions.path, body));
      sameHead(chunks, names.base, "text_completion");
      onlyLastFinishes(chunks.slice(0, -1));
      assert.deepEqual(chunks.at(-1)?.["choices"], []);
      openaiUsage(chunks.at(-1)?.["usage"]);
    },
  },
  {
    name: "completions: several prompts make several choices, interleaved in a stream",
    needs: "generate",
    async run(baseUrl, names) {
      const body = { model: names.base, prompt: [PROMPT, "Another prompt"], max_tokens: 3, temperature: 0 };
      const answer = await postJson(baseUrl, "/v1/completions", body);
      assert.deepEqual(
        list(answer["choices"], "choices").map((choice) => choice["index"]),
        [0, 1],
      );
      const chunks = chunksOf(await postStream(baseUrl, "/v1/completions", body));
      const indexes = chunks.map((chunk) => list(chunk["choices"], "choices")[0]?.["index"]);
      assert.deepEqual(new Set(indexes), new Set([0, 1]));
    },
  },
  {
    name: "chat completions: a stream that begins with the role and ends with [DONE]",
    needs: "generate",
    async run(baseUrl, names) {
      for (const model of targets(names)) {
        const body = { ...REQUESTS.chat.body, model, stream_options: { include_usage: true } };
        const chunks = chunksOf(await postStream(baseUrl, REQUESTS.chat.path, body));
        sameHead(chunks, model, "chat.completion.chunk");
        const deltas = chunks.slice(0, -1).map((chunk) => object(list(chunk["choices"], "choices")[0]?.["delta"], "delta"));
        assert.equal(deltas[0]?.["role"], "assistant");
        for (const delta of deltas.slice(1)) fields(delta, { content: "string" });
        onlyLastFinishes(chunks.slice(0, -1));
        assert.deepEqual(chunks.at(-1)?.["choices"], []);
        openaiUsage(chunks.at(-1)?.["usage"]);
      }
    },
  },
  {
    name: "responses: a stream of named events from response.created to response.completed, without [DONE]",
    needs: "generate",
    async run(baseUrl, names) {
      for (const model of targets(names)) {
        const body = { ...REQUESTS.responses.body, model };
        const events = typedOf(await postStream(baseUrl, REQUESTS.responses.path, body));
        responseEvents(events, model);
      }
    },
  },
  {
    name: "messages: a stream of named events in Anthropic's order",
    needs: "generate",
    async run(baseUrl, names) {
      for (const model of targets(names)) {
        const events = typedOf(await postStream(baseUrl, REQUESTS.messages.path, { ...REQUESTS.messages.body, model }));
        messageEvents(events, model);
      }
    },
  },
  {
    name: "generate: a stream of data lines up to [DONE]",
    needs: "generate",
    async run(baseUrl, names) {
      const body = { ...REQUESTS.generate.body, model: names.base };
      const chunks = chunksOf(await postStream(baseUrl, REQUESTS.generate.path, body));
      assert.equal(new Set(chunks.map((chunk) => text(chunk["request_id"], "request_id"))).size, 1);
      onlyLastFinishes(chunks);
      for (const chunk of chunks) list(list(chunk["choices"], "choices")[0]?.["token_ids"], "token_ids");
    },
  },
];

function responseEvents(events: readonly Json[], model: string): void {
  const types = events.map((event) => event["type"]);
  const deltas = types.filter((type) => type === "response.output_text.delta");
  assert.deepEqual(types, [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    ...deltas,
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
  assert.deepEqual(
    events.map((event) => event["sequence_number"]),
    events.map((_, index) => index),
  );
  const written = events.map((event) => event["delta"] ?? "").join("");
  assert.equal(events.find((event) => event["type"] === "response.output_text.done")?.["text"], written);
  const created = object(events[0]?.["response"], "response");
  fields(created, { status: ["in_progress"], model: [model], usage: [null] });
  const completed = object(events.at(-1)?.["response"], "response");
  responseObject(completed, model);
  assert.equal(completed["id"], created["id"]);
}

function messageEvents(events: readonly Json[], model: string): void {
  const types = events.map((event) => event["type"]);
  const deltas = events.filter((event) => event["type"] === "content_block_delta");
  assert.deepEqual(types, [
    "message_start",
    "content_block_start",
    ...deltas.map(() => "content_block_delta"),
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  const message = object(events[0]?.["message"], "message");
  fields(message, { id: "string", content: [[]], model: [model], stop_reason: [null], stop_sequence: [null] });
  assert.equal(object(message["usage"], "usage")["output_tokens"], 0);
  fields(events[1] ?? {}, { index: [0], content_block: [{ type: "text", text: "" }] });
  for (const event of deltas) fields(object(event["delta"], "delta"), { type: ["text_delta"], text: "string" });
  const end = events.at(-2);
  text(object(end?.["delta"], "delta")["stop_reason"], "stop_reason");
  count(object(end?.["usage"], "usage")["output_tokens"], "output_tokens");
}
