/** Modelled replicas publish what their caches hold, and the router's own code hears it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ENGINE_TIMES } from "../../../../apps/lab/engine/engine-times.ts";
import { KvCache } from "../../../../apps/lab/engine/kv-cache.ts";
import { CacheEvents } from "../../../../apps/lab/simulate/cache-events.ts";
import { EventQueue } from "../../../../apps/lab/simulate/events.ts";
import { PromptWriter, promptOf } from "../../../../apps/lab/simulate/prompt-bytes.ts";
import { Simulation, type SimulationSettings } from "../../../../apps/lab/simulate/simulation.ts";
import type { TraceRequest } from "../../../../apps/lab/simulate/trace.ts";
import { z } from "../../../../core/contract/options.ts";
import { defineScorer } from "../../../../core/contract/plugin.ts";
import { seededRandom } from "../../../../core/contract/test-kit.ts";
import { PromptPrefix } from "../../../../core/state/prefix-index.ts";
import { EngineBlocks } from "../../../../plugins/features/kv-events/cache/engine-blocks.ts";
import { tokenKeys } from "../../../../plugins/features/kv-events/prompts/token-keys.ts";
import { sequenceOf } from "../../../../plugins/features/kv-events/zmtp/replay.ts";
import { take } from "../../../support/event-batches.ts";
import { loadSpec } from "./load-spec.ts";
import { makeTrace, makeTraced } from "./traces.ts";

const BLOCK = 16;
const KV_TOKENS = 8_192;

/** Prompts that share beginnings, in pieces that end inside of engine blocks. */
function prompts(count: number): readonly TraceRequest[] {
  const random = seededRandom(3);
  return Array.from({ length: count }, () => {
    const talk = Math.floor(random() * 12);
    const pieces = Array.from({ length: 2 + Math.floor(random() * 6) }, (_, piece) => 1 + 100 * talk + piece);
    return makeTraced(0, pieces);
  });
}

function runAll(queue: EventQueue): void {
  while (queue.runNext());
}

describe("the events of a modelled cache", () => {
  it("say, as the router reads them, what it holds: what was stored, less what was evicted", () => {
    const queue = new EventQueue();
    const events = new CacheEvents({ delayMs: 3, loss: 0 }, BLOCK, queue, seededRandom(1));
    const heard = new EngineBlocks({ left: 100_000 });
    const numbers: (number | undefined)[] = [];
    events.subscribe({
      connected() {},
      disconnected() {},
      message(parts) {
        numbers.push(sequenceOf(parts[1]));
        take(heard, parts[2]!);
      },
    });
    runAll(queue);
    const cache = new KvCache(3_000, BLOCK, events);
    const all = prompts(60);
    const writer = new PromptWriter(all);
    for (const { prompt } of all) {
      const lease = cache.reserve(prompt, 1, prompt.tokens)!;
      cache.publish(lease, prompt.tokens);
      cache.release(lease);
      runAll(queue);
    }
    assert.deepEqual(numbers, [...numbers.keys()]);
    for (const request of all) {
      const keys = tokenKeys(promptOf(Buffer.from(writer.write(request)).toString()), BLOCK, { adapter: "", salt: "" });
      let held = 0;
      while (2 * held < keys.length && heard.holds(keys[2 * held]!, keys[2 * held + 1]!)) held += 1;
      assert.equal(held, Math.floor(cache.heldTokens(request.prompt) / BLOCK));
    }
  });

  it("that got lost are told again to whoever asks", () => {
    const queue = new EventQueue();
    const events = new CacheEvents({ delayMs: 3, loss: 0.5 }, BLOCK, queue, seededRandom(1));
    const [numbers, replayed]: number[][] = [[], []];
    const message = (parts: readonly Uint8Array[]) => void numbers!.push(sequenceOf(parts[1])!);
    const { stop } = events.subscribe({ connected() {}, disconnected() {}, message });
    for (let at = 0; at < 40; at++) {
      events.stored(makeTraced(0, [at + 1]).prompt, 0, 100);
      runAll(queue);
    }
    assert.ok(numbers!.length > 5 && numbers!.length < 35);
    events.replay(10, { replayed: (number) => void replayed!.push(number), done: stop, failed: assert.fail });
    runAll(queue);
    assert.deepEqual(
      replayed,
      Array.from({ length: 30 }, (_, index) => 10 + index),
    );
  });
});

describe("a simulation with events", () => {
  const SETTINGS: SimulationSettings = {
    replicas: 4,
    model: { ...ENGINE_TIMES, kvTokens: KV_TOKENS },
    speeds: [],
    timeScale: 1,
    seed: 1,
    tokenError: 0,
    faults: [],
    reportsCached: true,
  };
  const trace = makeTrace(
    Array.from({ length: 400 }, (_, turn) => {
      const talk = (turn * 7) % 30;
      return makeTraced(
        turn * 150,
        Array.from({ length: 4 + Math.floor(turn / 40) }, (_, block) => 1 + 1_000 * talk + block),
        20,
      );
    }),
  );
  const hits = async (spec: string, cacheEvents: SimulationSettings["cacheEvents"]) =>
    new Simulation(trace, await loadSpec(spec), { ...SETTINGS, cacheEvents, routers: 4 }).run().hitRatio;

  it("shows the index how large the caches are where nothing else tells, although no prompt's tokens are known", async () => {
    let sizes: readonly number[] = [];
    const watcher = defineScorer({
      type: "watcher",
      summary: "Looks on",
      options: z.strictObject({}),
      create: () => ({
        score({ prefix }) {
          sizes = prefix instanceof PromptPrefix ? prefix.residency.slots().map(({ capacityTokens }) => capacityTokens) : [];
          return null;
        },
      }),
    });
    // No series of this engine is there.
    const blind =
      "  plugins: [{ type: metrics, parameters: { engine: sglang } }, { type: watcher }, { type: outstanding-work }]\n";
    const sizesBy = async (spec: string) => {
      const loaded = await loadSpec(blind + spec, [watcher]);
      new Simulation(trace, loaded, { ...SETTINGS, cacheEvents: { delayMs: 5, loss: 0 } }).run();
      return sizes;
    };
    assert.deepEqual(await sizesBy(""), [524_288, 524_288, 524_288, 524_288]);
    const learned = await sizesBy("  kvEvents: { renderPrompts: false }\n");
    // A block that a prompt fills in part is not published, and requests under way have some, too.
    for (const tokens of learned) assert.ok(tokens > 0.85 * KV_TOKENS && tokens <= KV_TOKENS, String(learned));
  });

  // Each of four routers sees a quarter of the requests, so it knows little of the caches by itself.
  it("has more hits where routers know too little by themselves, and none worse where most events are lost", async () => {
    const alone = await hits("  kvEvents: {}\n", undefined);
    const following = await hits("  kvEvents: {}\n", { delayMs: 5, loss: 0 });
    assert.ok(following > alone + 0.02, `${following} against ${alone}`);
    const lossy = await hits("  kvEvents: {}\n", { delayMs: 300, loss: 0.9 });
    assert.ok(lossy > alone - 0.02, `${lossy} against ${alone}`);
  });
});
