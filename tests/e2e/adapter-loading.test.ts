/** Adapters that replicas load when they are first asked for, as vLLM does with its file-system resolver. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { healthOf } from "../../apps/admin/health.ts";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { Adapters } from "../../core/control/adapters.ts";
import { liveAdapterLife } from "../support/adapter-life.ts";
import { startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { makeSite } from "../support/view.ts";

interface Setting {
  /** The adapters in each replica's folder; one list for each replica. */
  readonly folders: readonly (readonly string[])[];
  readonly adapterLoadMs?: number;
  /** Targets of the model "food" in equal shares; default v1. */
  readonly targets?: readonly string[];
  readonly onUnavailable?: "refuse" | "redistribute";
  readonly unlisted?: "targets" | "any" | "none";
  readonly spec?: string;
  /** Further replicas of the pool; the caller closes them. */
  readonly others?: readonly MockReplica[];
}

interface World {
  readonly router: TestRouter;
  readonly replicas: readonly MockReplica[];
}

/** Probes are rare, so a list that is known again soon was read because of a response. */
const POOL = (unlisted: string) => `  pool:
    adapters: { unlisted: ${unlisted} }
    probes: { readiness: { periodSeconds: 3600 } }
`;

async function setUp(setting: Setting): Promise<World> {
  const {
    folders,
    adapterLoadMs = 0,
    targets = ["v1"],
    onUnavailable = "refuse",
    unlisted = "targets",
    spec = "",
    others = [],
  } = setting;
  const replicas = await Promise.all(
    folders.map((availableAdapters) =>
      startMockReplica({ model: "base", availableAdapters, adapterLoadMs, timeScale: 0, seenLimit: 10_000 }),
    ),
  );
  const shares = targets.map((name) => `{ modelRewrite: ${name}, weight: 50 }`).join(", ");
  const rule = `matches: [ { model: { value: food } } ], targets: [ ${shares} ], onUnavailable: ${onUnavailable}`;
  const documents = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec: { poolRef: { name: default }, rules: [ { ${rule} } ] }
`;
  const router = await startTestRouter(
    [...replicas, ...others].map(({ url }) => url),
    { documents, spec: POOL(unlisted) + spec },
  );
  after(async () => {
    await router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  return { router, replicas };
}

interface Answer {
  readonly status: number;
  readonly body: { readonly model?: string; readonly error?: { readonly code: string | number; readonly message: string } };
}

async function ask({ router }: World, model = "food", path = "/v1/completions", prompt = "x"): Promise<Answer> {
  const answer = await fetch(`${router.url}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ model, prompt, max_tokens: 2 }),
  });
  return { status: answer.status, body: (await answer.json()) as Answer["body"] };
}

const askTimes = (world: World, times: number, model?: string) =>
  Promise.all(Array.from({ length: times }, () => ask(world, model)));

/** How often each replica was asked to generate. */
const asked = ({ replicas }: World) => replicas.map(({ seen }) => seen.requests.filter(({ method }) => method === "POST").length);

const loaded = ({ replicas }: World) => replicas.map(({ adapters }) => [...adapters.loaded.keys()]);

const isServed = ({ router }: World, name: string) => router.router.pool.facts.served.has(name);

