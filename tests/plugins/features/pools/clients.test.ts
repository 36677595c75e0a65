/** Which pool a client goes to by what it is, and what stands beside that: WebSockets, keys, headers. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, describe, it } from "node:test";
import { assertNothingLeft, poolDocument, replicaOf, startPools } from "../../../support/pools.ts";
import { waitUntil } from "../../../support/router.ts";
import { openWebSocket } from "../../../support/websocket.ts";
import { REALTIME, startWebSocketReplica, update } from "../../../support/websocket-pool.ts";

const entry = (name: string, models = "") =>
  `      - { name: ${name}, sha256: "${createHash("sha256").update(`sk-${name}`).digest("hex")}"${models} }\n`;
const spec = `  websockets: {}\n  auth:\n    keys:\n${entry("gold-1")}${entry("plain")}${entry("bound", ", models: [voice]")}`;

const own = await replicaOf(["m", "voice"]);
const [gold, voice] = [await replicaOf(["m"]), await startWebSocketReplica(["voice"])];
const deaf = await replicaOf(["deaf"]);
await deaf.refuse();
for (const socket of deaf.sockets) socket.destroy();
after(() => voice.close());
const documents = [
  poolDocument("gold", [gold.url], '  keys: ["gold-*"]\n  headers: { x-tier: ["a*", b] }'),
  poolDocument("voice", [voice.url], "  models: [voice]"),
  poolDocument("deaf", [deaf.url], "  models: [deaf]\n  fallback: [{ pool: voice, modelRewrite: voice }]"),
].join("");
const router = await startPools([own.url], { spec, documents, poolsReady: 2 });
const poolOfLast = () => (router.log.at(-1) as unknown as { readonly pool: string }).pool;

async function poolOf(key: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const lines = router.log.length;
  const response = await fetch(`${router.url}/v1/embeddings`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer sk-${key}`, ...headers },
    body: '{"model":"m","input":"hi"}',
  });
  await response.text();
  await waitUntil(() => router.log.length > lines);
  return poolOfLast();
}

const bearer = (key: string) => ({ lines: `Authorization: Bearer sk-${key}\r\n` });

describe("a client of a router with pools", () => {
  it("goes to the pool of its key and its headers, only where both match", async () => {
    assert.equal(await poolOf("gold-1", { "x-tier": "abc" }), "gold");
    assert.equal(await poolOf("gold-1", { "X-Tier": "b" }), "gold");
    assert.equal(await poolOf("gold-1", { "x-tier": "c" }), "default");
    assert.equal(await poolOf("gold-1", {}), "default");
    assert.equal(await poolOf("plain", { "x-tier": "b" }), "default");
  });

  it("has its WebSocket in the pool of the model, which the query or the first message names", async () => {
    const lines = router.log.length;
    const byQuery = await openWebSocket(router.port, `${REALTIME}?model=voice`, bearer("plain"));
    assert.equal(byQuery.status, 101);
    const first = await voice.session(1);
    first.say("hi");
    await byQuery.until(({ texts }) => texts.includes("hi"));
    const byMessage = await openWebSocket(router.port, REALTIME, bearer("bound"));
    byMessage.say(update("voice"));
    const second = await voice.session(2);
    await second.until(({ texts }) => texts.length > 0);
    for (const client of [byQuery, byMessage]) client.socket.destroy();
    await Promise.all([first, second].map((session) => session.gone()));
    await waitUntil(() => router.log.length === lines + 2);
    assert.equal(poolOfLast(), "voice");
  });

  it("has it in the fallback pool, under the model's name there, where its own can't be reached", async () => {
    const client = await openWebSocket(router.port, `${REALTIME}?model=deaf`, bearer("plain"));
    assert.equal(client.status, 101);
    const session = await voice.session(3);
    assert.match(session.head, /^GET \/v1\/realtime\?model=voice HTTP/);
    client.socket.destroy();
    await session.gone();
    await assertNothingLeft(router.router);
  });
});
