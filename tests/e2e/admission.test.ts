import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import { defineAdmission } from "../../core/contract/plugin.ts";
import { makeEndpoints } from "../support/endpoints.ts";
import { openClient, postBytes, type RawClient } from "../support/raw-client.ts";
import { loadTestConfig, type TestRouterOptions, waitUntil } from "../support/router.ts";
import { assertIdle, CHAT, chatBody, OK, setUp } from "../support/scripted-pool.ts";
import { makeView } from "../support/view.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

/** What the status says of the line. */
interface LineStatus {
  readonly admission: { readonly waiting: number } | null;
}

interface Options extends TestRouterOptions {
  readonly admission: string;
  readonly replicas?: number;
}

/** A router over replicas that answer when the test says so: `answer` answers the request that came first. */
async function setUpLine({ admission, replicas: count = 1, ...options }: Options) {
  const open: { readonly text: string; readonly socket: Socket }[] = [];
  const script = (request: { readonly body: Buffer }, socket: Socket) =>
    void open.push({ text: JSON.parse(String(request.body)).messages[0].content, socket });
  const pool = await setUp(
    Array.from({ length: count }, () => script),
    { ...options, spec: `${options.spec ?? ""}\n  admission: ${admission}\n` },
  );
  const { router } = pool;
  const answer = () => void open.shift()!.socket.write(OK);
  const ask = async (text: string, lines = ""): Promise<RawClient> => {
    const client = await openClient(router.port);
    client.send(postBytes(CHAT, chatBody().replace("hello", text), lines));
    return client;
  };
  /** What waits now. */
  const line = () => (router.router.features.status() as LineStatus).admission;
  const waiting = (count: number) => waitUntil(() => line()?.waiting === count);
  /** Lets requests through one by one, and says in which order they come to the replicas. */
  const order = async (length: number) => {
    const seen: string[] = [];
    while (seen.length < length) {
      await waitUntil(() => open.length > 0);
      seen.push(open[0]!.text);
      answer();
    }
    return seen;
  };
  return { ...pool, open, answer, ask, waiting, order };
}

const answered = async (client: RawClient) => wholeAnswer(await client.until((text) => wholeAnswer(text).isComplete));

