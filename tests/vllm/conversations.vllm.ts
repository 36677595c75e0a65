/** Conversations over two real vLLMs, which keep no responses: `SIGNALBOX_VLLM=DIR node --import tsx --test tests/vllm/conversations.vllm.ts`. */
import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import OpenAI from "openai";
import { type RealVllm, startVllm, vllmDir, vllmNames } from "../support/real-vllm.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";

const PORTS = [8195, 8196];

const dir = vllmDir();
if (dir === undefined) test("conversations over a real vLLM", (t) => t.skip("SIGNALBOX_VLLM names no folder with venv/bin/vllm"));
else {
  describe("two real vLLMs, with conversations", () => {
    const model = vllmNames(dir).base;
    let vllms: RealVllm[] = [];
    let router: TestRouter;
    let client: OpenAI;
    before(
      async () => {
        vllms = await Promise.all(PORTS.map((port) => startVllm({ dir, port })));
        router = await startTestRouter(
          vllms.map(({ url }) => url),
          { spec: "  conversations: {}\n" },
        );
        client = new OpenAI({ baseURL: `${router.url}/v1`, apiKey: "unused", maxRetries: 0, logLevel: "off" });
      },
      { timeout: 450_000 },
    );
    after(async () => {
      await router?.close();
      await Promise.all(vllms.map((vllm) => vllm.stop()));
    });

    it("alone know no response before", async () => {
      const alone = new OpenAI({ baseURL: `${vllms[0]!.url}/v1`, apiKey: "unused", maxRetries: 0, logLevel: "off" });
      const first = await alone.responses.create({ model, input: "Say hello", max_output_tokens: 4 });
      const next = alone.responses.create({ model, input: "Again", previous_response_id: first.id, max_output_tokens: 4 });
      await assert.rejects(next, OpenAI.NotFoundError);
    });

    for (const isStream of [false, true])
      it(`go on, ${isStream ? "streamed" : "whole"}: each turn has the prompt and the answer before it, and finds them cached`, async () => {
        const places: (string | null)[] = [];
        const counts: { input: number; output: number; cached: number }[] = [];
        const asked = { model, max_output_tokens: 8, temperature: 0 };
        let id: string | undefined;
        for (const input of [
          "The soup was warm and the bread was fresh. ".repeat(30) + isStream,
          "And the salad?",
          "And the tea?",
        ]) {
          const previous = id === undefined ? {} : { previous_response_id: id };
          const { data, response } = await (isStream
            ? client.responses.create({ ...asked, ...previous, input, stream: true }).withResponse()
            : client.responses.create({ ...asked, ...previous, input }).withResponse());
          places.push(response.headers.get("x-signalbox-endpoint"));
          const whole = "output" in data ? data : await lastOf(data);
          id = whole.id;
          const { input_tokens, output_tokens, input_tokens_details } = whole.usage!;
          counts.push({ input: input_tokens, output: output_tokens, cached: input_tokens_details.cached_tokens });
        }
        console.log(JSON.stringify({ places, counts }));
        assert.equal(new Set(places).size, 1);
        for (const [index, { input, cached }] of counts.slice(1).entries()) {
          const before = counts[index]!;
          assert.ok(input > before.input, JSON.stringify(counts));
          assert.ok(cached > 0, JSON.stringify(counts));
        }
      });
  });
}

async function lastOf(stream: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>): Promise<OpenAI.Responses.Response> {
  let last: OpenAI.Responses.Response | undefined;
  for await (const event of stream) if ("response" in event) last = event.response;
  assert.ok(last !== undefined);
  return last;
}
