/** The reference router's own config files, from a folder beside the checkout: which of them load, what they become, and that they run. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { TraceReader } from "../../apps/lab/simulate/read-trace.ts";
import { runAll } from "../../apps/lab/simulate/run.ts";
import { type LoadedConfig, loadConfig } from "../../config/load.ts";
import { NO_OVERLAY } from "../../config/rewrites/overlay.ts";
import { builtIns } from "../../plugins/registry.ts";
import { sharedPath } from "../support/shared.ts";
import { simulationOf } from "./example-files.ts";

const PREFIX = "prefix-cache-scorer (prefix-cache)";
const DECODE = "decode-filter (by-label)";
const PICKER = "max-score-picker (max-score)";

/** What the profile of a file is, without the two default filters in front. */
const LOADED: Readonly<Record<string, readonly string[]>> = {
  "dp-epp-config.yaml": [DECODE, PICKER, `${PREFIX} 2`],
  "epp-burst-prefix-cache-config.yaml": [DECODE, "burst-prefix 2", "load-aware-scorer (load-aware) 1", PICKER],
  "epp-config.yaml": [DECODE, PICKER, `${PREFIX} 2`],
  "epp-estimate-prefix-cache-config.yaml": [DECODE, `${PREFIX} 1`, "load-aware-scorer (load-aware) 1", PICKER],
  "epp-precise-prefix-cache-config.yaml": [
    DECODE,
    `${PREFIX} 2`,
    "kv-cache-utilization-scorer (kv-cache-utilization) 1",
    "queue-scorer (queue) 1",
    PICKER,
  ],
  "pd-epp-config.yaml": [DECODE, PICKER, `${PREFIX} 2`, "queue-scorer (queue) 1"],
  "pd-topology-epp-config.yaml": [DECODE, PICKER, `${PREFIX} 2`, "queue-scorer (queue) 1"],
  "sim-epp-config.yaml": [DECODE, PICKER, `${PREFIX} 2`],
  "sim-epp-kvcache-config.yaml": [DECODE, PICKER, `${PREFIX} 10`],
  "sim-epp-no-hit-lru.yaml": [DECODE, PICKER, `${PREFIX} 2`, "no-hit-lru-scorer (no-hit-lru) 1"],
  "sim-epp-gpu-config.yaml": [
    DECODE,
    "gpu-utilization-filter (attribute-filter)",
    "gpu-utilization-scorer (attribute-scorer) 2",
    "kv-cache-utilization-scorer (kv-cache-utilization) 1",
    PICKER,
  ],
  "sim-pd-epp-config.yaml": [DECODE, PICKER, `${PREFIX} 2`, "queue-scorer (queue) 1"],
  "sim-program-aware-config.yaml": ["queue-scorer (queue) 1", PICKER],
  "soft-reflective-ceiling-epp-config.yaml": [
    "queue-scorer (queue) 2",
    "kv-cache-utilization-scorer (kv-cache-utilization) 2",
    `${PREFIX} 3`,
    "max-score",
  ],
};

const PREFILL = "prefill-filter (by-label)";

/** By file: the profile that chooses who processes prompts, without the two default filters. */
const PREFILL_PROFILES: Readonly<Record<string, readonly string[]>> = {
  "pd-epp-config.yaml": [PREFILL, PICKER, `${PREFIX} 2`, "queue-scorer (queue) 1"],
  "pd-topology-epp-config.yaml": [
    PREFILL,
    "topology-affinity-filter (topology-filter)",
    PICKER,
    `${PREFIX} 2`,
    "queue-scorer (queue) 1",
    "topology-affinity-scorer (topology-scorer) 1",
  ],
  "sim-pd-epp-config.yaml": [PREFILL, PICKER, `${PREFIX} 2`, "queue-scorer (queue) 1"],
};

/** By file: the line and the name of each thing that is not supported. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  "epp-mm-embeddings-cache-config.yaml": ["13 mm-embeddings-cache-producer", "16 mm-embeddings-cache-scorer"],
  "probabilistic-admitter-epp-config.yaml": ["15 probabilistic-admitter"],
  "sim-e-p-d-epp-config.yaml": ["12 encode", "14 always-disagg-multimodal-decider", "19 encode"],
  "sim-e-pd-epp-config.yaml": ["9 always-disagg-multimodal-decider", "13 encode", "15 encode"],
  "sim-epp-tokenizer-vllm-http-config.yaml": ["10 MODEL_NAME"],
};

const SETTINGS = simulationOf(4);

/** Every two seconds eight requests with one prompt come at once. */
const BURSTS = (() => {
  const reader = new TraceReader("bursts");
  for (let index = 0; index < 160; index++) {
    const burst = Math.floor(index / 8);
    const hash_ids = Array.from({ length: 6 }, (_, block) => 100 * burst + block);
    const line = { timestamp: 2_000 * burst + (index % 8), input_length: 512 * hash_ids.length, output_length: 20, hash_ids };
    reader.push(`${JSON.stringify(line)}\n`);
  }
  return reader.end();
})();