describe("a target that no replica lists", () => {
  it("is loaded by the first request for it, and the list is read at once", async () => {
    const world = await setUp({ folders: [["v1"], ["v1"]] });
    assert.ok(!isServed(world, "v1"));
    const { status, body } = await ask(world);
    assert.deepEqual([status, body.model], [200, "v1"]);
    await waitUntil(() => isServed(world, "v1"));
  });

  it("needs nobody's attention as long as no replica has refused it", async () => {
    const world = await setUp({ folders: [["v1"], ["v1"]] });
    const health = () => healthOf(makeSite(world.router.router));
    assert.deepEqual([health().isWell, health().warnings], [true, []]);
    const [target] = health().rewrites[0]!.targets;
    assert.deepEqual([target?.readyEndpoints, target?.onDemandEndpoints], [0, 2]);
    assert.equal((await ask(world)).status, 200);
    await waitUntil(() => isServed(world, "v1"));
    assert.deepEqual([health().isWell, health().warnings], [true, []]);
  });

  it("that all replicas have refused is told, also when they may be asked again", async () => {
    const world = await setUp({ folders: [["other"], ["other"]] });
    assert.equal((await ask(world)).status, 503);
    const { isWell, warnings } = healthOf(makeSite(world.router.router));
    assert.equal(isWell, false);
    assert.match(warnings[0] ?? "", /^No ready replica serves "v1", a target of the rewrite food\/0: its requests get 503/);
    assert.ok(world.router.router.pool.load.unlisted.hasRefused(0, "v1"), "whatever the time is");
  });

  it("stays where it was loaded while that replica is not busy", async () => {
    const world = await setUp({ folders: [["v1"], ["v1"], ["v1"]] });
    for (let i = 0; i < 10; i++) assert.equal((await ask(world)).status, 200);
    assert.deepEqual(asked(world).sort(), [0, 0, 10]);
  });

  it("is loaded by one replica, though many ask for it while it loads", async () => {
    const world = await setUp({ folders: [["v1"], ["v1"]], adapterLoadMs: 200 });
    const answers = await askTimes(world, 20);
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.deepEqual(asked(world).sort(), [0, 20]);
  });

  it("goes to one more replica where the queue takes longer than a load", async () => {
    const world = await setUp({ folders: [["v1"], ["v1"]] });
    await ask(world);
    await waitUntil(() => isServed(world, "v1"));
    const first = loaded(world).findIndex((names) => names.length > 0);
    await world.replicas[first]!.faults.set("hang", true, { times: 1 });
    world.router.router.pool.load.unlisted.loaded(1, false);
    const waiting = ask(world).catch(() => undefined);
    await waitUntil(() => world.router.router.pool.load.inFlight[first] === 1);
    assert.equal((await ask(world)).status, 200);
    assert.deepEqual(loaded(world), [["v1"], ["v1"]]);
    await world.replicas[first]!.close();
    await waiting;
  });

  it("is found on the one replica that can load it; the others are not asked again", async () => {
    const world = await setUp({ folders: [["other"], ["other"], ["v1"], ["other"]] });
    for (let i = 0; i < 5; i++) assert.equal((await ask(world)).status, 200);
    const counts = asked(world);
    assert.equal(counts[2], 5);
    assert.ok(counts.every((count, index) => index === 2 || count <= 1));
    const [first] = world.router.log;
    assert.deepEqual(
      first?.attempts.map(({ result }) => result),
      [...Array.from({ length: (first?.attempts.length ?? 1) - 1 }, () => 404), 200],
    );
  });

  it("is found by each of many requests that were sent at one moment", async () => {
    const world = await setUp({ folders: [["other"], ["v1"], ["other"]], adapterLoadMs: 50 });
    const answers = await askTimes(world, 30);
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  });

  it("gives an error when all have refused it; then none is asked for a while, until the operator says that it is there", async () => {
    const world = await setUp({ folders: [["other"], ["other"]] });
    const first = await ask(world);
    assert.deepEqual([first.status, first.body.error?.code], [503, "target_unavailable"]);
    assert.deepEqual(asked(world), [1, 1]);
    const second = await ask(world);
    assert.deepEqual([second.status, second.body.error?.code], [503, "target_unavailable"]);
    assert.deepEqual(asked(world), [1, 1]);
    world.replicas[1]!.adapters.put("v1");
    await new Adapters(world.router.router.adapters).load("v1", {});
    assert.equal((await ask(world)).status, 200);
  });

  it("is asked for with the whole body each time, also a large one", async () => {
    const world = await setUp({ folders: [["other"], ["v1"], ["other"]] });
    const prompt = "All reviews of the soup. ".repeat(8_000);
    assert.equal((await ask(world, "food", "/v1/completions", prompt)).status, 200);
    const bodies = world.replicas.flatMap(({ seen }) =>
      seen.requests.filter(({ method }) => method === "POST").map(({ body }) => JSON.parse(body.toString()) as object),
    );
    for (const body of bodies) assert.deepEqual(body, { model: "v1", prompt, max_tokens: 2 });
  });

  it("can be asked for by its own name", async () => {
    const world = await setUp({ folders: [["v1"]] });
    assert.equal((await ask(world, "v1")).status, 200);
  });
});

describe("a 404 that is not about the target", () => {
  const others: readonly (readonly [name: string, body: object])[] = [
    ["of another model", { error: { message: "The model `v11` does not exist.", code: 404 } }],
    ["with a long body", { error: { message: `v1 ${"x".repeat(20_000)}`, code: 404 } }],
  ];
  for (const [name, body] of others) {
    it(`${name} passes as it is, and nobody rests`, async () => {
      const world = await setUp({ folders: [["v1"], ["v1"]] });
      for (const { faults } of world.replicas) await faults.set("status", { status: 404, body });
      const answer = await ask(world);
      assert.deepEqual([answer.status, answer.body], [404, body]);
      assert.deepEqual(
        asked(world).reduce((sum, count) => sum + count),
        1,
      );
      for (const { faults } of world.replicas) await faults.clear();
      assert.equal((await ask(world)).status, 200);
    });
  }
});

describe("a pool with replicas for other APIs", () => {
  it("a target is loaded by a replica that has the request's path; one without it is not asked for long", async () => {
    const embedder = await startMockReplica({ model: "embedder", isEmbedding: true, timeScale: 0 });
    after(() => embedder.close());
    const world = await setUp({ folders: [["v1"]], others: [embedder] });
    for (let i = 0; i < 5; i++) assert.equal((await ask(world)).status, 200);
    assert.ok(embedder.seen.requests.filter(({ method }) => method === "POST").length <= 1);
  });

  it("a path that no replica has: an error, and the target can be loaded through the others", async () => {
    const world = await setUp({ folders: [["v1"], ["v1"]] });
    for (let i = 0; i < 3; i++) assert.equal((await ask(world, "food", "/v1/embeddings")).status, 503);
    assert.deepEqual(asked(world), [1, 1]);
    assert.equal((await ask(world)).status, 200);
  });
});