describe("admission with a set room", () => {
  it("lets no more requests to a replica than it may have, and those that wait go on one by one", async () => {
    const { router, open, answer, ask, waiting } = await setUpLine({ admission: "{ concurrency: 2 }" });
    const clients = [await ask("1"), await ask("2")];
    await waitUntil(() => open.length === 2);
    clients.push(await ask("3"));
    await waiting(1);
    clients.push(await ask("4"));
    await waiting(2);
    assert.equal(open.length, 2);
    answer();
    await waiting(1);
    await waitUntil(() => open.length === 2);
    assert.deepEqual(
      open.map(({ text }) => text),
      ["2", "3"],
    );
    for (let left = 3; left > 0; left--) {
      await waitUntil(() => open.length > 0);
      answer();
    }
    for (const client of clients) assert.equal((await answered(client)).status, 200);
    await assertIdle(router);
  });

  it("sends requests to replicas that have room", async () => {
    const { replicas, open, ask, waiting, order } = await setUpLine({ admission: "{ concurrency: 1 }", replicas: 3 });
    for (const text of ["1", "2", "3", "4"]) await ask(text);
    await waiting(1);
    await waitUntil(() => open.length === 3);
    assert.deepEqual(
      replicas.map(({ requests }) => requests.length),
      [1, 1, 1],
    );
    await order(4);
  });

  it("lets higher priorities go first", async () => {
    const { open, ask, waiting, order } = await setUpLine({
      admission: "{ concurrency: 1, priorityHeaders: [x-priority] }",
    });
    await ask("first");
    await waitUntil(() => open.length === 1);
    for (const [at, priority] of [-5, 0, 7, 3].entries()) {
      await ask(String(priority), `x-priority: ${priority}\r\n`);
      await waiting(at + 1);
    }
    assert.deepEqual(await order(5), ["first", "7", "3", "0", "-5"]);
  });

  it("gives tenants equal shares, however many requests one of them sends", async () => {
    const { open, ask, waiting, order } = await setUpLine({ admission: "{ concurrency: 1, tenantHeaders: [x-tenant] }" });
    await ask("first");
    await waitUntil(() => open.length === 1);
    let asked = 0;
    for (const [tenant, count] of [
      ["greedy", 40],
      ["a", 8],
      ["b", 8],
    ] as const)
      for (let index = 0; index < count; index++) {
        await ask(tenant, `x-tenant: ${tenant}\r\n`);
        asked += 1;
        await waiting(asked);
      }
    const [, ...served] = await order(25);
    for (const tenant of ["greedy", "a", "b"]) {
      const count = served.filter((each) => each === tenant).length;
      assert.ok(Math.abs(count - 8) <= 1, `${tenant}: ${count} of 24`);
    }
    await order(asked - 24);
  });

  it("is told by the status, the log and the metrics", async () => {
    const { router, open, ask, waiting, order } = await setUpLine({
      admission: "{ concurrency: 1, priorityHeaders: [x-priority], tenantHeaders: [x-tenant] }",
    });
    await ask("first");
    await waitUntil(() => open.length === 1);
    await ask("second", "x-priority: 4\r\nx-tenant: acme\r\n");
    await waiting(1);
    const status = router.router.features.status() as { readonly admission: { readonly byPriority: unknown } };
    assert.deepEqual(status.admission.byPriority, [{ priority: 4, waiting: 1 }]);
    await order(2);
    await waitUntil(() => router.log.length === 2);
    const [first, second] = router.log as unknown as readonly { readonly waitedMs: number | null }[];
    assert.equal(first?.waitedMs, null);
    assert.ok((second?.waitedMs ?? -1) >= 0);
    const families = router.router.features.metrics(makeView(makeEndpoints(1)));
    const waits = families.find(({ name }) => name === "admission_waits_total");
    assert.deepEqual(
      waits?.samples.filter(({ value }) => value === 1).map(({ values }) => values),
      [["high", "admitted"]],
    );
  });

  it("responds with 429 and Retry-After after the longest wait", async () => {
    const { router, open, answer, ask } = await setUpLine({ admission: "{ concurrency: 1, maxWaitMs: 100 }" });
    await ask("1");
    await waitUntil(() => open.length === 1);
    const refused = await answered(await ask("2"));
    assert.equal(refused.status, 429);
    assert.match(new Map(refused.headers).get("retry-after") ?? "", /^[1-9]\d?$/);
    assert.equal(JSON.parse(refused.body).error.code, "queue_timeout");
    answer();
    await assertIdle(router);
  });

  it("sends the least important away when the line is full", async () => {
    const { open, ask, waiting, order } = await setUpLine({
      admission: "{ concurrency: 1, maxRequests: 2, priorityHeaders: [x-priority] }",
    });
    await ask("first");
    await waitUntil(() => open.length === 1);
    const low = await ask("low", "x-priority: -1\r\n");
    await waiting(1);
    await ask("usual");
    await waiting(2);
    await ask("high", "x-priority: 1\r\n");
    const shed = await answered(low);
    assert.equal(shed.status, 429);
    assert.equal(JSON.parse(shed.body).error.code, "queue_full");
    const newcomer = await answered(await ask("low again", "x-priority: -1\r\n"));
    assert.equal(JSON.parse(newcomer.body).error.code, "queue_full");
    assert.deepEqual(await order(3), ["first", "high", "usual"]);
  });

  it("frees the place of a client that leaves at once", async () => {
    const { router, open, ask, waiting, order } = await setUpLine({ admission: "{ concurrency: 1, maxRequests: 1 }" });
    await ask("1");
    await waitUntil(() => open.length === 1);
    const leaving = await ask("2");
    await waiting(1);
    leaving.destroy();
    await waiting(0);
    await ask("3");
    await waiting(1);
    assert.deepEqual(await order(2), ["1", "3"]);
    await assertIdle(router);
  });
});

