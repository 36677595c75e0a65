import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createRouter } from "../../apps/fetch.ts";
import { ENGINE_TIMES } from "../../apps/lab/engine/engine-times.ts";
import { Simulation } from "../../apps/lab/simulate/simulation.ts";
import { loadTexts } from "../../config/load.ts";
import definition, { type Programs } from "../../examples/policies/thunderagent/programs.ts";
import { builtIns } from "../../plugins/registry.ts";
import { loadSpec } from "../apps/lab/simulate/load-spec.ts";
import { makeTrace, makeTraced } from "../apps/lab/simulate/traces.ts";
import { makeEndpoint, makeEndpoints } from "../support/endpoints.ts";
import { answerOk, CHAT, chatBody, postRequest } from "../support/fetch-router.ts";
import { createPlugin } from "../support/plugins.ts";
import { startScriptedReplica } from "../support/scripted-replica.ts";
import { examplePath, exampleText } from "./example-files.ts";

/** The example with its files' whole paths and caches of this size. */
const textWith = (cacheTokens: number) =>
  exampleText("policies/thunderagent/thunderagent.yaml")
    .replace(/from: \.\/([\w-]+\.ts)/g, (_, file) => `from: ${JSON.stringify(examplePath(`policies/thunderagent/${file}`))}`)
    .replace("cacheTokens: 524288, halfLifeMs: 1000", `cacheTokens: ${cacheTokens}, halfLifeMs: 10000`);

describe("ThunderAgent's scheduler", () => {
  function pool(parameters: object = {}, replicas = 2) {
    const programs = createPlugin(definition, { cacheTokens: 1_000, ...parameters }) as Programs;
    programs.follow(makeEndpoints(replicas));
    const wentOn: string[] = [];
    return {
      programs,
      wentOn,
      /** A turn comes; whether it waits. */
      turn(id: string, tokens: number, nowMs = 0) {
        const program = programs.arrive(id, tokens, nowMs)!;
        if (program.isPaused) program.waiters.add({ sinceMs: nowMs, goOn: () => void wentOn.push(id) });
        return program;
      },
      places: (...ids: string[]) => ids.map((id) => programs.placeOf(id)),
    };
  }

  it("begins a program where most is free, and keeps it there", () => {
    const { turn, places } = pool();
    turn("a", 300);
    turn("b", 500);
    turn("c", 200);
    assert.deepEqual(places("a", "b", "c"), ["e0", "e1", "e0"]);
    turn("a", 310);
    assert.deepEqual(places("a"), ["e0"]);
  });

  it("lets a new program wait where it has no room, and behind those that wait", () => {
    const { turn, wentOn, programs } = pool();
    turn("a", 600);
    turn("b", 600);
    assert.deepEqual([turn("big", 400).isPaused, turn("small", 10).isPaused], [true, true]);
    programs.check(5_000);
    assert.deepEqual(wentOn, ["small"]);
  });

  it("pauses acting programs first, the smallest first, and reasoning ones when their turn ends", () => {
    const { turn, programs, places } = pool({}, 1);
    const [a, b, c] = [turn("a", 200), turn("b", 250), turn("c", 200)];
    programs.ended(a, 300, 0);
    programs.ended(b, 310, 0);
    c.tokens = 400;
    programs.check(0);
    assert.deepEqual([a.isPaused, b.isPaused, c.isPaused], [true, false, false]);
    const again = turn("b", 600);
    programs.check(0);
    assert.deepEqual([again.isMarked, c.isMarked, places("b", "c")], [false, true, ["e0", "e0"]]);
    programs.ended(c, 400, 0);
    assert.deepEqual([c.isPaused, places("c")], [true, [undefined]]);
  });

  it("resumes those whose turns wait before new ones", () => {
    const { turn, programs, wentOn } = pool({}, 1);
    const [a, b] = [turn("a", 300), turn("b", 400)];
    for (const program of [a, b]) programs.ended(program, 600, 0);
    programs.check(0);
    assert.equal(a.isPaused !== b.isPaused, true);
    const paused = a.isPaused ? "a" : "b";
    turn("new", 10);
    turn(paused, 610);
    programs.check(100_000);
    assert.deepEqual(wentOn, [paused, "new"]);
  });

  it("counts what an acting program holds half after each half-life, only to resume others", () => {
    const { turn, programs, wentOn } = pool({ halfLifeMs: 1_000 }, 1);
    programs.ended(turn("a", 600), 600, 0);
    assert.equal(turn("b", 500, 500).isPaused, true);
    programs.check(500);
    assert.deepEqual(wentOn, []);
    programs.check(1_000);
    assert.deepEqual(wentOn, ["b"]);
  });

  it("resumes who has waited for long, forgets programs without turns, and holds nobody without replicas", () => {
    const { turn, programs, wentOn, places } = pool({ maxWaitMs: 10_000, releaseMs: 20_000 }, 1);
    turn("a", 900);
    turn("b", 900);
    programs.check(9_999);
    assert.deepEqual(wentOn, []);
    programs.check(10_000);
    assert.deepEqual([wentOn, places("b")], [["b"], ["e0"]]);
    turn("c", 900, 10_000);
    programs.follow([makeEndpoint(0, { phase: "not-ready" })]);
    assert.deepEqual(wentOn, ["b", "c"]);
    assert.equal(turn("d", 900).isPaused, false);

    const idle = pool({ releaseMs: 20_000 }, 1);
    idle.programs.ended(idle.turn("a", 900), 900, 0);
    idle.programs.check(19_999);
    assert.deepEqual(idle.places("a"), ["e0"]);
    idle.programs.check(20_000);
    assert.deepEqual([idle.places("a"), idle.turn("b", 900).isPaused], [[undefined], false]);
  });

  it("knows a limited number of programs; further ones are held by nobody", () => {
    const { turn, programs } = pool();
    for (let index = 0; index < 10_000; index++) turn(`p${index}`, 0);
    assert.equal(programs.arrive("one more", 1, 0), undefined);
    assert.ok(programs.arrive("p1", 1, 0));
  });
});

