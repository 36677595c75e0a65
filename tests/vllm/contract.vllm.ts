/**
 * Runs the replica contract against a real vLLM, so that the mock is held to what vLLM does:
 * `SIGNALBOX_VLLM=DIR node --import tsx --test tests/vllm/contract.vllm.ts`, where DIR holds venv/bin/vllm, model/ and
 * model/lora/food-review-v1 and -v2. Not part of `npm test`: a server takes half a minute to start and 4 GB.
 */
import { after, before, describe, test } from "node:test";
import type { RealVllm } from "../support/real-vllm.ts";
import { startVllm, vllmDir, vllmNames } from "../support/real-vllm.ts";
import { assertionsFor } from "../support/replica-contract.ts";

const dir = vllmDir();

const DEPLOYMENTS = [
  { name: "generation", isEmbedding: false, port: 8131, rows: assertionsFor("any", "engine", "generate", "generate-engine") },
  { name: "embedding", isEmbedding: true, port: 8132, rows: assertionsFor("any", "engine", "embed") },
] as const;

if (dir === undefined) {
  test("a real vLLM", (t) => t.skip("SIGNALBOX_VLLM names no folder with venv/bin/vllm, so no real vLLM was asked."));
} else {
  for (const { name, isEmbedding, port, rows } of DEPLOYMENTS) {
    describe(`a real vLLM with a model for ${name}`, () => {
      let vllm: RealVllm | undefined;
      before(
        async () => {
          vllm = await startVllm({ dir, port, isEmbedding });
        },
        { timeout: 240_000 },
      );
      after(() => vllm?.stop());
      for (const row of rows) test(row.name, () => row.run(vllm?.url ?? "", vllmNames(dir, isEmbedding)));
    });
  }
}
