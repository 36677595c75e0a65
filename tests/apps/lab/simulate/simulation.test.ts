import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ENGINE_TIMES } from "../../../../apps/lab/engine/engine-times.ts";
import { Simulation, type SimulationSettings } from "../../../../apps/lab/simulate/simulation.ts";
import { RouterError } from "../../../../core/contract/errors.ts";
import type { LoadView } from "../../../../core/contract/load-view.ts";
import { z } from "../../../../core/contract/options.ts";
import { defineFilter, defineScorer } from "../../../../core/contract/plugin.ts";
import type { InferenceRequest } from "../../../../core/contract/request.ts";
import type { Ticket } from "../../../../core/ticket.ts";
import { seededRandom } from "../../../support/endpoints.ts";
import { loadSpec } from "./load-spec.ts";
import { makeTrace, makeTraced } from "./traces.ts";

const SETTINGS: SimulationSettings = {
  replicas: 4,
  model: { ...ENGINE_TIMES, kvTokens: 65_536 },
  speeds: [],
  timeScale: 1,
  seed: 1,
  tokenError: 0,
  faults: [],
};

/** Conversations that grow by a block a turn, two turns a second. */
const random = seededRandom(7);
const TRACE = makeTrace(
  Array.from({ length: 200 }, (_, turn) => {
    const talk = turn % 20;
    const blocks = Array.from({ length: 5 + Math.floor(turn / 20) }, (_, block) => 1 + 1_000 * talk + block);
    return makeTraced(turn * 500, blocks, 1 + Math.floor(random() * 200));
  }),
);

/** A scorer without an opinion that shows what it is asked. */
function watcher(look: (request: InferenceRequest, load: LoadView) => void) {
  return defineScorer({
    type: "watcher",
    summary: "Looks on",
    options: z.strictObject({}),
    create: (_options, host) => {
      host.usePrefixIndex({});
      return {
        score: (request, _candidates, load) => {
          look(request, load);
          return null;
        },
      };
    },
  });
}