describe("targets that share the traffic", () => {
  it("redistribute: what no replica can load goes to the others, without an error", async () => {
    const world = await setUp({ folders: [["v1"], ["v1"]], targets: ["v1", "v2"], onUnavailable: "redistribute" });
    for (let i = 0; i < 10; i++) {
      const { status, body } = await ask(world);
      assert.deepEqual([status, body.model], [200, "v1"]);
    }
    for (const { adapters } of world.replicas) adapters.put("v2");
    await new Adapters(world.router.router.adapters).load("v2", {});
    const models = (await askTimes(world, 20)).map(({ body }) => body.model).sort();
    assert.deepEqual(models, [...Array.from({ length: 10 }, () => "v1"), ...Array.from({ length: 10 }, () => "v2")]);
  });

  it("refuse: its share gets the error", async () => {
    const world = await setUp({ folders: [["v1"]], targets: ["v1", "v2"] });
    const statuses = (await askTimes(world, 10)).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 503, 503, 503, 503, 503]);
  });
});

describe("pool.adapters.unlisted", () => {
  it("targets: a name that the config does not have is not tried", async () => {
    const world = await setUp({ folders: [["mine"]] });
    const { status, body } = await ask(world, "mine");
    assert.deepEqual([status, body.error?.code], [404, "model_not_found"]);
    assert.deepEqual(asked(world), [0]);
  });

  it("any: a name that the config does not have is tried, but none that leaves the folder", async () => {
    const world = await setUp({ folders: [["mine", "../mine"]], unlisted: "any" });
    assert.equal((await ask(world, "mine")).status, 200);
    assert.equal((await ask(world, "../mine")).status, 404);
    assert.deepEqual(asked(world), [1]);
  });

  it("any: made-up names go to one replica each once the retry budget is spent", async () => {
    const budget = "  retries: { budgetShare: 0, budgetLeast: 3 }\n";
    const world = await setUp({ folders: [["mine"], ["mine"], ["mine"], ["mine"]], unlisted: "any", spec: budget });
    for (let i = 0; i < 40; i++) {
      const { status } = await ask(world, `made-up-${i}`);
      assert.equal(status, 404);
    }
    assert.equal(
      asked(world).reduce((sum, count) => sum + count),
      43,
    );
  });

  it("none: no replica is asked", async () => {
    const world = await setUp({ folders: [["v1"]], unlisted: "none" });
    assert.equal((await ask(world)).status, 503);
    assert.deepEqual(asked(world), [0]);
  });
});

describe("the whole life of an adapter", () => {
  it("empty list, first adapter, 90/10, 50/50, cutover, folder removed, unload", async () => {
    const replicas = await Promise.all([1, 2].map(() => startMockReplica({ model: "base", timeScale: 0 })));
    after(() => Promise.all(replicas.map((replica) => replica.close())));
    await liveAdapterLife({
      urls: replicas.map(({ url }) => url),
      base: "base",
      put(name) {
        for (const { adapters } of replicas) adapters.put(name);
      },
      remove(name) {
        for (const { adapters } of replicas) adapters.remove(name);
      },
    });
  });
});

describe("an adapter's end", () => {
  it("removed from the folder it is still served where it is loaded, and loaded nowhere else", async () => {
    const world = await setUp({ folders: [["v1"], ["v1"]] });
    await ask(world);
    await waitUntil(() => isServed(world, "v1"));
    for (const { adapters } of world.replicas) adapters.remove("v1");
    for (let i = 0; i < 5; i++) assert.equal((await ask(world)).status, 200);
    assert.equal(loaded(world).flat().length, 1);
  });

  it("unloaded through the router it is gone from the list at once", async () => {
    const world = await setUp({ folders: [["v1"]] });
    await ask(world);
    await waitUntil(() => isServed(world, "v1"));
    world.replicas[0]!.adapters.remove("v1");
    const [change] = await new Adapters(world.router.router.adapters).unload("v1", {});
    assert.equal(change?.isDone, true);
    await waitUntil(() => !isServed(world, "v1"));
    assert.equal((await ask(world)).status, 503);
  });

  it("unloaded behind the router's back it is noticed by the first 404", async () => {
    const world = await setUp({ folders: [["v1"]] });
    await ask(world);
    await waitUntil(() => isServed(world, "v1"));
    const [replica] = world.replicas;
    replica!.adapters.remove("v1");
    replica!.adapters.unload({ lora_name: "v1" });
    assert.equal((await ask(world)).status, 404);
    await waitUntil(() => !isServed(world, "v1"));
    assert.equal((await ask(world)).status, 503);
  });
});
