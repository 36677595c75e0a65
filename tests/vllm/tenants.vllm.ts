/** Tenants on a real vLLM: `SIGNALBOX_VLLM=DIR node --import tsx --test tests/vllm/tenants.vllm.ts`. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, it, test } from "node:test";
import { type RealVllm, startVllm, vllmDir, vllmNames } from "../support/real-vllm.ts";
import { startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import type { CacheLine } from "./cache-line.ts";

const PORT = 8191;
const digest = (key: string) => createHash("sha256").update(key).digest("hex");
const entry = (name: string, tenant: string) => `{ name: ${name}, sha256: ${digest(`sk-${name}`)}, tenant: ${tenant} }`;
const spec = `  auth: { saltByTenant: true, keys: [${entry("a1", "a")}, ${entry("a2", "a")}, ${entry("b1", "b")}] }\n`;

const dir = vllmDir();
if (dir === undefined) test("tenants of a real vLLM", (t) => t.skip("SIGNALBOX_VLLM names no folder with venv/bin/vllm"));
else {
  describe("a real vLLM, with saltByTenant", () => {
    let vllm: RealVllm;
    let router: TestRouter;
    before(
      async () => {
        vllm = await startVllm({ dir, port: PORT });
        router = await startTestRouter([vllm.url], { spec });
      },
      { timeout: 450_000 },
    );
    after(async () => {
      await router?.close();
      await vllm?.stop();
    });

    const text = "The soup was warm and the bread was fresh. ".repeat(12);
    const apis: readonly (readonly [path: string, body: object])[] = [
      ["/v1/completions", { prompt: text, max_tokens: 2 }],
      ["/v1/chat/completions", { messages: [{ role: "user", content: text }], max_tokens: 2 }],
      ["/v1/chat/completions", { messages: [{ role: "user", content: text }], max_tokens: 2, cache_salt: "mine" }],
    ];
    for (const [path, body] of apis) {
      it(`${path}${"cache_salt" in body ? " with a salt of the client's" : ""}: only the tenant itself finds its prompt cached`, async () => {
        const cached: number[] = [];
        for (const key of ["a1", "b1", "a2", "b1"]) {
          const before = router.log.length;
          const answer: Response = await fetch(`${router.url}${path}`, {
            method: "POST",
            headers: { "content-type": "application/json", authorization: `Bearer sk-${key}` },
            body: JSON.stringify({ model: vllmNames(dir).base, ...body }),
          });
          assert.equal(answer.status, 200, await answer.text());
          await waitUntil(() => router.log.length > before);
          const line = router.log.at(-1) as CacheLine;
          cached.push(line.cachedTokens);
          console.log(
            `${path} by ${key}: ${line.promptTokens} tokens, ${line.cachedTokens} cached, ${line.predictedCachedTokens} expected`,
          );
        }
        const [first, other, again, otherAgain] = cached as [number, number, number, number];
        assert.deepEqual([first, other], [0, 0]);
        assert.ok(again > 0 && otherAgain > 0, String(cached));
      });
    }
  });
}
