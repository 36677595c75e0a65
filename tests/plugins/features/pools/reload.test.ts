import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ask, assertNothingLeft, poolDocument, replicaOf, routersOf, startPools } from "../../../support/pools.ts";
import { loadTestConfig, waitUntil } from "../../../support/router.ts";
import { event } from "../../../support/scripted-pool.ts";

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

const own = await replicaOf();
let finish: (() => void) | undefined;
const streaming = await replicaOf(["a"], (_request, socket) => {
  socket.write(HEAD + chunk(event(1)));
  finish = () => void socket.write(`${chunk(event(2))}${chunk("data: [DONE]\n\n")}0\r\n\r\n`);
});
const other = await replicaOf(["b"]);
const poolA = poolDocument("a", [streaming.url], "  models: [a]");
const poolB = poolDocument("b", [other.url], "  models: [b]");
const router = await startPools([own.url], { documents: poolA });
const load = (documents: string) => loadTestConfig([own.url], { documents });
const isReady = (name: string) =>
  routersOf(router.router)
    .get(name)
    ?.pool.facts.endpoints.every(({ isAvailable }) => isAvailable) === true;

describe("a reload of a router with pools", () => {
  it("adds a pool, and removes one whose request under way goes on to its end", async () => {
    const removed = routersOf(router.router).get("a")!;
    const response = await fetch(`${router.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "a", stream: true, messages: [{ role: "user", content: "hello" }] }),
    });
    router.router.replace(await load(poolB));
    await waitUntil(() => isReady("b"));
    assert.equal((await ask(router, "b")).status, 200);
    assert.equal((await ask(router, "a")).status, 404);
    finish!();
    assert.match(await response.text(), /"n":2.*DONE/s);
    assert.equal(router.router.olderConfigs, 0);
    assert.deepEqual([...routersOf(router.router).keys()], ["b"]);
    // Its router has ended: nothing keeps a connection to the replica.
    await waitUntil(() => streaming.sockets.size === 0);
    assert.equal(
      [...removed.pool.load.inFlight].reduce((sum, each) => sum + each, 0),
      0,
    );
  });

  it("keeps the router of a pool that changes, and what is known of its replicas", async () => {
    const before = routersOf(router.router).get("b")!;
    router.router.replace(await load(`${poolB}${poolA}`.replace("models: [b]", "models: [b, c]\n  retries: { stale: false }")));
    assert.equal(routersOf(router.router).get("b"), before);
    assert.equal(before.config.settings.retries.stale, false);
    assert.equal((await ask(router, "b")).status, 200);
    await assertNothingLeft(router.router);
  });

  it("changes nothing where a pool of the next config can't be built", async () => {
    const before = routersOf(router.router);
    const broken = `${poolDocument("c", [])}  plugins: [{ type: file, parameters: { path: /none/there.json } }]\n`;
    const next = await load(`${poolA}${poolB}${broken}`);
    assert.throws(() => router.router.replace(next), /none\/there\.json/);
    assert.equal(routersOf(router.router), before);
    assert.equal((await ask(router, "b")).status, 200);
    router.router.replace(await load(""));
    assert.equal(routersOf(router.router).size, 0);
    await waitUntil(() => other.sockets.size === 0);
  });
});
