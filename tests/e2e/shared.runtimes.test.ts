import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sharedStatusOf, storedPlacesOf } from "../support/features.ts";
import { exchange, openClient, postBytes } from "../support/raw-client.ts";
import { outstanding, readyCount, startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { answerOk, CHAT, chatPost, STREAM } from "../support/scripted-pool.ts";
import {
  chunkOf,
  LAST_CHUNK,
  type Script,
  type ScriptedReplica,
  STREAM_HEAD,
  startScriptedReplica,
} from "../support/scripted-replica.ts";
import { NO_NATS, NO_REDIS, publishByRedis, startNats, startRedis, type TestStore } from "../support/stores.ts";
import { startStore } from "../support/storing-replica.ts";

process.env["SHARED_TEST"] = "a-secret-of-at-least-sixteen";

const STORES = [
  { name: "redis", absent: NO_REDIS, start: startRedis, url: (port: number) => `redis: { url: redis://127.0.0.1:${port} }` },
  { name: "nats", absent: NO_NATS, start: startNats, url: (port: number) => `nats: { url: nats://127.0.0.1:${port} }` },
];

const longPost = (n: number) =>
  postBytes(CHAT, `{"model":"m","messages":[{"role":"user","content":"${`conversation ${n}, `.repeat(200)}"}]}`);

for (const { name, absent, start, url } of STORES) {
  describe(`routers that agree by ${name}`, { skip: absent, timeout: 120_000 }, () => {
    let store: TestStore;
    let replicas: ScriptedReplica[];
    let routers: TestRouter[];
    /** Scripts of all replicas; each test sets its own. */
    let script: Script = answerOk;
    const [one, two] = [0, 1].map((index) => () => routers[index]!) as [() => TestRouter, () => TestRouter];
    const shared = () => `  shared: { secret: "env:SHARED_TEST", ${url(store.port)} }`;
    const hear = (routersHeard: number) =>
      waitUntil(() => routers.every(({ router }) => sharedStatusOf(router)?.routers.length === routersHeard));

    before(async () => {
      store = await start();
      replicas = await Promise.all([0, 1, 2].map(() => startScriptedReplica((request, socket) => script(request, socket))));
      const urls = replicas.map((replica) => replica.url);
      routers = await Promise.all([0, 1].map(() => startTestRouter(urls, { spec: shared() })));
      await hear(1);
    });
    after(async () => {
      await Promise.all(routers.map((router) => router.close()));
      await Promise.all(replicas.map((replica) => replica.close()));
      await store.stop();
    });

    it("a request of one is load in the other's table from its begin to its end", async () => {
      let go: () => void = () => {};
      script = (_request, socket) => {
        socket.write(`${STREAM_HEAD}${chunkOf('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n')}`);
        go = () => void socket.write(`${chunkOf("data: [DONE]\n\n")}${LAST_CHUNK}`);
      };
      const client = await openClient(one().port);
      client.send(chatPost(STREAM));
      await client.until((received) => received.includes("Hi"));
      await waitUntil(() => outstanding(two().router).inFlight === 1 && outstanding(two().router).prefillTokens === 0);
      go();
      await waitUntil(() => outstanding(two().router).inFlight === 0);
      assert.deepEqual(outstanding(two().router), { inFlight: 0, prefillTokens: 0 });
      client.destroy();
      script = answerOk;
    });

    it("a prompt of one is sent by the other where its beginning is cached", async () => {
      for (let n = 0; n < 12; n++) {
        const before = replicas.map(({ requests }) => requests.length);
        const servedBy = () => replicas.findIndex(({ requests }, index) => requests.length > before[index]!);
        await exchange(one().port, longPost(n));
        const first = servedBy();
        before[first]! += 1;
        const entries = () => two().router.pool.prefixStats!.entries;
        await waitUntil(() => entries() === one().router.pool.prefixStats!.entries);
        await exchange(two().port, longPost(n));
        assert.equal(servedBy(), first, `conversation ${n}`);
        await waitUntil(() => outstanding(one().router).inFlight === 0 && outstanding(two().router).inFlight === 0);
      }
    });

    it("an endpoint that is drained by one takes no requests of the other, until it serves again", async () => {
      const { name: drained } = one().router.pool.facts.endpoints[0]!;
      const wish = { intent: "drain", reason: "a new image", by: "ops", forMs: undefined, graceMs: 0 } as const;
      one().router.control.intents.set(drained, wish);
      await waitUntil(() => readyCount(two().router) === 2);
      const intent = two().router.control.intents.of(drained);
      assert.deepEqual([intent?.intent, intent?.reason, intent?.by], ["drain", "a new image", "ops, at another router"]);
      two().router.control.intents.clear(drained, "somebody else");
      await waitUntil(() => readyCount(one().router) === 3 && readyCount(two().router) === 3);
    });

    it("an endpoint that one ejects is out at the other", async () => {
      const bad = replicas[1]!;
      script = (_request, socket) => {
        if (socket.localPort === bad.port) socket.destroy();
        else answerOk(_request, socket);
      };
      const ejected = ({ router }: TestRouter) => router.pool.facts.endpoints.filter(({ ejection }) => ejection !== undefined);
      for (let n = 100; ejected(one()).length === 0 && n < 400; n++) await exchange(one().port, longPost(n));
      assert.equal(ejected(one()).length, 1);
      await waitUntil(() => ejected(two()).length === 1);
      assert.match(ejected(two())[0]!.ejection!.reason, /seen by another router$/);
      script = answerOk;
      // It is tried by the first, and both take it back.
      await waitUntil(() => {
        void exchange(one().port, chatPost()).catch(() => {});
        return ejected(one()).length === 0 && ejected(two()).length === 0;
      }, 60_000);
    });

    it("a response that one has seen made is asked for by the other where it is kept, and nowhere else", async () => {
      const stores = new Map(replicas.map(({ port }, index) => [port, startStore(`${index}_`)]));
      script = (request, socket) => stores.get(socket.localPort!)!.script(request, socket);
      const made = await exchange(one().port, postBytes("/v1/responses", '{"model":"m","input":"Hi"}'));
      const [, id, holder] = /"id":"(responses_(\d)_1)"/.exec(made)!;
      await waitUntil(() => storedPlacesOf(two().router) === 1);
      const got = await exchange(two().port, `GET /v1/responses/${id} HTTP/1.1\r\nHost: a\r\n\r\n`);
      assert.match(got, /^HTTP\/1\.1 200 /);
      const asked = replicas.map(
        ({ requests }) => requests.filter(({ startLine }) => startLine.includes("/v1/responses")).length,
      );
      assert.deepEqual(
        asked,
        replicas.map((_, index) => (String(index) === holder ? 2 : 0)),
      );
      script = answerOk;
    });

    it("the store is gone: requests go on, the status says so; it is back: they agree again", async () => {
      await store.stop();
      await waitUntil(() => routers.every(({ router }) => sharedStatusOf(router)?.isUp === false));
      for (const { port } of routers) assert.match(await exchange(port, chatPost()), /^HTTP\/1\.1 200 /);
      await waitUntil(() => routers.every(({ router }) => sharedStatusOf(router)?.routers.length === 0));
      await store.startAgain();
      await hear(1);
      assert.ok(routers.every(({ router }) => sharedStatusOf(router)?.isUp === true));
      await waitUntil(() => routers.every(({ router }) => outstanding(router).inFlight === 0));
    });

    it("a stranger who may write into the store is not read, however much it is", { skip: name !== "redis" }, async () => {
      const { pool } = one().router.config;
      const refused = () => Object.values(sharedStatusOf(one().router)!.refused).reduce((sum, count) => sum + count, 0);
      const before = refused();
      const strange = ["", "{}", "x".repeat(43), `${"A".repeat(43)}{"from":"x","facts":[]}`, "y".repeat(2_000_000)];
      await publishByRedis(store.port, `signalbox:1:${pool}`, [
        ...strange,
        ...Array.from({ length: 500 }, () => "z".repeat(10_000)),
      ]);
      await waitUntil(() => refused() === before + strange.length + 500);
      // More than is ever gathered: the connection is given up, and made again.
      await publishByRedis(store.port, `signalbox:1:${pool}`, ["w".repeat(20_000_000)]);
      await exchange(one().port, chatPost());
      await hear(1);
      assert.ok(routers.every(({ router }) => outstanding(router).inFlight === 0));
    });

    it("the store hangs: it is noticed, and requests go on", async () => {
      store.freeze();
      try {
        await waitUntil(() => routers.every(({ router }) => sharedStatusOf(router)?.isUp === false));
        for (const { port } of routers) assert.match(await exchange(port, chatPost()), /^HTTP\/1\.1 200 /);
      } finally {
        store.goOn();
      }
      await hear(1);
    });
  });
}
