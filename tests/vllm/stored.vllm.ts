/** Stored responses of two real vLLMs: `SIGNALBOX_VLLM=DIR node --import tsx --test tests/vllm/stored.vllm.ts`. */
import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import OpenAI from "openai";
import { type RealVllm, startVllm, vllmDir, vllmNames } from "../support/real-vllm.ts";
import { readyCount, startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";

const PORTS = [8197, 8198];

const dir = vllmDir();
if (dir === undefined)
  test("stored responses of a real vLLM", (t) => t.skip("SIGNALBOX_VLLM names no folder with venv/bin/vllm"));
else {
  describe("two real vLLMs that keep responses", () => {
    const model = vllmNames(dir).base;
    const asked = { model, max_output_tokens: 4, temperature: 0 };
    let vllms: RealVllm[] = [];
    let router: TestRouter;
    let client: OpenAI;
    const spec = "  profiles: [{ name: default, plugins: [{ pluginRef: round-robin }] }]\n";
    const clientOf = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: "unused", maxRetries: 0, logLevel: "off" });
    const start = async () => {
      router = await startTestRouter(
        vllms.map(({ url }) => url),
        { spec },
      );
      client = clientOf(router.url);
    };
    before(
      async () => {
        vllms = await Promise.all(PORTS.map((port) => startVllm({ dir, port, keepsResponses: true })));
        await start();
      },
      { timeout: 450_000 },
    );
    after(async () => {
      await router?.close();
      await Promise.all(vllms.map((vllm) => vllm.stop()));
    });

    it("give each response back by its id, and continue it, whichever made it", async () => {
      const places = new Set<string | null>();
      for (let turn = 0; turn < 4; turn++) {
        const { data, response } = await client.responses.create({ ...asked, input: `Say ${turn}` }).withResponse();
        const place = response.headers.get("x-signalbox-endpoint");
        places.add(place);
        const read = await client.responses.retrieve(data.id).withResponse();
        assert.deepEqual([read.data.id, read.response.headers.get("x-signalbox-endpoint")], [data.id, place]);
        const next = await client.responses.create({ ...asked, input: "Again", previous_response_id: data.id }).withResponse();
        assert.equal(next.response.headers.get("x-signalbox-endpoint"), place);
        assert.ok(next.data.usage!.input_tokens > data.usage!.input_tokens);
      }
      assert.equal(places.size, 2);
    });

    it("are asked for a response in the background until it is done, and cancel one that is not", async () => {
      const made = await client.responses.create({ ...asked, input: "Say hello", background: true });
      let { status } = made;
      while (status === "queued" || status === "in_progress") ({ status } = await client.responses.retrieve(made.id));
      // It is cut at max_output_tokens.
      assert.equal(status, "incomplete");
      const long = await client.responses.create({ ...asked, max_output_tokens: 2_000, input: "Count", background: true });
      const cancelled = await client.responses.cancel(long.id);
      assert.equal(cancelled.status, "cancelled");
    });

    it("are asked who has it by a router that has begun anew, and say themselves that nobody does", async () => {
      const ids: string[] = [];
      for (let turn = 0; turn < 4; turn++) ids.push((await client.responses.create({ ...asked, input: `Say ${turn}` })).id);
      await router.close();
      await start();
      for (const id of ids) {
        assert.equal((await client.responses.retrieve(id)).id, id);
        assert.notEqual((await client.responses.create({ ...asked, input: "Again", previous_response_id: id })).id, id);
      }
      await assert.rejects(client.responses.retrieve("resp_nobody"), OpenAI.NotFoundError);
      const next = client.responses.create({ ...asked, input: "Again", previous_response_id: "resp_nobody" });
      await assert.rejects(next, OpenAI.NotFoundError);
    });

    it("are gone with what they kept", async () => {
      const made = await client.responses.create({ ...asked, input: "Say hello" }).withResponse();
      const place = made.response.headers.get("x-signalbox-endpoint");
      const at = router.router.pool.facts.endpoints.find(({ name }) => name === place)!.url.port;
      await vllms[PORTS.indexOf(at)]!.stop();
      await waitUntil(() => readyCount(router.router) === 1);
      await assert.rejects(client.responses.retrieve(made.data.id), /404 The replica that kept this response is gone/);
    });
  });
}
