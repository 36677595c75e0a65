import type { ReplicaAssertion } from "./checks.ts";
import { errorOf, jsonOf, PROMPT, post, REQUESTS, send } from "./checks.ts";

/** How the replica says no. */
export const errorRows: readonly ReplicaAssertion[] = [
  {
    name: "an unknown model is 404 in the shape of the called API",
    needs: "generate",
    async run(baseUrl) {
      for (const { path, body } of Object.values(REQUESTS)) {
        await errorOf(baseUrl, path, { ...body, model: "no-such-model" }, 404, path === "/v1/messages");
        await errorOf(baseUrl, path, { ...body, model: "no-such-model", stream: true }, 404, path === "/v1/messages");
      }
    },
  },
  {
    name: "broken JSON is 400",
    needs: "generate",
    async run(baseUrl, names) {
      for (const { path } of Object.values(REQUESTS)) {
        // The shape on /v1/messages is vLLM's own at this point, or Anthropic's where a proxy answers.
        await errorOf(baseUrl, path, `{"model":"${names.base}"`, 400, false);
      }
    },
  },
  {
    name: "an empty body is 400",
    needs: "generate",
    run: (baseUrl) => errorOf(baseUrl, REQUESTS.chat.path, "", 400, false),
  },
  {
    name: "a generation model has no embeddings",
    needs: "generate",
    async run(baseUrl, names) {
      await jsonOf(await post(baseUrl, "/v1/embeddings", { model: names.base, input: PROMPT }), 404);
    },
  },
  {
    name: "an unknown path is 404",
    needs: "any",
    async run(baseUrl) {
      await jsonOf(await send(baseUrl, "/v1/no-such-path"), 404);
    },
  },
];