/** Sessions of 20 turns of 20,000 tokens, each a little longer than the one before, with pauses of 2 s. */
const TRACE = makeTrace(
  Array.from({ length: 6 }, (_, session) =>
    Array.from({ length: 20 }, (_, turn) => {
      const blocks = Array.from({ length: 200 + turn }, (_, block) => 1 + 1_000 * session + block);
      return { ...makeTraced(2_000 * turn, blocks, 20), turn: { session: `s${session}`, tookMs: 0 } };
    }),
  )
    .flat()
    .sort((one, other) => one.atMs - other.atMs),
);

it("thunderagent.yaml has more turns end than no gate where the caches hold a third of the sessions", {
  timeout: 120_000,
}, async () => {
  const loaded = await loadTexts([{ file: "thunderagent.yaml", text: textWith(110_000) }], builtIns);
  assert.ok(loaded.problems === undefined, JSON.stringify(loaded.problems));
  const run = (config: typeof loaded) =>
    new Simulation(TRACE, config, {
      ...{ replicas: 2, speeds: [], timeScale: 1, seed: 1, tokenError: 0, faults: [] },
      model: { ...ENGINE_TIMES, kvTokens: 110_000 },
      sessions: { perReplica: 16, hours: 0.4, warmUpHours: 0.1 },
    }).run();
  const [without, gated, again] = [run(await loadSpec("")), run(loaded), run(loaded)];
  assert.ok(gated.turnsPerHour! > 1.2 * without.turnsPerHour!, `${gated.turnsPerHour} ${without.turnsPerHour}`);
  assert.deepEqual([gated.completionRatio, gated.faultyDecisions], [1, 0]);
  assert.deepEqual(again, gated);
});

it("thunderagent.yaml keeps each program at one replica", async () => {
  const replicas = await Promise.all([1, 2].map(() => startScriptedReplica(answerOk)));
  const text = replicas.reduce((all, { url }, index) => all.replace(`http://127.0.0.1:800${index + 1}`, url), textWith(524_288));
  const router = await createRouter({ text });
  after(async () => {
    router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  await router.whenReady(10_000);
  const served = new Map<string, Set<string>>();
  for (let index = 0; index < 12; index++) {
    const program = `program-${index % 4}`;
    const response = await router.fetch(postRequest(CHAT, chatBody(), { headers: { "x-session-id": program } }));
    await response.text();
    served.set(program, (served.get(program) ?? new Set()).add(response.headers.get("x-signalbox-endpoint") ?? ""));
  }
  assert.deepEqual(
    [...served.values()].map(({ size }) => size),
    [1, 1, 1, 1],
  );
  assert.equal(new Set([...served.values()].flatMap((names) => [...names])).size, 2);
});
