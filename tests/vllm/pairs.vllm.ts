/**
 * A real pair: prompts on one vLLM, answers on another, caches moved by NIXL:
 * `SIGNALBOX_VLLM=DIR node --import tsx --test tests/vllm/pairs.vllm.ts`.
 */
import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import { hasNixl, type RealVllm, startVllm, vllmDir, vllmNames } from "../support/real-vllm.ts";
import { startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";

const PREFILL = { port: 8196, sideChannelPort: 8197 };
const DECODE = { port: 8198, sideChannelPort: 8199 };
const label = (role: string) => `labels: { llm-d.ai/role: ${role} }`;
const spec = `  pool:
    endpoints:
      - { url: "http://127.0.0.1:${PREFILL.port}", name: prompts, ${label("prefill")} }
      - { url: "http://127.0.0.1:${DECODE.port}", name: answers, ${label("decode")} }
  disaggregation: { decider: always }
`;

const dir = vllmDir();
if (dir === undefined || !hasNixl(dir)) {
  test("a real pair of vLLM servers", (t) => t.skip("SIGNALBOX_VLLM names no folder whose vLLM has the package nixl"));
} else {
  describe("a real pair of vLLM servers", () => {
    const { base: model } = vllmNames(dir);
    let prefill: RealVllm;
    let decode: RealVllm;
    let router: TestRouter;
    before(
      async () => {
        [prefill, decode] = await Promise.all([startVllm({ dir, ...PREFILL }), startVllm({ dir, ...DECODE })]);
        router = await startTestRouter([], { spec, ready: 2 });
      },
      { timeout: 450_000 },
    );
    after(async () => {
      await router?.close();
      await Promise.all([prefill?.stop(), decode?.stop()]);
    });

    const words = (seed: number, count = 60) =>
      Array.from({ length: count }, (_, at) => `w${(at * 7 + seed * 131) % 9973}`).join(" ");
    const post = (url: string, path: string, body: object, signal?: AbortSignal) =>
      fetch(`${url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model, temperature: 0, ...body }),
        ...(signal && { signal }),
      });
    /** Prompt tokens that the answers' server had from this source. */
    const tokensFrom = async (source: string) => {
      const text = await (await fetch(`${decode.url}/metrics`)).text();
      return Number(new RegExp(`prompt_tokens_by_source_total\\{.*source="${source}"\\} (\\S+)`).exec(text)?.[1]);
    };

    const apis: readonly (readonly [path: string, body: (prompt: string) => object, text: RegExp])[] = [
      ["/v1/completions", (prompt) => ({ prompt, max_tokens: 8 }), /"text":"((?:[^"\\]|\\.)*)"/],
      [
        "/v1/chat/completions",
        (prompt) => ({ messages: [{ role: "user", content: prompt }], max_tokens: 8 }),
        /"content":"((?:[^"\\]|\\.)*)"/,
      ],
      ["/v1/responses", (prompt) => ({ input: prompt, max_output_tokens: 8, store: false }), /"text":"((?:[^"\\]|\\.)*)"/],
      [
        "/v1/messages",
        (prompt) => ({ messages: [{ role: "user", content: prompt }], max_tokens: 8 }),
        /"text":"((?:[^"\\]|\\.)*)"/,
      ],
      [
        "/inference/v1/generate",
        (prompt) => ({ token_ids: idsOf(prompt), sampling_params: { max_tokens: 8, temperature: 0 } }),
        /"token_ids":\[([^\]]*)\]/,
      ],
    ];
    for (const [index, [path, body, text]] of apis.entries()) {
      it(`${path}: the text is that of one server, and the answers' server computes none of the prompt`, async () => {
        const before = await tokensFrom("external_kv_transfer");
        const answer = await post(router.url, path, body(words(index)));
        const answered = await answer.text();
        assert.equal(answer.status, 200, answered);
        assert.equal(answer.headers.get("x-signalbox-endpoint"), "answers");
        assert.ok((await tokensFrom("external_kv_transfer")) > before + 100);
        const alone = await (await post(prefill.url, path, body(words(index)))).text();
        assert.equal(text.exec(answered)?.[1], text.exec(alone)?.[1]);
      });

      it(`${path}: a stream comes to its end`, async () => {
        const answer = await post(router.url, path, { ...body(words(index + 50)), stream: true });
        const answered = await answer.text();
        assert.equal(answer.status, 200, answered);
        assert.match(answered, /\[DONE\]|"response\.(completed|incomplete)"|message_stop/);
      });
    }

    it("serves 200 pairs at eight at a time, some of whose clients leave, and no cache keeps a block", async () => {
      let next = 0;
      let served = 0;
      const from = router.log.length;
      const client = async () => {
        for (let at = next++; at < 200; at = next++) {
          const leaving = at % 10 === 9 ? AbortSignal.timeout(20 + ((at * 37) % 400)) : undefined;
          try {
            const answer = await post(
              router.url,
              "/v1/completions",
              { prompt: words(at + 200), max_tokens: 6, stream: at % 2 === 0 },
              leaving,
            );
            await answer.text();
            assert.equal(answer.status, 200);
            served += 1;
          } catch (error) {
            if (leaving === undefined) throw error;
          }
        }
      };
      await Promise.all(Array.from({ length: 8 }, client));
      assert.ok(served >= 180, String(served));
      await waitUntil(() => router.log.length >= from + 200);
      assert.ok((await tokensFrom("local_compute")) < 2_000);
      for (const { url } of [prefill, decode]) {
        for (let isEmpty = false; !isEmpty; )
          isEmpty = /kv_cache_usage_perc\{[^}]*\} 0\.0\n/.test(await (await fetch(`${url}/metrics`)).text());
      }
    });

    it("serves on where the prompts' server is killed amid them", async () => {
      let next = 0;
      const statuses: number[] = [];
      const client = async () => {
        for (let at = next++; at < 60; at = next++) {
          if (at === 20) void prefill.kill();
          const answer = await post(router.url, "/v1/completions", {
            prompt: words(at + 600),
            max_tokens: 6,
            stream: at % 2 === 0,
          });
          await answer.text();
          statuses.push(answer.status);
        }
      };
      await Promise.all(Array.from({ length: 8 }, client));
      assert.deepEqual(
        statuses,
        Array.from({ length: 60 }, () => 200),
      );
    });
  });
}

const idsOf = (prompt: string) => Array.from(prompt, (char) => 3 + (char.charCodeAt(0) % 60));
