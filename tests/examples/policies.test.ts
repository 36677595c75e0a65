import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, it } from "node:test";
import { TraceReader } from "../../apps/lab/simulate/read-trace.ts";
import { type Run, runAll } from "../../apps/lab/simulate/run.ts";
import { loadConfig } from "../../config/load.ts";
import { formatProblems } from "../../config/read/problems.ts";
import { builtIns } from "../../plugins/registry.ts";
import { examplePath, simulationOf } from "./example-files.ts";

const CONFIGS = readdirSync(examplePath("policies")).filter((name) => name.endsWith(".yaml"));
const SETTINGS = simulationOf(8);

/** Thirty conversations of six turns. Each prompt is the one before plus more text; all have the same first block. */
const TRACE = (() => {
  const reader = new TraceReader("conversations");
  for (let index = 0; index < 180; index++) {
    const conversation = index % 30;
    const turn = Math.floor(index / 30);
    const own = Array.from({ length: 4 * (turn + 1) }, (_, block) => 1000 * (conversation + 1) + block);
    const hash_ids = [0, ...own];
    const line = { timestamp: 400 * index, input_length: 512 * hash_ids.length, output_length: 40 + 3 * conversation, hash_ids };
    reader.push(`${JSON.stringify(line)}\n`);
  }
  return reader.end();
})();

async function simulate(config: string, seed: number): Promise<Run> {
  const loaded = await loadConfig([examplePath(`policies/${config}`)], builtIns);
  assert.equal(loaded.problems && formatProblems(loaded.problems), undefined);
  assert.ok(loaded.problems === undefined);
  const [run] = runAll([TRACE], [{ name: config, loaded }], { ...SETTINGS, seed }, 1, () => {});
  return run!;
}

describe("every policy", () => {
  for (const config of CONFIGS) {
    it(`${config} completes all requests, and gives the same results again`, async () => {
      const run = await simulate(config, 1);
      assert.equal(run.completionRatio, 1);
      assert.equal(run.faultyDecisions, 0);
      assert.ok(run.ttftSeconds.mean > 0 && run.ttftSeconds.p99 < 60, JSON.stringify(run.ttftSeconds));
      assert.deepEqual(await simulate(config, 1), run);
    });
  }
});

describe("on conversations", () => {
  const followers = [
    "aibrix-prefix",
    "bounded-load-hash-after-512",
    "dynamo-cost",
    "llm-d-default",
    "llm-d-precise",
    "lmetric",
    "mooncake",
  ];
  for (const name of [...followers, "sglang-cache-aware", "sglang-smallest-tree"]) {
    it(`${name} finds more tokens in caches than random choice`, async () => {
      const chance = await simulate("random.yaml", 1);
      const run = await simulate(`${name}.yaml`, 1);
      assert.ok(run.hitRatio > 1.2 * chance.hitRatio, `${run.hitRatio} against ${chance.hitRatio}`);
    });
  }

  it("least-request keeps the load more even than random choice", async () => {
    const chance = await simulate("random.yaml", 1);
    for (const config of ["least-request.yaml", "power-of-two.yaml"]) {
      assert.ok((await simulate(config, 1)).imbalance < chance.imbalance, config);
    }
  });

  it("another seed gives other endpoints", async () => {
    assert.notDeepEqual(await simulate("random.yaml", 2), await simulate("random.yaml", 1));
  });
});
