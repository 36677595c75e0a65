import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { startMockReplica } from "../../apps/lab/mock/replica.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { openClient, postBytes } from "../support/raw-client.ts";
import { outstanding, startTestRouter } from "../support/router.ts";
import { assertIdle } from "../support/scripted-pool.ts";

const PROMPT = "word ".repeat(2_000);

/** A request of each API, and what its client has when the replica has not yet worked off the prompt. */
const apis: readonly { readonly path: string; readonly body: object; readonly before: string; readonly first: RegExp }[] = [
  { path: "/v1/completions", body: { prompt: PROMPT, max_tokens: 100 }, before: "\r\n\r\n", first: /"text":/ },
  {
    path: "/v1/chat/completions",
    body: { messages: [{ role: "user", content: PROMPT }] },
    before: "\r\n\r\n",
    first: /"delta":/,
  },
  {
    path: "/v1/messages",
    body: { messages: [{ role: "user", content: PROMPT }], max_tokens: 100 },
    before: "\r\n\r\n",
    first: /"message_start"/,
  },
  {
    path: "/v1/responses",
    body: { input: PROMPT },
    before: "event: response.in_progress\n",
    first: /response.output_text.delta/,
  },
];

describe("the load of a prompt", () => {
  for (const { path, body, before, first } of apis) {
    it(`${path}: counts until the replica has worked it off, whatever the stream begins with`, async () => {
      const clock = new FakeClock();
      const replica = await startMockReplica({ model: "m", clock });
      const router = await startTestRouter([replica.url]);
      after(async () => {
        await router.close();
        await replica.close();
      });
      const client = await openClient(router.port);
      client.send(postBytes(path, JSON.stringify({ model: "m", stream: true, ...body })));
      await client.until((text) => text.includes(before));
      // The last of the opening events may still be on its way.
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.ok(outstanding(router.router).prefillTokens > 1_000, client.received);
      await clock.advance(500);
      await client.until((text) => first.test(text));
      assert.deepEqual(outstanding(router.router), { inFlight: 1, prefillTokens: 0 });
      await clock.advance(60_000);
      await client.until((text) => text.endsWith("0\r\n\r\n"));
      client.destroy();
      await assertIdle(router);
    });
  }
});
