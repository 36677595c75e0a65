import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createServer, type Socket } from "node:net";
import { after, describe, it } from "node:test";
import { askFor, startTestAdmin } from "../../../support/admin.ts";
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
import { event, OK } from "../../../support/scripted-pool.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK } from "../../../support/scripted-replica.ts";

const own = await replicaOf(["m", "small"]);
const holds: (() => void)[] = [];
const slow = await replicaOf(["m"], (_request, socket) => void holds.push(() => void socket.write(OK)));
const dead = await replicaOf(["m"]);
const cut = await replicaOf(["m"], (_request, socket) => void socket.destroy());
const lost = await replicaOf(["other"]);
const sick = await replicaOf(["m"]);
sick.failsProbes = true;
const refusing = (status: string) => replicaOf(["m"], (_request, socket) => void socket.write(jsonAnswer("{}", status)));
const loading = await refusing("503 Service Unavailable");
const [busy, busyToo] = [await refusing("429 Too Many Requests"), await refusing("429 Too Many Requests")];
const alsoLoading = await refusing("503 Service Unavailable");
const events = (text: string) =>
  `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${chunkOf(text)}${LAST_CHUNK}`;
const streaming = await replicaOf(["m"], (_request, socket) => void socket.write(events(`${event(7)}data: [DONE]\n\n`)));
let sayFull: (() => void) | undefined;
const erring = await replicaOf(["m"], (_request, socket) => {
  sayFull = () => void socket.write(events('data: {"error":{"message":"full","code":429}}\n\n'));
});
const hasty = await hastyReplica();
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
  poolDocument("loading", [loading.url], "  headers: { x-pool: [loading] }\n  fallback: [busy, default]"),
  poolDocument("busy", [busy.url, busyToo.url], "  headers: { x-pool: [busy] }\n  fallback: [loading]"),
  poolDocument("left", [alsoLoading.url], "  headers: { x-pool: [left] }\n  fallback: [full]"),
  poolDocument("streaming", [streaming.url]),
  poolDocument("erring", [erring.url], "  headers: { x-pool: [erring] }\n  fallback: [streaming]"),
  poolDocument("hasty", [hasty.url], "  headers: { x-pool: [hasty] }\n  fallback: [default]"),
  rewriteDocument("meant", "meant", "{ modelRewrite: m, weight: 1, pool: loading }, { modelRewrite: small, weight: 1 }"),
  rewriteDocument("full", "full", "{ modelRewrite: m, pool: full }"),
  rewriteDocument(
    "moves",
    "moves",
    "{ modelRewrite: m, weight: 1, pool: out }, { modelRewrite: small, weight: 1 }",
    ", onUnavailable: redistribute",
  ),
].join("");
const router = await startPools([own.url], {
  documents,
  spec: "  keepAlive: { beforeHeadMs: 20, paths: [/v1/chat/completions] }",
  poolsReady: 10,
});

const admin = await startTestAdmin(router.router);
after(() => admin.close());

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

  it("goes on, once to each pool, when its replicas say that they are full; the last answer is passed on", async () => {
    const [before, loadingBefore] = [own.requests.length, loading.requests.length];
    assert.equal((await ask(router, "m", { "x-pool": "loading" })).status, 200);
    assert.equal(own.requests.length, before + 1);
    assert.equal(loading.requests.length, loadingBefore + 1);
    assert.ok(busy.requests.length + busyToo.requests.length > 0, "the first fallback was asked too");
    const { attempts } = router.log.at(-1)!;
    assert.deepEqual([attempts[0]!.result, attempts.at(-1)!.result], [503, 200]);
    const { status, body } = await ask(router, "m", { "x-pool": "busy" });
    assert.deepEqual([status, body], [503, "{}"], "two pools that stand in for each other are no circle");
    await assertNothingLeft(router.router);
  });

  it("goes on when its stream begins with an error, behind comments that its client has got meanwhile", async () => {
    const response = await fetch(`${router.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-pool": "erring" },
      body: JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "hello" }] }),
    });
    let text = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      sayFull?.();
      sayFull = undefined;
    }
    assert.match(text, /^(: keep-alive\n\n)+data: .*"n":7.*\n\ndata: \[DONE\]\n\n$/);
    await assertNothingLeft(router.router);
  });

  it("goes on whole when a replica says so before it has read the body", async () => {
    const text = randomBytes(6_000_000).toString("hex");
    const response = await fetch(`${router.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-pool": "hasty" },
      body: JSON.stringify({ model: "m", messages: [{ role: "user", content: text }] }),
    });
    assert.equal(response.status, 200, await response.text());
    const { messages } = JSON.parse(own.requests.at(-1)!.body.toString("utf8"));
    assert.ok(messages[0].content === text);
    await assertNothingLeft(router.router);
  });

  it("is over when its client leaves while the fallback has it", async () => {
    const leaving = new AbortController();
    const before = holds.length;
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hello" }] });
    const headers = { "content-type": "application/json", "x-pool": "left" };
    const asked = fetch(`${router.url}/v1/chat/completions`, { method: "POST", headers, body, signal: leaving.signal });
    await waitUntil(() => holds.length > before);
    leaving.abort();
    await assert.rejects(asked);
    await assertNothingLeft(router.router);
  });

  it("leaves what it met there with the replicas that refused it", async () => {
    const { endpoints } = JSON.parse((await askFor(admin.port, "/status")).body) as {
      readonly endpoints: readonly { readonly pool: string; readonly figures: { readonly overloads: number } }[];
    };
    const refusals = (pool: string) =>
      endpoints.filter((each) => each.pool === pool).reduce((sum, { figures }) => sum + figures.overloads, 0);
    assert.equal(refusals("loading"), loading.requests.length);
    assert.equal(refusals("busy"), busy.requests.length + busyToo.requests.length);
    assert.equal(refusals("hasty"), 1);
    assert.equal(refusals("default"), 0);
  });

  it("counts for the target that it was meant for, which a guard of its rule judges", async () => {
    type Shown = { readonly figures: { readonly requests: number } };
    const counts = () =>
      ["m@loading", "small"].map((label) => (router.router.features.status("meant/0", label) as Shown).figures.requests);
    const before = own.requests.length;
    for (let n = 0; n < 4; n++) assert.equal((await ask(router, "meant")).status, 200);
    assert.equal(own.requests.length, before + 4);
    await waitUntil(() => counts().join() === "2,2");
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
    assert.deepEqual(
      [...moves].sort(),
      [
        "busy > loading",
        "erring > streaming",
        "full > default",
        "hasty > default",
        "left > full",
        "loading > busy",
        "busy > default",
        "out > default",
      ].sort(),
    );
  });
});

/** Its replica says that it is full when it has the head of a request, and reads no further. */
async function hastyReplica() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      if (!chunk.toString("latin1").startsWith("POST")) return void socket.write(jsonAnswer('{"data":[{"id":"m"}]}'));
      socket.pause();
      socket.write(jsonAnswer("{}", "503 Service Unavailable"));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}` };
}
