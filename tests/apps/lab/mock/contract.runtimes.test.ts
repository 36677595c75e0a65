import { after, before, describe, test } from "node:test";
import type { MockOptions } from "../../../../apps/lab/mock/options.ts";
import type { MockReplica } from "../../../../apps/lab/mock/replica.ts";
import { startMockReplica } from "../../../../apps/lab/mock/replica.ts";
import { assertionsFor } from "../../../support/replica-contract.ts";

const NAMES = { base: "tiny", adapters: ["food-review-v1", "food-review-v2"], adapterPath: "/adapters/more" };

const DEPLOYMENTS: readonly { name: string; options: MockOptions; rows: ReturnType<typeof assertionsFor> }[] = [
  {
    name: "generation",
    // Slow enough that a stream of thousands of tokens is still running when the client leaves.
    options: { model: NAMES.base, adapters: NAMES.adapters, timeScale: 0.1 },
    rows: assertionsFor("any", "engine", "generate", "generate-engine"),
  },
  {
    name: "embedding",
    options: { model: NAMES.base, isEmbedding: true, timeScale: 0 },
    rows: assertionsFor("any", "engine", "embed"),
  },
];

for (const { name, options, rows } of DEPLOYMENTS) {
  describe(`a mock replica for ${name} keeps the contract of a real one`, () => {
    let replica: MockReplica | undefined;
    before(async () => {
      replica = await startMockReplica(options);
    });
    after(() => replica?.close());
    const names = options.isEmbedding ? { base: NAMES.base, adapters: [] } : NAMES;
    for (const row of rows) test(row.name, () => row.run(replica?.url ?? "", names));
  });
}
