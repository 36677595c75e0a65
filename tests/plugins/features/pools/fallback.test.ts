import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  ask,
  assertNothingLeft,
  modelsAt,
  poolDocument,
  replicaOf,
  rewriteDocument,
  routersOf,
  startPools,
} from "../../../support/pools.ts";
import { waitUntil } from "../../../support/router.ts";
import { OK } from "../../../support/scripted-pool.ts";

const own = await replicaOf(["m", "small"]);
const holds: (() => void)[] = [];
const slow = await replicaOf(["m"], (_request, socket) => void holds.push(() => void socket.write(OK)));
const dead = await replicaOf(["m"]);
const cut = await replicaOf(["m"], (_request, socket) => void socket.destroy());
const lost = await replicaOf(["other"]);
const sick = await replicaOf(["m"]);
sick.failsProbes = true;
const documents = [
  poolDocument(
    "full",
    [slow.url],
    "  models: [full]\n  fallback: [{ pool: default, modelRewrite: small }]\n  admission: { concurrency: 1, maxRequests: 1, maxWaitMs: 20 }",
  ),
  poolDocument("out", [dead.url], "  headers: { x-pool: [out] }\n  fallback: [gone, default]"),
  poolDocument("gone", [sick.url]),
  poolDocument("lone", [lost.url], "  headers: { x-pool: [lone] }\n  fallback: [default]"),
  poolDocument("alone", [cut.url], "  headers: { x-pool: [cut] }\n  fallback: [default]"),
  rewriteDocument("full", "full", "{ modelRewrite: m, pool: full }"),
  rewriteDocument(
    "moves",
    "moves",
    "{ modelRewrite: m, weight: 1, pool: out }, { modelRewrite: small, weight: 1 }",
    ", onUnavailable: redistribute",
  ),
].join("");
const router = await startPools([own.url], { documents, poolsReady: 4 });

describe("a request that its pool can't serve", () => {
  it("goes on to the fallback when its wait for room ends, with the fallback's model", async () => {
    const first = ask(router, "full");
    await waitUntil(() => holds.length === 1);
    const before = own.requests.length;
    assert.equal((await ask(router, "full")).status, 200);
    assert.equal(own.requests.length, before + 1);
    assert.equal(modelsAt(own).at(-1), "small");
    for (const release of holds) release();
    assert.equal((await first).status, 200);
    await assertNothingLeft(router.router);
  });

  it("passes by pools without replicas when its own refuses connections, and where none is ready", async () => {
    await dead.refuse();
    for (const socket of dead.sockets) socket.destroy();
    const before = own.requests.length;
    assert.equal((await ask(router, "m", { "x-pool": "out" })).status, 200);
    const out = routersOf(router.router).get("out")!;
    await waitUntil(() => out.pool.facts.endpoints.every(({ isAvailable }) => !isAvailable));
    assert.equal((await ask(router, "m", { "x-pool": "out" })).status, 200);
    assert.equal(own.requests.length, before + 2);
    assert.equal(modelsAt(own).at(-1), "m");
    for (let n = 0; n < 4; n++) assert.equal((await ask(router, "moves")).status, 200, "its rule redistributes");
    await assertNothingLeft(router.router);
  });

  it("does not go on once a replica may have got it", async () => {
    const before = own.requests.length;
    assert.equal((await ask(router, "m", { "x-pool": "cut" })).status, 502);
    assert.equal(own.requests.length, before);
    assert.equal(cut.requests.length, 1);
  });

  it("ends with what its own pool says where no fallback has the model", async () => {
    await lost.refuse();
    for (const socket of lost.sockets) socket.destroy();
    const { status, body } = await ask(router, "other", { "x-pool": "lone" });
    assert.equal(status, 502, body);
  });

  it("is counted and explained as one that went on", () => {
    const { plugin } = router.router.config.modules.find(({ type }) => type === "pools")!;
    const families = plugin.metrics!({} as never);
    const fallbacks = families.find(({ name }) => name === "pool_fallbacks_total")!.samples;
    const moves = new Set(fallbacks.map(({ values: [from, to] }) => `${from} > ${to}`));
    assert.deepEqual([...moves].sort(), ["full > default", "out > default"]);
  });
});
