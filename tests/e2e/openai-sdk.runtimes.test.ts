import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import OpenAI from "openai";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";

const REWRITE = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food-review }
spec:
  poolRef: { name: default }
  rules:
    - matches: [ { model: { type: Exact, value: food-review } } ]
      targets: [ { modelRewrite: food-review-v1 } ]
    - matches: [ { model: { type: Exact, value: nowhere } } ]
      targets: [ { modelRewrite: not-loaded } ]
`;

const CHAT = "/v1/chat/completions";
const messages = [{ role: "user" as const, content: "Was the soup any good?" }];

describe("the openai package through the router", () => {
  let replica: MockReplica;
  let embedder: MockReplica;
  let router: TestRouter;
  let client: OpenAI;

  before(async () => {
    replica = await startMockReplica({ model: "base", adapters: ["food-review-v1"], timeScale: 0.1 });
    embedder = await startMockReplica({ model: "embedder", isEmbedding: true, timeScale: 0 });
    router = await startTestRouter([replica.url, embedder.url], { documents: REWRITE });
    client = new OpenAI({ baseURL: `${router.url}/v1`, apiKey: "unused", maxRetries: 0, logLevel: "off" });
  });
  after(async () => {
    await router.close();
    await Promise.all([replica.close(), embedder.close()]);
  });

  it("lists the models, with the names that rules match", async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    assert.deepEqual(ids.sort(), ["base", "embedder", "food-review", "food-review-v1", "nowhere"]);
  });

  it("retrieves one model, of a replica or of a rule, and says which there are instead of another", async () => {
    for (const id of ["base", "food-review-v1", "food-review"]) {
      const model = await client.models.retrieve(id);
      assert.deepEqual([model.id, model.object, model.owned_by], [id, "model", "signalbox"]);
      assert.ok(model.created > 0);
    }
    await assert.rejects(client.models.retrieve("food-reviews"), (thrown: unknown) => {
      assert.ok(thrown instanceof OpenAI.NotFoundError);
      assert.deepEqual([thrown.code, thrown.type], ["model_not_found", "not_found_error"]);
      assert.match(
        thrown.message,
        /^404 There is no such model \(did you mean "food-review"\?\); .* one of: food-review, nowhere, base, embedder,/,
      );
      return true;
    });
  });

  it("chats", async () => {
    const answer = await client.chat.completions.create({ model: "base", messages, max_tokens: 5 });
    assert.equal(answer.object, "chat.completion");
    assert.equal(answer.model, "base");
    assert.ok(answer.choices[0]?.message.content);
    assert.equal(answer.usage?.completion_tokens, 5);
    assert.match(answer._request_id ?? "", /^req-/);
  });

  it("chats in a stream", async () => {
    const whole = await client.chat.completions.create({ model: "base", messages, max_tokens: 20 });
    const stream = await client.chat.completions.create({
      model: "base",
      messages,
      max_tokens: 20,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let tokens = 0;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      tokens = chunk.usage?.completion_tokens ?? tokens;
    }
    assert.equal(text, whole.choices[0]?.message.content);
    assert.equal(tokens, 20);
  });

  it("completes, whole and in a stream", async () => {
    const asked = { model: "base", prompt: "Once upon a time", max_tokens: 8 };
    const whole = await client.completions.create(asked);
    assert.equal(whole.object, "text_completion");
    let text = "";
    for await (const chunk of await client.completions.create({ ...asked, stream: true })) text += chunk.choices[0]?.text ?? "";
    assert.equal(text, whole.choices[0]?.text);
  });

  it("uses the responses API, whole and in a stream", async () => {
    const asked = { model: "base", input: "Say something", max_output_tokens: 8 };
    const whole = await client.responses.create(asked);
    assert.equal(whole.object, "response");
    assert.ok(whole.output_text);
    let text = "";
    let last = "";
    for await (const event of await client.responses.create({ ...asked, stream: true })) {
      if (event.type === "response.output_text.delta") text += event.delta;
      last = event.type;
    }
    assert.equal(text, whole.output_text);
    assert.match(last, /^response\.(completed|incomplete)$/);
  });

  it("embeds, as floats and as base64", async () => {
    for (const encoding_format of ["float", "base64"] as const) {
      const answer = await client.embeddings.create({ model: "embedder", input: ["a", "b"], encoding_format });
      assert.equal(answer.data.length, 2);
      assert.equal(answer.model, "embedder");
    }
  });

  it("is served by the target, and can see by whom", async () => {
    const asked = client.chat.completions.create({ model: "food-review", messages, max_tokens: 2 });
    const { data, response, request_id } = await asked.withResponse();
    assert.equal(data.model, "food-review-v1");
    assert.equal(response.headers.get("x-signalbox-model"), "food-review-v1");
    assert.equal(response.headers.get("x-signalbox-endpoint"), new URL(replica.url).host.replace(":", "-"));
    assert.equal(request_id, response.headers.get("request-id"));
    assert.equal(replica.seen.last()?.headers.find(([name]) => name.toLowerCase() === "x-request-id")?.[1], request_id);
  });

  it("keeps the id that the application gave", async () => {
    const asked = client.chat.completions.create(
      { model: "base", messages, max_tokens: 1 },
      { headers: { "x-request-id": "order-7" } },
    );
    assert.equal((await asked.withResponse()).request_id, "order-7");
  });

  const refused: readonly {
    name: string;
    asked: Record<string, unknown>;
    error: typeof OpenAI.NotFoundError | typeof OpenAI.BadRequestError | typeof OpenAI.InternalServerError;
    status: number;
    code: string;
    message: RegExp;
  }[] = [
    {
      name: "an unknown model",
      asked: { model: "nobody", messages },
      error: OpenAI.NotFoundError,
      status: 404,
      code: "model_not_found",
      message: /set "model" to one of: food-review, nowhere, base,/,
    },
    {
      name: "no model",
      asked: { messages },
      error: OpenAI.BadRequestError,
      status: 400,
      code: "missing_model",
      message: /model/,
    },
    {
      name: "a model that is no text",
      asked: { model: 7, messages },
      error: OpenAI.BadRequestError,
      status: 400,
      code: "missing_model",
      message: /model/,
    },
    {
      name: "a target that nobody serves",
      asked: { model: "nowhere", messages },
      error: OpenAI.InternalServerError,
      status: 503,
      code: "target_unavailable",
      message: /"not-loaded"/,
    },
  ];
  for (const { name, asked, error, status, code, message } of refused) {
    it(`throws ${error.name} on ${name}`, async () => {
      await assert.rejects(client.chat.completions.create(asked as never), (thrown: unknown) => {
        assert.ok(thrown instanceof error, String(thrown));
        assert.equal(thrown.status, status);
        assert.equal(thrown.code, code);
        assert.match(thrown.message, message);
        assert.match(thrown.requestID ?? "", /^req-/);
        return true;
      });
    });
  }

  it("throws the replica's own error unchanged", async () => {
    await assert.rejects(client.chat.completions.create({ model: "base", messages: [] }), (thrown: unknown) => {
      assert.ok(thrown instanceof OpenAI.BadRequestError);
      assert.match(thrown.message, /at least one message/);
      return true;
    });
  });

  it("throws NotFoundError on a path the router does not serve", async () => {
    await assert.rejects(client.fineTuning.jobs.retrieve("job-1"), OpenAI.NotFoundError);
    await assert.rejects(client.files.list(), /501 .* no list of all is made/);
    await assert.rejects(client.files.retrieve("file-1"), OpenAI.NotFoundError);
  });

  for (const fault of ["dieAfterEvents", "resetAfterEvents", "dieInsideEvent"] as const) {
    it(`throws when a replica dies in mid-stream (${fault})`, async () => {
      await replica.faults.set(fault, 3, { times: 1 });
      const stream = await client.chat.completions.create({ model: "base", messages, max_tokens: 50, stream: true });
      let chunks = 0;
      const reading = async () => {
        for await (const _ of stream) chunks += 1;
      };
      await assert.rejects(reading, { constructor: OpenAI.APIError, code: "upstream_reset" });
      assert.ok(chunks > 0);
    });
  }

  it("throws when a replica dies in mid-stream on the responses API", async () => {
    await replica.faults.set("dieAfterEvents", 6, { times: 1 });
    const stream = await client.responses.create({ model: "base", input: "x", max_output_tokens: 50, stream: true });
    await assert.rejects(async () => {
      for await (const _ of stream);
    }, OpenAI.APIError);
  });

  it("tries again by itself when the router says that this can help", async () => {
    const patient = new OpenAI({ baseURL: `${router.url}/v1`, apiKey: "unused", maxRetries: 1 });
    await replica.faults.set("status", { status: 429, retryAfterS: 0 }, { times: 1 });
    const answer = await patient.chat.completions.create({ model: "base", messages, max_tokens: 1 });
    assert.equal(answer.object, "chat.completion");
    assert.equal(retryCount(replica), "1");
  });

  it("does not try again where this could only repeat the failure", async () => {
    const patient = new OpenAI({ baseURL: `${router.url}/v1`, apiKey: "unused", maxRetries: 2 });
    await replica.faults.set("reset", true);
    await assert.rejects(patient.chat.completions.create({ model: "base", messages, max_tokens: 1 }), { code: "upstream_reset" });
    await replica.faults.clear();
    assert.equal(retryCount(replica), "0");
  });

  for (const way of ["the controller", "leaving the loop"]) {
    it(`closes the connection to the replica when a stream is aborted by ${way}`, async () => {
      const stream = await client.chat.completions.create({ model: "base", messages, max_tokens: 100_000, stream: true });
      const record = replica.seen.last(CHAT);
      for await (const _ of stream) {
        if (way === "the controller") stream.controller.abort();
        else break;
      }
      await waitUntil(() => record?.outcome === "aborted");
      await waitUntil(() => router.log.at(-1)?.ending === "client-left");
    });
  }

  it("throws InternalServerError while no replica is ready", async () => {
    const alone = await startTestRouter(["http://127.0.0.1:9"], { ready: 0 });
    try {
      const early = new OpenAI({ baseURL: `${alone.url}/v1`, apiKey: "unused", maxRetries: 0 });
      await assert.rejects(early.chat.completions.create({ model: "base", messages }), (thrown: unknown) => {
        assert.ok(thrown instanceof OpenAI.InternalServerError);
        assert.equal(thrown.status, 503);
        assert.equal(thrown.code, "no_ready_endpoint");
        assert.match(thrown.headers?.get("retry-after") ?? "", /^[1-9]\d?$/);
        return true;
      });
    } finally {
      await alone.close();
    }
  });
});

/** What the package says of the last request that reached the replica: how many it sent before for the same call. */
function retryCount(replica: MockReplica): string | undefined {
  return replica.seen.last(CHAT)?.headers.find(([name]) => name.toLowerCase() === "x-stainless-retry-count")?.[1];
}