describe("a line under attack", () => {
  it("is empty again when a thousand clients leave at once", { timeout: 60_000 }, async () => {
    const { router, open, ask, waiting, order } = await setUpLine({
      admission: "{ concurrency: 1, tenantHeaders: [x-tenant] }",
    });
    await ask("first");
    await waitUntil(() => open.length === 1);
    const clients: RawClient[] = [];
    for (let index = 0; index < 1_000; index++) {
      clients.push(await ask("crowd", `x-tenant: ${index}\r\n`));
    }
    await waiting(1_000);
    for (const client of clients) client.destroy();
    await waiting(0);
    await ask("last");
    await waiting(1);
    assert.deepEqual(await order(2), ["first", "last"]);
    await assertIdle(router);
  });

  it("does not believe headers that the config does not name", async () => {
    const { open, ask, waiting, order } = await setUpLine({ admission: "{ concurrency: 1 }" });
    await ask("first");
    await waitUntil(() => open.length === 1);
    await ask("usual");
    await waiting(1);
    await ask("liar", "x-priority: 99\r\nx-llm-d-inference-objective: urgent\r\nx-tenant: other\r\n");
    await waiting(2);
    assert.deepEqual(await order(3), ["first", "usual", "liar"]);
  });

  it("gives objectives their priority, and unknown ones none", async () => {
    const documents = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceObjective
metadata: { name: urgent }
spec: { priority: 9, poolRef: { name: default } }
`;
    const { open, ask, waiting, order } = await setUpLine({ admission: "{ concurrency: 1 }", documents });
    await ask("first");
    await waitUntil(() => open.length === 1);
    for (const [at, objective] of ["nothing", "urgent"].entries()) {
      await ask(objective, `x-llm-d-inference-objective: ${objective}\r\n`);
      await waiting(at + 1);
    }
    assert.deepEqual(await order(3), ["first", "urgent", "nothing"]);
  });

  it("goes on in the order of arrival when its plugin fails", async () => {
    const failing = defineAdmission({
      type: "failing",
      summary: "Fails",
      create: () => ({
        join() {},
        leave() {},
        take() {
          throw new Error("broken");
        },
        least: (newcomer) => newcomer,
      }),
    });
    const { router, open, ask, waiting, order } = await setUpLine({
      admission: "{ concurrency: 1 }",
      plugins: [failing],
      spec: "  plugins: [ { type: failing } ]",
    });
    await ask("first");
    await waitUntil(() => open.length === 1);
    for (const [at, text] of ["second", "third"].entries()) {
      await ask(text);
      await waiting(at + 1);
    }
    assert.deepEqual(await order(3), ["first", "second", "third"]);
    assert.ok((router.router.plugins.faults.counts.get("failing") ?? 0) > 0);
  });

  it("survives a reload, and is let through by one without the section", async () => {
    const { router, replicas, open, ask, waiting, order } = await setUpLine({
      admission: "{ concurrency: 1, priorityHeaders: [x-priority] }",
    });
    const urls = replicas.map(({ url }) => url);
    await ask("first");
    await waitUntil(() => open.length === 1);
    for (const [at, priority] of [1, 3, 2].entries()) {
      await ask(String(priority), `x-priority: ${priority}\r\n`);
      await waiting(at + 1);
    }
    router.router.replace(await loadTestConfig(urls, { spec: "  admission: { concurrency: 1, maxRequests: 9 }" }));
    assert.equal(open.length, 1);
    assert.deepEqual(await order(2), ["first", "3"]);
    router.router.replace(await loadTestConfig(urls));
    await waitUntil(() => open.length >= 2);
    assert.deepEqual((await order(2)).sort(), ["1", "2"]);
    await assertIdle(router);
  });

  it("is told when the router stops", async () => {
    const { router, open, ask, waiting } = await setUpLine({ admission: "{ concurrency: 1 }" });
    await ask("first");
    await waitUntil(() => open.length === 1);
    const waiter = await ask("second");
    await waiting(1);
    const drained = router.server.drain(0);
    const told = await answered(waiter);
    assert.equal(told.status, 503);
    assert.equal(JSON.parse(told.body).error.code, "shutting_down");
    await drained;
  });

  it("refuses a model that nobody serves at once", async () => {
    const { router, open, ask, waiting, order } = await setUpLine({ admission: "{ concurrency: 1 }" });
    await ask("first");
    await waitUntil(() => open.length === 1);
    await ask("second");
    await waiting(1);
    const client = await openClient(router.port);
    client.send(postBytes(CHAT, chatBody().replace('"m"', '"unknown"')));
    assert.equal((await answered(client)).status, 404);
    assert.deepEqual(await order(2), ["first", "second"]);
  });
});

describe("a request whose replica can't be reached, where requests wait for replicas", () => {
  it("goes back into the line, and on once the replica is there again", async () => {
    const { router, replica, open, answer, ask, waiting } = await setUpLine({
      admission: "{ concurrency: 2, waitsForReplicas: true }",
      spec: `  pool: { probes: { readiness: { periodSeconds: 1 } } }\n  retries: { backoffMs: 0 }`,
    });
    await replica.refuse();
    for (const socket of replica.sockets) socket.destroy();
    const first = await ask("1");
    await waiting(1);
    const second = await ask("2");
    await waiting(2);
    await replica.listenAgain();
    for (let left = 2; left > 0; left--) {
      await waitUntil(() => open.length > 0);
      answer();
    }
    for (const client of [first, second]) assert.equal((await answered(client)).status, 200);
    await waitUntil(() => router.log.length === 2);
    const [line] = router.log.filter(({ attempts }) => attempts.length > 1);
    assert.deepEqual(
      line?.attempts.map(({ result }) => result),
      ["connect-failed", 200],
    );
    await assertIdle(router);
  });

  it("gets its error when it has waited for as long as it may", async () => {
    const { router, replica, ask } = await setUpLine({
      admission: "{ concurrency: 2, waitsForReplicas: true, maxWaitMs: 300 }",
    });
    await replica.refuse();
    for (const socket of replica.sockets) socket.destroy();
    const { status } = await answered(await ask("1"));
    assert.equal(status, 429);
    await waitUntil(() => router.log.length === 1);
    assert.deepEqual([router.log[0]?.error, router.log[0]?.attempts.length], ["queue_timeout", 1]);
    await assertIdle(router);
  });

  it("is told so at once where requests don't wait for replicas", async () => {
    const { replica, ask } = await setUpLine({ admission: "{ concurrency: 2 }" });
    await replica.refuse();
    for (const socket of replica.sockets) socket.destroy();
    assert.equal((await answered(await ask("1"))).status, 502);
  });
});
