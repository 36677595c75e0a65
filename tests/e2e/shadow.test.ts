import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { z } from "../../core/contract/options.ts";
import type { Outcome } from "../../core/contract/outcome.ts";
import { defineFilter, definePicker, defineScorer } from "../../core/contract/plugin.ts";
import { shadowOf } from "../support/features.ts";
import { outcomeKeeper } from "../support/mirror-pool.ts";
import { exchange } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";
import { answerOk, chatPost } from "../support/scripted-pool.ts";
import { startScriptedReplica } from "../support/scripted-replica.ts";

/** Picks the candidate at this index; -1 for the last. */
const nth = definePicker({
  type: "nth",
  summary: "Picks the candidate at an index.",
  options: z.strictObject({ index: z.int() }),
  create: ({ index }) => ({ pick: (candidates) => [candidates.at(index)!] }),
});

/** Drops everything, or throws. */
const broken = defineFilter({
  type: "broken",
  summary: "Drops everything, or throws.",
  options: z.strictObject({ throws: z.boolean() }),
  create: ({ throws }) => ({
    filter() {
      if (throws) throw new Error("Broken on purpose");
      return [];
    },
  }),
});

/** Takes so long. */
const slow = defineScorer({
  type: "slow",
  summary: "Takes its time.",
  options: z.strictObject({}),
  create: (_options, host) => ({
    score(_request, candidates) {
      const untilMs = host.clock.now() + 150;
      while (host.clock.now() < untilMs);
      return candidates.map(() => 1);
    },
  }),
});

const throwing = defineScorer({
  type: "throwing",
  summary: "Throws.",
  options: z.strictObject({}),
  create: () => ({
    score() {
      throw new Error("Broken on purpose");
    },
  }),
});

interface Shown {
  readonly router: TestRouter;
  readonly outcomes: readonly Outcome[];
  /** Asks so often, each time waiting for the whole answer, and returns the statuses. */
  ask(times: number): Promise<readonly string[]>;
}

async function setUp(profile: string, shadow: string, plugins = ""): Promise<Shown> {
  const replicas = await Promise.all([answerOk, answerOk].map((script) => startScriptedReplica(script)));
  const outcomes: Outcome[] = [];
  const router = await startTestRouter(
    replicas.map(({ url }) => url),
    {
      plugins: [nth, broken, slow, throwing, outcomeKeeper(outcomes)],
      spec: `  plugins: [ { type: outcome-keeper }, { type: nth, name: first, parameters: { index: 0 } }, { type: nth, name: last, parameters: { index: -1 } }${plugins} ]
  profiles: [ { plugins: [ ${profile} ] } ]
  shadow: { name: candidate, ${shadow} }`,
    },
  );
  after(async () => {
    await router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  return {
    router,
    outcomes,
    async ask(times) {
      const statuses: string[] = [];
      for (let n = 0; n < times; n++) statuses.push((await exchange(router.port, chatPost())).slice(9, 12));
      return statuses;
    },
  };
}

const ref = (name: string) => `{ pluginRef: ${name} }`;
const OK_10 = Array.from({ length: 10 }, () => "200");

describe("a shadow profile", () => {
  it("changes nothing, and every disagreement is counted", async () => {
    const { router, outcomes, ask } = await setUp(ref("first"), `plugins: [ ${ref("last")} ]`);
    assert.deepEqual(await ask(10), OK_10);
    const [one, two] = router.router.pool.facts.endpoints;
    assert.deepEqual(new Set(router.log.map(({ endpoint }) => endpoint)), new Set([one?.name]));
    const { name, decisions, disagreements, refusals, faults, skipped } = shadowOf(router.router);
    assert.deepEqual(
      { name, decisions, disagreements, refusals, faults, skipped },
      { name: "candidate", decisions: 10, disagreements: 10, refusals: 0, faults: 0, skipped: 0 },
    );
    assert.equal(outcomes[0]?.shadow?.endpoint, two?.name);
  });

  for (const picker of ["random", "weighted-random", "power-of-two", "round-robin", "max-score"]) {
    it(`that is like the first one agrees with it always: ${picker}`, async () => {
      const plugins = `{ pluginRef: outstanding-work }, ${ref(picker)}`;
      const { router, ask } = await setUp(plugins, `plugins: [ ${plugins} ]`, ", { type: round-robin }");
      await ask(10);
      const { decisions, disagreements, meanDifferenceMs } = shadowOf(router.router);
      assert.deepEqual({ decisions, disagreements, meanDifferenceMs }, { decisions: 10, disagreements: 0, meanDifferenceMs: 0 });
    });
  }

  it("has turns of its own: the first profile's are as without it", async () => {
    const { router, ask } = await setUp(ref("round-robin"), `plugins: [ ${ref("round-robin")} ]`, ", { type: round-robin }");
    await ask(4);
    const names = router.router.pool.facts.endpoints.map(({ name }) => name);
    assert.deepEqual(
      router.log.map(({ endpoint }) => endpoint),
      [...names, ...names],
    );
  });

  it("that refuses counts as another choice", async () => {
    const { router, outcomes, ask } = await setUp(
      ref("first"),
      `plugins: [ ${ref("broken")} ]`,
      ", { type: broken, parameters: { throws: false } }",
    );
    assert.deepEqual(await ask(10), OK_10);
    const { disagreements, refusals } = shadowOf(router.router);
    assert.deepEqual([disagreements, refusals], [10, 10]);
    const { refusal, isSame, endpoint } = outcomes[0]!.shadow!;
    assert.deepEqual([refusal, isSame, endpoint], ["no_ready_endpoint", false, ""]);
  });

  it("whose filter throws has no choice, and clients don't notice", async () => {
    const { router, outcomes, ask } = await setUp(
      ref("first"),
      `plugins: [ ${ref("broken")} ]`,
      ", { type: broken, parameters: { throws: true } }",
    );
    assert.deepEqual(await ask(10), OK_10);
    const { decisions, faults } = shadowOf(router.router);
    assert.deepEqual([decisions, faults], [0, 10]);
    assert.equal(outcomes[0]?.shadow, undefined);
  });

  it("whose scorer throws decides without it", async () => {
    const { router, outcomes, ask } = await setUp(ref("first"), `plugins: [ ${ref("throwing")}, ${ref("last")} ]`);
    assert.deepEqual(await ask(10), OK_10);
    const { decisions, faults } = shadowOf(router.router);
    assert.deepEqual([decisions, faults], [10, 10]);
    assert.deepEqual(outcomes[0]?.decision?.faults, []);
  });

  it("that takes too much time pauses", async () => {
    const { router, ask } = await setUp(ref("first"), `plugins: [ ${ref("slow")} ]`);
    assert.deepEqual(await ask(10), OK_10);
    const { decisions, skipped } = shadowOf(router.router);
    assert.ok(decisions <= 2 && decisions + skipped === 10, `${decisions} decided, ${skipped} skipped`);
  });
});