describe("a simulation", () => {
  it("has replicas that report cached tokens, if it is asked to", async () => {
    const loaded = await loadSpec("");
    for (const reportsCached of [false, true]) {
      const reported: (number | undefined)[] = [];
      const ended = ({ usage }: Ticket) => void reported.push(usage?.cachedTokens);
      const { hitRatio } = new Simulation(TRACE, loaded, { ...SETTINGS, reportsCached, ended }).run();
      const prompts = TRACE.requests.reduce((sum, { prompt }) => sum + prompt.tokens, 0);
      const cached = reported.reduce((sum: number, tokens) => sum + (tokens ?? 0), 0);
      assert.equal(cached, reportsCached ? Math.round(hitRatio * prompts) : 0);
      assert.ok(hitRatio > 0 && reported.every((tokens) => (tokens !== undefined) === reportsCached));
    }
  });

  it("answers every request, and again the same way with the same seed", async () => {
    const run = async (seed: number) =>
      new Simulation(TRACE, await loadSpec("  plugins: [ { type: random } ]\n"), { ...SETTINGS, seed }).run();
    const metrics = await run(1);
    assert.equal(metrics.completionRatio, 1);
    assert.equal(metrics.faultyDecisions, 0);
    assert.deepEqual(await run(1), metrics);
    assert.notDeepEqual(await run(2), metrics);
  });

  it("finds a conversation's earlier turns where the policy sends it back to them", async () => {
    const hits = async (spec: string) => new Simulation(TRACE, await loadSpec(spec), SETTINGS).run().hitRatio;
    const [chance, ours] = [await hits("  plugins: [ { type: random } ]\n"), await hits("")];
    // Of 1,900 blocks 100 are first ones and each of the 180 later turns adds one: 1,620 can be found.
    assert.ok(ours > 0.8 && ours <= 1_620 / 1_900 + 1e-9, String(ours));
    assert.ok(chance < ours - 0.1, String(chance));
  });

  it("leaves the router's counters at zero when all is over", async () => {
    let table: LoadView | undefined;
    const loaded = await loadSpec("  plugins: [ { type: watcher } ]\n", [watcher((_, seen) => (table = seen))]);
    new Simulation(TRACE, loaded, SETTINGS).run();
    assert.ok([0, 1, 2, 3].every((slot) => table?.inFlight(slot) === 0 && table?.prefillTokens(slot) === 0));
  });

  it("shows plugins what a router would: bytes, lengths, what was sent where, scraped numbers", async () => {
    const seen: { tokens: number; bytes: number; held: number; running: number; inFlight: number }[] = [];
    const loaded = await loadSpec("  plugins: [ { type: watcher } ]\n", [
      watcher(({ promptTokens, promptSpans, body, prefix }, seenLoad) => {
        const [[start, end] = [0, 0]] = promptSpans;
        const { prompt } = JSON.parse(Buffer.from(body).toString()) as { prompt: string };
        assert.equal(Buffer.from(body.subarray(start, end)).toString(), prompt);
        seen.push({
          tokens: promptTokens,
          bytes: end - start,
          held: prefix.matchedTokens(0),
          running: seenLoad.running(0),
          inFlight: seenLoad.inFlight(0),
        });
      }),
    ]);
    const trace = makeTrace([makeTraced(0, [1, 2, 3], 400), makeTraced(1_800, [1, 2, 4], 1)]);
    new Simulation(trace, loaded, { ...SETTINGS, replicas: 1 }).run();
    assert.deepEqual(seen, [
      { tokens: 300, bytes: 1_200, held: 0, running: 0, inFlight: 0 },
      // 200 tokens are shared; index blocks have 64.
      { tokens: 300, bytes: 1_200, held: 192, running: 1, inFlight: 1 },
    ]);
  });

  it("keeps each request's body what it was, however many came since", async () => {
    const seen: InferenceRequest[] = [];
    const loaded = await loadSpec("  plugins: [ { type: watcher } ]\n", [watcher((request) => void seen.push(request))]);
    new Simulation(makeTrace([makeTraced(0, [1, 2]), makeTraced(5, [3])]), loaded, SETTINGS).run();
    const bodies = seen.map(({ body }) => (JSON.parse(Buffer.from(body).toString()) as { prompt: string }).prompt);
    assert.deepEqual(
      bodies.map((body) => body.length),
      [800, 400],
    );
    assert.ok(!bodies[0]!.includes(bodies[1]!));
  });

  it("may let the router be wrong about lengths", async () => {
    const beliefs: number[] = [];
    const loaded = await loadSpec("  plugins: [ { type: watcher } ]\n", [
      watcher(({ parsedTokens }) => beliefs.push(parsedTokens)),
    ]);
    const trace = makeTrace(Array.from({ length: 400 }, (_, index) => makeTraced(index * 100, [index + 1], 1, 100)));
    new Simulation(trace, loaded, { ...SETTINGS, tokenError: 0.3 }).run();
    assert.ok(Math.min(...beliefs) >= 70 && Math.min(...beliefs) < 75);
    assert.ok(Math.max(...beliefs) <= 130 && Math.max(...beliefs) > 125);
  });

  it("draws targets by the config's rewrites, and its replicas serve them; labels are the config's in turn", async () => {
    const picky = defineFilter({
      type: "picky",
      summary: "Takes h100 only",
      options: z.strictObject({}),
      create: () => ({ filter: (_request, candidates) => candidates.filter(({ labels }) => labels["gpu"] === "h100") }),
    });
    const targets = new Map<string, number>();
    const slots = new Set<number>();
    const watch = watcher(({ target }, seenLoad) => {
      targets.set(target, (targets.get(target) ?? 0) + 1);
      for (let slot = 0; slot < 4; slot++) if (seenLoad.inFlight(slot) > 0) slots.add(slot);
    });
    const rewrite = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: split }
spec:
  poolRef: { name: default }
  rules: [ { targets: [ { modelRewrite: v1, weight: 90 }, { modelRewrite: v2, weight: 10 } ] } ]
`;
    const loaded = await loadSpec(
      "  plugins: [ { type: picky }, { type: serves-model }, { type: watcher } ]\n",
      [picky, watch],
      rewrite,
    );
    assert.equal(new Simulation(TRACE, loaded, SETTINGS).run().completionRatio, 1);
    assert.deepEqual(Object.fromEntries(targets), { v1: 180, v2: 20 });
    assert.deepEqual([...slots].sort(), [0, 2]);
  });

  it("counts what is refused, by the router or by a replica that could never hold it, and decisions with a fault", async () => {
    const refuser = defineFilter({
      type: "refuser",
      summary: "Refuses every fourth",
      options: z.strictObject({}),
      create: () => {
        let count = 0;
        return {
          filter: (_request, candidates) => (count++ % 4 === 0 ? [] : candidates),
          refuse: () => new RouterError("saturated", "Try again later."),
        };
      },
    });
    const broken = watcher(() => {
      throw new Error("Broken");
    });
    const loaded = await loadSpec("  plugins: [ { type: refuser }, { type: watcher } ]\n", [refuser, broken]);
    const trace = makeTrace([
      ...Array.from({ length: 7 }, (_, index) => makeTraced(index, [index + 1])),
      makeTraced(9, [99], 70_000),
    ]);
    const metrics = new Simulation(trace, loaded, SETTINGS).run();
    assert.equal(metrics.completionRatio, 5 / 8);
    // What a filter refuses is not scored.
    assert.equal(metrics.faultyDecisions, 6);
  });

  it("a slow replica is slower, and the default policy sends it less", async () => {
    const seconds = async (spec: string) =>
      new Simulation(TRACE, await loadSpec(spec), { ...SETTINGS, speeds: [0.02] }).run().ttftSeconds;
    const [inTurn, ours] = [await seconds("  plugins: [ { type: round-robin } ]\n"), await seconds("")];
    assert.ok(inTurn.p99 > 5, String(inTurn.p99));
    assert.ok(ours.p90 < 1, String(ours.p90));
  });

  it("less time between requests is more load", async () => {
    const busy = async (timeScale: number) =>
      new Simulation(TRACE, await loadSpec(""), { ...SETTINGS, timeScale }).run().utilization;
    assert.ok((await busy(0.1)) > 2 * (await busy(1)));
  });
});
