import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import { startTestRouter, type TestRouter } from "../support/router.ts";

const SAID = "The soup was good — très bonne, 汤很好. ".repeat(8);
const messages = [{ role: "user" as const, content: "Was the soup any good?" }];
const VECTOR = [0.25, -0.5, 1];

/** A server that shares no code and no author with the router: what it answers must arrive as if there were none. */
describe("@copilotkit/aimock behind the router", () => {
  let mock: LLMock;
  let router: TestRouter;
  let openai: OpenAI;
  let anthropic: Anthropic;

  before(async () => {
    mock = new LLMock({ port: 0, host: "127.0.0.1", chunkSize: 7 });
    mock.onMessage("soup", { content: SAID });
    mock.onMessage("break", { content: SAID }, { truncateAfterChunks: 3, latency: 10 });
    mock.onEmbedding("soup", { embedding: VECTOR });
    await mock.start();
    const documents = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: waiter }
spec:
  poolRef: { name: default }
  rules: [ { matches: [ { model: { type: Exact, value: waiter } } ], targets: [ { modelRewrite: gpt-4o } ] } ]
`;
    router = await startTestRouter([mock.url], { documents });
    openai = new OpenAI({ baseURL: `${router.url}/v1`, apiKey: "unused", maxRetries: 0, logLevel: "off" });
    anthropic = new Anthropic({ baseURL: router.url, apiKey: "unused", maxRetries: 0, logLevel: "off" });
  });
  after(async () => {
    await router.close();
    await mock.stop();
  });

  it("chats, whole and in a stream, under the target's name", async () => {
    const whole = await openai.chat.completions.create({ model: "waiter", messages });
    assert.equal(whole.choices[0]?.message.content, SAID);
    assert.equal(whole.model, "gpt-4o");
    let text = "";
    for await (const chunk of await openai.chat.completions.create({ model: "waiter", messages, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? "";
    }
    assert.equal(text, SAID);
  });

  it("serves the responses API, whole and in a stream", async () => {
    const asked = { model: "gpt-4o", input: "Was the soup any good?" };
    assert.equal((await openai.responses.create(asked)).output_text, SAID);
    let text = "";
    for await (const event of await openai.responses.create({ ...asked, stream: true })) {
      if (event.type === "response.output_text.delta") text += event.delta;
    }
    assert.equal(text, SAID);
  });

  it("serves the messages API, whole and in a stream", async () => {
    const asked = { model: "claude-3-5-sonnet-20241022", max_tokens: 500, messages };
    const whole = await anthropic.messages.create(asked);
    assert.equal(whole.content[0]?.type === "text" && whole.content[0].text, SAID);
    assert.equal(await anthropic.messages.stream(asked).finalText(), SAID);
  });

  it("embeds", async () => {
    const asked = { model: "text-embedding-3-small", input: "soup", encoding_format: "float" as const };
    assert.deepEqual((await openai.embeddings.create(asked)).data[0]?.embedding, VECTOR);
  });

  it("makes the SDKs throw when it breaks a stream off", async () => {
    const broken = [{ role: "user" as const, content: "break" }];
    const reading = async () => {
      for await (const _ of await openai.chat.completions.create({ model: "gpt-4o", messages: broken, stream: true }));
    };
    await assert.rejects(reading, { constructor: OpenAI.APIError, code: "upstream_reset" });
    const asked = { model: "claude-3-5-sonnet-20241022", max_tokens: 500, messages: broken };
    await assert.rejects(anthropic.messages.stream(asked).finalText(), Anthropic.APIError);
  });

  it("passes its own errors on", async () => {
    const nothing = [{ role: "user" as const, content: "no fixture for this" }];
    await assert.rejects(openai.chat.completions.create({ model: "gpt-4o", messages: nothing }), OpenAI.NotFoundError);
  });

  it("gets the same body through the router as without it", async () => {
    const direct = new OpenAI({ baseURL: `${mock.url}/v1`, apiKey: "unused", maxRetries: 0 });
    for (const client of [direct, openai]) await client.chat.completions.create({ model: "gpt-4o", messages, seed: 7 });
    const [first, second] = mock.journal.getAll().slice(-2);
    assert.deepEqual(second?.body, first?.body);
  });
});
