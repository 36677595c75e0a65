import assert from "node:assert/strict";
import type { ReplicaAssertion } from "./checks.ts";
import { errorOf, fields, jsonOf, list, openaiUsage, PROMPT, post, postJson, REQUESTS, text } from "./checks.ts";

/** What an embedding model serves. */
export const embeddingRows: readonly ReplicaAssertion[] = [
  {
    name: "embeddings: one text and several",
    needs: "embed",
    async run(baseUrl, names) {
      for (const input of [PROMPT, [PROMPT, "Another text"]]) {
        const answer = await postJson(baseUrl, "/v1/embeddings", { model: names.base, input });
        fields(answer, { object: ["list"], model: [names.base] });
        const data = list(answer["data"], "data");
        assert.equal(data.length, [input].flat().length);
        data.forEach((item, index) => {
          fields(item, { index: [index], object: ["embedding"] });
          for (const value of list(item["embedding"], "embedding")) assert.equal(typeof value, "number");
        });
        openaiUsage(answer["usage"]);
      }
    },
  },
  {
    name: "embeddings: base64 holds the same numbers",
    needs: "embed",
    async run(baseUrl, names) {
      const body = { model: names.base, input: PROMPT };
      const [plain] = list((await postJson(baseUrl, "/v1/embeddings", body))["data"], "data");
      const packed = await postJson(baseUrl, "/v1/embeddings", { ...body, encoding_format: "base64" });
      const bytes = Buffer.from(text(list(packed["data"], "data")[0]?.["embedding"], "embedding"), "base64");
      assert.equal(bytes.length, 4 * list(plain?.["embedding"], "embedding").length);
    },
  },
  {
    name: "embeddings: unknown model 404, broken JSON 400",
    needs: "embed",
    async run(baseUrl) {
      await errorOf(baseUrl, "/v1/embeddings", { model: "no-such-model", input: PROMPT }, 404, false);
      await errorOf(baseUrl, "/v1/embeddings", '{"input":"', 400, false);
    },
  },
  {
    name: "an embedding model has no generation",
    needs: "embed",
    async run(baseUrl, names) {
      for (const { path, body } of Object.values(REQUESTS)) {
        await jsonOf(await post(baseUrl, path, { ...body, model: names.base }), 404);
      }
    },
  },
];