const folder = sharedPath("corpora/configs/llm-d");

const load = (name: string) => loadConfig([join(folder!, name)], builtIns, [], NO_OVERLAY, false);

async function loaded(name: string): Promise<LoadedConfig> {
  const result = await load(name);
  assert.ok(result.problems === undefined, JSON.stringify(result.problems));
  return result;
}

function profileOf({ config }: LoadedConfig, profile = config.profile): readonly string[] {
  return profile.plugins.slice(2).map(({ pluginRef, weight }) => {
    const type = config.plugins.find(({ name }) => name === pluginRef)!.type;
    const written = pluginRef.slice(pluginRef.indexOf("/") + 1);
    return [written, ...(type === written ? [] : [`(${type})`]), ...(weight === undefined ? [] : [weight])].join(" ");
  });
}

async function simulated(name: string) {
  const ours = await loadConfig([], builtIns, ["http://gpu1:8000"]);
  assert.ok(ours.problems === undefined);
  const configs = [
    { name, loaded: await loaded(name) },
    { name: "default", loaded: ours },
  ];
  return runAll([BURSTS], configs, SETTINGS, 1, () => {});
}

describe("the reference's own config files", () => {
  if (folder === undefined) {
    it("the corpus", (t) => t.skip("corpora/configs is not here"));
    return;
  }

  it("are all known", () => {
    assert.deepEqual(readdirSync(folder).sort(), [...Object.keys(LOADED), ...Object.keys(REFUSED)].sort());
  });

  for (const [name, profile] of Object.entries(LOADED)) {
    it(`${name} loads, and decides as it says`, async () => assert.deepEqual(profileOf(await loaded(name)), profile));

    it(`${name} runs in the simulator beside the default`, async () => {
      for (const run of await simulated(name)) {
        assert.equal(run.completionRatio, 1, run.name);
        assert.equal(run.faultyDecisions, 0, run.name);
      }
    });
  }

  for (const [name, profile] of Object.entries(PREFILL_PROFILES))
    it(`${name} has its prompts processed where it says, and side-cars told of it`, async () => {
      const { config, notes } = await loaded(name);
      assert.deepEqual(profileOf(await loaded(name), config.others.get("disaggregation.prefill")), profile);
      const { transfer, decider } = config.features.get("disaggregation") as Readonly<Record<string, unknown>>;
      assert.deepEqual({ transfer, decider }, { transfer: "side-car", decider: { uncachedTokens: 16 } });
      const told = notes.map((note) => `${note.name} ${note.effect}`);
      for (const each of ["disagg-profile-handler", "prefix-based-pd-decider"]) assert.ok(told.includes(`${each} taken over`));
    });

  for (const name of ["epp-precise-prefix-cache-config.yaml", "sim-epp-kvcache-config.yaml", "sim-epp-no-hit-lru.yaml"])
    it(`${name} has the router follow what engines say of their caches`, async () => {
      const { config, notes } = await loaded(name);
      const { port, topic } = config.features.get("kvEvents") as Readonly<Record<string, unknown>>;
      assert.deepEqual({ port, topic }, { port: 5557, topic: "kv@" });
      assert.ok(notes.some((note) => note.name === "precise-prefix-cache-producer" && note.effect === "taken over"));
    });

  for (const [name, things] of Object.entries(REFUSED)) {
    it(`${name} is refused by name, at its lines`, async () => {
      const { problems = [] } = await load(name);
      assert.equal(problems.length, things.length, JSON.stringify(problems));
      for (const [index, thing] of things.entries()) {
        const [line, named] = thing.split(" ");
        const { line: found, column, path, found: text } = problems[index]!;
        assert.equal(String(found), line, thing);
        assert.ok(column > 0 && `${path} ${text}`.includes(named!), `${path} ${text}`);
      }
    });
  }

  it("bursts of one prompt stay together, so that it is computed once", async () => {
    const [burst] = await simulated("epp-burst-prefix-cache-config.yaml");
    const hits = 7 / 8;
    assert.ok(Math.abs(burst!.hitRatio - hits) < 0.02, `${burst!.hitRatio}`);
  });

  it("GPU utilization is read where and as often as the file says", async () => {
    const { config } = await loaded("sim-epp-gpu-config.yaml");
    assert.deepEqual(config.plugins.find(({ type }) => type === "dcgm")?.parameters, {
      scheme: "http",
      port: 9400,
      path: "/metrics",
      periodMs: 1000,
      idlePeriodMs: 1000,
    });
  });
});
