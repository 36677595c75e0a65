import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  ask,
  assertNothingLeft,
  modelsAt,
  poolDocument,
  replicaOf,
  rewriteDocument,
  startPools,
} from "../../../support/pools.ts";

const own = await replicaOf(["m", "small"]);
const big = await replicaOf(["big", "big-2"]);
const gold = await replicaOf(["m"]);
const canary = await replicaOf(["m"]);
const documents = [
  poolDocument("gold", [gold.url], "  headers: { X-Tier: [gold] }"),
  poolDocument("big", [big.url], '  models: ["big*"]'),
  poolDocument("canary", [canary.url]),
  rewriteDocument("split", "split", "{ modelRewrite: m, weight: 9 }, { modelRewrite: m, weight: 1, pool: canary }"),
  rewriteDocument("alias", "alias", "{ modelRewrite: big-2 }"),
].join("");
const router = await startPools([own.url], { documents });

describe("several pools", () => {
  const counts = () => [own, big, gold, canary].map(({ requests }) => requests.length);
  const went = async (request: () => Promise<{ readonly status: number }>) => {
    const was = counts();
    assert.equal((await request()).status, 200);
    return counts().map((count, index) => count - was[index]!);
  };

  it("sends a request to the pool that asks for its model, and others to the router's own", async () => {
    assert.deepEqual(await went(() => ask(router, "m")), [1, 0, 0, 0]);
    assert.deepEqual(await went(() => ask(router, "big")), [0, 1, 0, 0]);
    assert.deepEqual(await went(() => ask(router, "m", { "x-tier": "gold" })), [0, 0, 1, 0]);
    assert.deepEqual(await went(() => ask(router, "m", { "x-tier": "iron" })), [1, 0, 0, 0]);
  });

  it("chooses by the target that a rule draws, and writes that into the body", async () => {
    assert.deepEqual(await went(() => ask(router, "alias")), [0, 1, 0, 0]);
    assert.equal(modelsAt(big).at(-1), "big-2");
  });

  it("keeps the shares of targets in different pools exact, also where the model is the same", async () => {
    const was = counts();
    for (let n = 0; n < 20; n++) assert.equal((await ask(router, "split")).status, 200);
    assert.deepEqual(
      counts().map((count, index) => count - was[index]!),
      [18, 0, 0, 2],
    );
    assert.equal(modelsAt(canary).at(-1), "m");
  });

  it("names the pool in the access log", async () => {
    await ask(router, "big");
    await assertNothingLeft(router.router);
    const line = router.log.at(-1) as unknown as { readonly pool?: string };
    assert.equal(line.pool, "big");
  });

  it("lists the models of all pools, and counts the replicas of all in /ready", async () => {
    const list = (await (await fetch(`${router.url}/v1/models`)).json()) as { data: { id: string }[] };
    assert.deepEqual(list.data.map(({ id }) => id).sort(), ["alias", "big", "big-2", "m", "small", "split"]);
    assert.deepEqual(await (await fetch(`${router.url}/ready`)).json(), { ready: 4, endpoints: 4 });
  });
});

describe("a router without replicas of its own", () => {
  it("serves by its pools, is ready with them, and refuses what no pool is for", async () => {
    const replica = await replicaOf(["a"]);
    const router = await startPools([], { documents: poolDocument("only", [replica.url], "  models: [a]"), ready: 0 });
    assert.equal((await fetch(`${router.url}/ready`)).status, 200);
    assert.equal((await ask(router, "a")).status, 200);
    const { status, body } = await ask(router, "b");
    assert.equal(status, 404);
    assert.match(body, /No pool is for this model/);
  });
});
