import assert from "node:assert/strict";
import { after, it } from "node:test";
import { createRouter } from "../../apps/fetch.ts";
import { CHAT, chatBody, postRequest } from "../support/fetch-router.ts";
import { chunkOf, LAST_CHUNK, type Script, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";
import { examplePath, exampleText } from "./example-files.ts";

/** A stream of four tokens, of which the last three come after `pauseMs`. */
const streamWith =
  (pauseMs: number): Script =>
  (_request, socket) => {
    const usage = { prompt_tokens: 2, completion_tokens: 4 };
    socket.write(STREAM_HEAD + chunkOf('data: {"choices":[{"delta":{"content":"a"}}]}\n\n'));
    const end = chunkOf(`data: ${JSON.stringify({ usage })}\n\ndata: [DONE]\n\n`) + LAST_CHUNK;
    setTimeout(() => socket.write(end), pauseMs);
  };

it("latency-predictor/ learns which replica is too slow for a target per token", async () => {
  const replicas = await Promise.all([600, 0].map((pauseMs) => startScriptedReplica(streamWith(pauseMs))));
  const [slow, fast] = replicas;
  const text = exampleText(
    "latency-predictor/router.yaml",
    replicas.map(({ url }) => url),
  ).replace(/from: \.\/([\w-]+\.ts)/g, (_, file) => `from: ${JSON.stringify(examplePath(`latency-predictor/${file}`))}`);
  const router = await createRouter({ text });
  after(async () => {
    router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  await router.whenReady(10_000);
  const headers = { "x-llm-d-slo-ttft-ms": "0", "x-llm-d-slo-tpot-ms": "100" };
  for (let i = 0; i < 8; i++) {
    const response = await router.fetch(postRequest(CHAT, chatBody(',"stream":true'), { headers }));
    assert.match(await response.text(), /\[DONE\]/);
  }
  assert.deepEqual([slow!.requests.length, fast!.requests.length], [1, 7]);
});
