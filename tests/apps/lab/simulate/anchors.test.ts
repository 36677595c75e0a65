import assert from "node:assert/strict";
import { before, describe, it, type TestContext } from "node:test";
import { readTraceFile } from "../../../../apps/cli/simulate/trace-file.ts";
import { ENGINE_TIMES } from "../../../../apps/lab/engine/engine-times.ts";
import { KvCache } from "../../../../apps/lab/engine/kv-cache.ts";
import type { Metrics } from "../../../../apps/lab/simulate/metrics.ts";
import type { Replica } from "../../../../apps/lab/simulate/replica.ts";
import { Simulation } from "../../../../apps/lab/simulate/simulation.ts";
import type { Trace } from "../../../../apps/lab/simulate/trace.ts";
import { loadTexts } from "../../../../config/load.ts";
import { z } from "../../../../core/contract/options.ts";
import { type Definition, defineScorer } from "../../../../core/contract/plugin.ts";
import { builtIns } from "../../../../plugins/registry.ts";
import { sharedPath } from "../../../support/shared.ts";

// A simulator can be trusted only if it reproduces published measurements. These tests use Mooncake's conversation trace and
// compare with the figures in Mooncake's paper (FAST'25) and in Dynamo's documentation.

const PATH = sharedPath("traces/mooncake_conversation_trace.jsonl.gz");
let trace: Trace;
before(async () => {
  if (PATH !== undefined) trace = await readTraceFile(PATH);
});

/** A test that needs the trace; it is skipped without it. */
function onTrace(name: string, check: () => void | Promise<void>): void {
  it(name, (t: TestContext) => (PATH === undefined ? t.skip("Mooncake's conversation trace is not here") : check()));
}

function isNear(actual: number, wanted: number, tolerance: number): void {
  assert.ok(Math.abs(actual - wanted) <= tolerance, `${actual} is not ${wanted} ± ${tolerance}`);
}

describe("one cache for all requests", () => {
  /** Share of prompt tokens that are cached when requests are served one after the other. */
  const hitRatio = (capacityTokens: number) => {
    const cache = new KvCache(capacityTokens, ENGINE_TIMES.blockTokens);
    let held = 0;
    let tokens = 0;
    for (const { prompt } of trace.requests) {
      const lease = cache.reserve(prompt, 0, prompt.tokens);
      assert.ok(lease);
      held += lease.cachedTokens;
      cache.publish(lease, prompt.tokens);
      cache.release(lease);
      tokens += prompt.tokens;
    }
    return held / tokens;
  };

  onTrace("anchor 1: without a limit, 36.64 % of the blocks are found (Dynamo), which are 37.4 % of the tokens", () => {
    const seen = new Set<number>();
    let found = 0;
    let blocks = 0;
    for (const { prompt } of trace.requests) {
      for (const id of prompt.blocks) {
        if (seen.has(id)) found += 1;
        seen.add(id);
      }
      blocks += prompt.blocks.length;
    }
    isNear(found / blocks, 0.3664, 0.0001);
    isNear(hitRatio(1e9), 0.374, 0.001);
  });

  onTrace(
    "anchor 2: with room for 3 M tokens, 13.9 %, about 40 % of what can be found (Mooncake); less and more accordingly",
    () => {
      for (const [capacityTokens, ratio] of [
        [1_000_000, 0.054],
        [3_000_000, 0.139],
        [10_000_000, 0.291],
      ] as const) {
        isNear(hitRatio(capacityTokens), ratio, 0.005);
      }
    },
  );
});

/** The simulator's request ids are this prefix and the request's index in the trace. */
const ID_PREFIX = "simulated-";

/** The scorers below read the replicas' exact state, which a router can't. */
let replicas: readonly Replica[] = [];

