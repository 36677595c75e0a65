import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
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

const MESSAGES = "/v1/messages";
const asked = { model: "base", max_tokens: 8, messages: [{ role: "user" as const, content: "Was the soup any good?" }] };

describe("the @anthropic-ai/sdk package through the router", () => {
  let replica: MockReplica;
  let router: TestRouter;
  let client: Anthropic;

  before(async () => {
    replica = await startMockReplica({ model: "base", adapters: ["food-review-v1"], timeScale: 0.1 });
    router = await startTestRouter([replica.url], { documents: REWRITE });
    client = new Anthropic({ baseURL: router.url, apiKey: "unused", maxRetries: 0, logLevel: "off" });
  });
  after(async () => {
    await router.close();
    await replica.close();
  });

  it("sends a message", async () => {
    const { data, request_id } = await client.messages.create(asked).withResponse();
    assert.equal(data.type, "message");
    assert.equal(data.role, "assistant");
    assert.equal(data.model, "base");
    assert.equal(data.stop_reason, "max_tokens");
    assert.equal(data.usage.output_tokens, 8);
    assert.equal(data.content[0]?.type, "text");
    assert.match(request_id ?? "", /^req-/);
    assert.match((await client.messages.create(asked))._request_id ?? "", /^req-/);
  });

  it("sends a message in a stream", async () => {
    const whole = await client.messages.create(asked);
    const events: string[] = [];
    const stream = client.messages.stream(asked).on("streamEvent", ({ type }) => events.push(type));
    assert.deepEqual((await stream.finalMessage()).content[0], { ...whole.content[0] });
    assert.equal(events[0], "message_start");
    assert.equal(events.at(-1), "message_stop");
    let text = "";
    for await (const event of await client.messages.create({ ...asked, stream: true })) {
      if (event.type === "content_block_delta" && event.delta.type === "text_delta") text += event.delta.text;
    }
    assert.deepEqual(whole.content[0]?.type === "text" && whole.content[0].text, text);
  });

  it("is served by the target, and can see by whom", async () => {
    const { data, response } = await client.messages.create({ ...asked, model: "food-review" }).withResponse();
    assert.equal(data.model, "food-review-v1");
    assert.equal(response.headers.get("x-signalbox-model"), "food-review-v1");
    assert.equal(response.headers.get("x-signalbox-endpoint"), new URL(replica.url).host.replace(":", "-"));
  });

  it("passes the package's own headers on", async () => {
    await client.messages.create(asked);
    const headers = new Map(replica.seen.last(MESSAGES)?.headers.map(([name, value]) => [name.toLowerCase(), value]));
    assert.ok(headers.has("anthropic-version"));
    assert.equal(headers.get("authorization"), "Bearer unused");
  });

  const refused: readonly {
    name: string;
    asked: Record<string, unknown>;
    error: typeof Anthropic.NotFoundError | typeof Anthropic.BadRequestError | typeof Anthropic.InternalServerError;
    status: number;
    type: string;
    code: string;
    message: RegExp;
  }[] = [
    {
      name: "an unknown model",
      asked: { ...asked, model: "nobody" },
      error: Anthropic.NotFoundError,
      status: 404,
      type: "not_found_error",
      code: "model_not_found",
      message: /set "model" to one of: /,
    },
    {
      name: "no model",
      asked: { ...asked, model: undefined },
      error: Anthropic.BadRequestError,
      status: 400,
      type: "invalid_request_error",
      code: "missing_model",
      message: /model/,
    },
    {
      name: "a target that nobody serves",
      asked: { ...asked, model: "nowhere" },
      error: Anthropic.InternalServerError,
      status: 503,
      type: "overloaded_error",
      code: "target_unavailable",
      message: /"not-loaded"/,
    },
  ];
  for (const { name, asked, error, status, type, code, message } of refused) {
    it(`throws ${error.name} on ${name}`, async () => {
      await assert.rejects(client.messages.create(asked as never), (thrown: unknown) => {
        assert.ok(thrown instanceof error, String(thrown));
        assert.equal(thrown.status, status);
        assert.equal(thrown.type, type);
        assert.equal(thrown.errorCode, code);
        assert.match(thrown.apiMessage ?? "", message);
        assert.match(thrown.requestID ?? "", /^req-/);
        return true;
      });
    });
  }

  it("throws the replica's own error unchanged", async () => {
    await replica.faults.set("status", 418, { times: 1 });
    await assert.rejects(client.messages.create(asked), (thrown: unknown) => {
      assert.ok(thrown instanceof Anthropic.APIError);
      assert.equal(thrown.status, 418);
      assert.match(thrown.message, /A fault makes this replica respond with 418/);
      return true;
    });
  });

  for (const fault of ["dieAfterEvents", "resetAfterEvents", "dieInsideEvent"] as const) {
    it(`throws when a replica dies in mid-stream (${fault})`, async () => {
      await replica.faults.set(fault, 4, { times: 1 });
      const stream = await client.messages.create({ ...asked, max_tokens: 50, stream: true });
      let events = 0;
      const reading = async () => {
        for await (const _ of stream) events += 1;
      };
      await assert.rejects(reading, { constructor: Anthropic.APIError, errorCode: "upstream_reset" });
      assert.ok(events > 0);
    });
  }

  for (const way of ["the controller", "leaving the loop"]) {
    it(`closes the connection to the replica when a stream is aborted by ${way}`, async () => {
      const stream = await client.messages.create({ ...asked, max_tokens: 100_000, stream: true });
      const record = replica.seen.last(MESSAGES);
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
      const early = new Anthropic({ baseURL: alone.url, apiKey: "unused", maxRetries: 0 });
      await assert.rejects(early.messages.create(asked), (thrown: unknown) => {
        assert.ok(thrown instanceof Anthropic.InternalServerError);
        assert.equal(thrown.status, 503);
        assert.equal(thrown.type, "overloaded_error");
        assert.equal(thrown.errorCode, "no_ready_endpoint");
        return true;
      });
    } finally {
      await alone.close();
    }
  });
});