/** Mooncake's "global" policy: least prompt work, by the replicas' exact caches and queues. */
const minTtft = defineScorer({
  type: "exact-min-ttft",
  summary: "Least uncached tokens outstanding, exactly",
  options: z.strictObject({}),
  create: () => ({
    score(request, candidates) {
      const traced = trace.requests[Number(request.id.slice(ID_PREFIX.length))]!;
      const costs = candidates.map(({ slot }) => {
        const { cache, prefilling, waiting } = replicas[slot]!;
        let tokens = traced.prompt.tokens - cache.heldTokens(traced.prompt);
        for (const { prefillLeft } of prefilling) tokens += prefillLeft;
        for (const { request: other } of waiting) tokens += other.prompt.tokens - cache.heldTokens(other.prompt);
        return tokens;
      });
      const lowest = Math.min(...costs);
      return costs.map((cost) => 1 / (1 + (cost - lowest)));
    },
  }),
});

/** Cache-aware: llm-d's default weights for queue, KV cache and prefix, with no scrape delay. */
const cacheAware = defineScorer({
  type: "exact-cache-aware",
  summary: "2 x queue + 2 x KV cache + 3 x prefix, exactly",
  options: z.strictObject({}),
  create: (_options, host) => {
    host.usePrefixIndex({});
    return {
      score({ prefix }, candidates) {
        const queues = candidates.map(({ slot }) => replicas[slot]!.waiting.length);
        const [min, max] = [Math.min(...queues), Math.max(...queues)];
        return candidates.map(({ slot }, index) => {
          const queue = max === min ? 1 : (max - queues[index]!) / (max - min);
          return (2 * queue + 2 * (1 - replicas[slot]!.cache.usage) + 3 * prefix.matchedFraction(slot)) / 7;
        });
      },
    };
  },
});

const registry = new Map<string, Definition>([...builtIns, [minTtft.type, minTtft], [cacheAware.type, cacheAware]]);

async function run(plugins: string, timeScale: number, kvTokens = ENGINE_TIMES.kvTokens): Promise<Metrics> {
  const text = `apiVersion: signalbox/v1\nkind: Router\nspec: { plugins: [ ${plugins} ] }\n`;
  const loaded = await loadTexts([{ file: "anchor.yaml", text }], registry, ["http://127.0.0.1:8000"]);
  assert.ok(loaded.problems === undefined);
  const model = { ...ENGINE_TIMES, kvTokens };
  const simulation = new Simulation(trace, loaded, {
    replicas: 8,
    model,
    speeds: [],
    timeScale,
    seed: 1,
    tokenError: 0,
    faults: [],
  });
  replicas = simulation.replicas;
  const metrics = simulation.run();
  assert.equal(metrics.completionRatio, 1);
  assert.equal(metrics.faultyDecisions, 0);
  return metrics;
}

describe("eight overloaded replicas", () => {
  onTrace("anchor 3: random : least requests : cache-aware : global as in Mooncake's Fig. 5, 6.4 : 1.7 : 1.17 : 1", async () => {
    const mean = async (plugins: string) => (await run(plugins, 0.8)).ttftSeconds.mean;
    const global = await mean("{ type: exact-min-ttft }");
    const ratios = {
      random: (await mean("{ type: random }")) / global,
      least: (await mean("{ type: active-request }")) / global,
      cacheAware: (await mean("{ type: exact-cache-aware }")) / global,
    };
    // A prototype checked against the same figures had 6.1 : 2.5 : 1.75 : 1. Ratios depend on the engine, the order does not.
    isNear(ratios.random, 6, 1);
    isNear(ratios.least, 2.3, 0.5);
    isNear(ratios.cacheAware, 1.5, 0.35);
  });
});

describe("the default config, with only a router's knowledge", () => {
  onTrace("waits no longer than exact knowledge of every replica would have it wait", async () => {
    const exact = await run("{ type: exact-min-ttft }", 1);
    const ours = await run("", 1);
    isNear(exact.ttftSeconds.mean, 1.62, 0.03);
    assert.ok(ours.ttftSeconds.mean <= 1.02 * exact.ttftSeconds.mean, String(ours.ttftSeconds.mean));
    assert.ok(ours.ttftSeconds.p99 <= 1.05 * exact.ttftSeconds.p99, String(ours.ttftSeconds.p99));
  });

  onTrace("makes use of larger caches", async () => {
    const { hitRatio, ttftSeconds } = await run("", 1, 3_000_000);
    assert.ok(hitRatio > 0.31, String(hitRatio));
    assert.ok(ttftSeconds.mean <= 1.33, String(ttftSeconds.mean));
  });
});
