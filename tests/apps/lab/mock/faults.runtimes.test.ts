import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, beforeEach, describe, test } from "node:test";
import type { FaultChanges, FaultName } from "../../../../apps/lab/mock/faults.ts";
import type { MockReplica } from "../../../../apps/lab/mock/replica.ts";
import { startMockReplica } from "../../../../apps/lab/mock/replica.ts";
import { openClient, postBytes } from "../../../support/raw-client.ts";

const STREAM = postBytes("/v1/completions", '{"prompt":"hello","max_tokens":6,"stream":true}');
const WHOLE = postBytes("/v1/completions", '{"prompt":"hello","max_tokens":6}');

/** Sends the bytes. Returns what was received until the connection ended, and how it ended. */
async function talk(replica: MockReplica, bytes: string): Promise<{ received: string; end: string }> {
  const client = await openClient(replica.port);
  let end = "closed";
  client.socket.on("error", (error: NodeJS.ErrnoException) => {
    end = error.code ?? "error";
  });
  client.send(bytes);
  const received = await client.closed();
  return { received, end };
}

async function status(replica: MockReplica, path: string): Promise<number> {
  const response = await fetch(replica.url + path);
  await response.text();
  return response.status;
}

const events = (received: string) => received.split("data: ").length - 1;

describe("the faults of a mock replica", () => {
  let replica: MockReplica;
  before(async () => {
    replica = await startMockReplica({ model: "m", timeScale: 0 });
  });
  beforeEach(async () => {
    await replica.faults.clear();
    replica.seen.clear();
  });
  after(() => replica.close());

  const BROKEN = [
    { name: "reset", fault: { reset: true }, bytes: WHOLE, end: "ECONNRESET", events: 0, begins: "" },
    { name: "malformedHead", fault: { malformedHead: true }, bytes: WHOLE, end: "closed", events: 0, begins: "HTTP/1.1 2x0" },
    {
      name: "dieAfterEvents at once",
      fault: { dieAfterEvents: 0 },
      bytes: STREAM,
      end: "closed",
      events: 0,
      begins: "HTTP/1.1 200",
    },
    { name: "dieAfterEvents", fault: { dieAfterEvents: 3 }, bytes: STREAM, end: "closed", events: 3, begins: "HTTP/1.1 200" },
    { name: "resetAfterEvents", fault: { resetAfterEvents: 2 }, bytes: STREAM, end: "ECONNRESET", events: 2, begins: "" },
    { name: "dieInsideEvent", fault: { dieInsideEvent: 2 }, bytes: STREAM, end: "closed", events: 3, begins: "HTTP/1.1 200" },
    {
      name: "dieInsideEvent without a stream",
      fault: { dieInsideEvent: 0 },
      bytes: WHOLE,
      end: "closed",
      events: 0,
      begins: "HTTP/1.1 200",
    },
  ] as const;
  for (const row of BROKEN) {
    test(row.name, async () => {
      await replica.faults.apply(row.fault);
      const { received, end } = await talk(replica, row.bytes);
      assert.equal(end, row.end);
      // A reset may discard bytes in transit.
      if (end === "closed") assert.equal(events(received), row.events);
      if (end === "closed") assert.ok(received.startsWith(row.begins));
      assert.ok(!received.includes("[DONE]") && !received.includes("0\r\n\r\n"));
      assert.equal(replica.seen.last()?.outcome, "cut");
      assert.equal(replica.load.running, 0);
    });
  }

  test("dieInsideEvent ends in the middle of an event", async () => {
    await replica.faults.set("dieInsideEvent", 1);
    assert.doesNotMatch((await talk(replica, STREAM)).received, /\n\n\r\n$/);
  });

  const SILENT = [
    { name: "hang" as FaultName, fault: { hang: true }, events: 0 },
    { name: "silentAfterEvents" as FaultName, fault: { silentAfterEvents: 2 }, events: 2 },
  ] as const;
  for (const row of SILENT) {
    test(`${row.name} keeps the connection and sends nothing more`, async () => {
      await replica.faults.apply(row.fault);
      const client = await openClient(replica.port);
      client.send(STREAM);
      await client.until((received) => events(received) === row.events);
      await replica.seen.until((requests) => requests.length === 1);
      // A whole other response takes longer than the rest of this one would.
      await replica.faults.clear();
      await (await fetch(`${replica.url}/v1/completions`, { method: "POST", body: '{"prompt":"x"}', headers: JSON_TYPE })).text();
      assert.equal(events(client.received), row.events);
      assert.equal(client.isClosed, false);
      client.destroy();
      await replica.seen.until((requests) => requests[0]?.outcome === "aborted");
    });
  }

  test("resetOnReuse does not affect the first request of a connection", async () => {
    await replica.faults.set("resetOnReuse", true);
    const { received, end } = await talk(replica, WHOLE + WHOLE);
    assert.equal(end, "ECONNRESET");
    assert.ok(received.split("HTTP/1.1 200").length <= 2);
  });

  test("dropAfterResponseMs closes the connection after each response", async () => {
    await replica.faults.set("dropAfterResponseMs", 1);
    const { received } = await talk(replica, WHOLE);
    assert.match(received, /^HTTP\/1\.1 200 /);
  });

  const STATUSES: readonly { fault: FaultChanges; bytes: string; wanted: RegExp }[] = [
    { fault: { status: 500 }, bytes: WHOLE, wanted: /^HTTP\/1\.1 500 [\s\S]*"error":\{"message":/ },
    {
      fault: { status: { status: 429, retryAfterS: 3 } },
      bytes: WHOLE,
      wanted: /^HTTP\/1\.1 429 [\s\S]*retry-after: 3[\s\S]*RateLimitError/,
    },
    {
      fault: { status: { status: 503, body: { error: "full" } } },
      bytes: WHOLE,
      wanted: /^HTTP\/1\.1 503 [\s\S]*\{"error":"full"\}$/,
    },
    {
      fault: { status: 529 },
      bytes: postBytes("/v1/messages", "{}"),
      wanted: /^HTTP\/1\.1 529 [\s\S]*\{"type":"error","error":/,
    },
    { fault: { loading: true }, bytes: WHOLE, wanted: /^HTTP\/1\.1 503 [\s\S]*loading/ },
  ];
  for (const { fault, bytes, wanted } of STATUSES) {
    test(`${JSON.stringify(fault)}: the response`, async () => {
      await replica.faults.apply(fault);
      const client = await openClient(replica.port);
      client.send(bytes);
      assert.match(await client.until((received) => wanted.test(received)), wanted);
      client.destroy();
    });
  }

  test("loading does not affect /health", async () => {
    await replica.faults.set("loading", true);
    assert.deepEqual([await status(replica, "/health"), await status(replica, "/v1/models")], [200, 503]);
  });

  test("slowMs waits first", async () => {
    await replica.faults.set("slowMs", 40);
    const startMs = performance.now();
    const client = await openClient(replica.port);
    client.send(WHOLE);
    await client.until((received) => received.includes("HTTP/1.1 200"));
    client.destroy();
    assert.ok(performance.now() - startMs >= 35);
  });

  test("refuse: connections are refused until it is cleared or its time is over", async () => {
    const refused = () =>
      new Promise<string>((resolve) => {
        const socket = connect(replica.port, "127.0.0.1");
        socket.on("connect", () => {
          socket.destroy();
          resolve("connected");
        });
        socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
      });
    await replica.faults.set("refuse", true);
    assert.equal(await refused(), "ECONNREFUSED");
    await replica.faults.clear("refuse");
    assert.equal(await status(replica, "/v1/models"), 200);
    await replica.faults.set("refuse", 50);
    assert.equal(await refused(), "ECONNREFUSED");
    for (let tries = 0; (await refused()) !== "connected"; tries++) {
      assert.ok(tries < 200);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  });

  test("times and on limit a fault", async () => {
    await replica.faults.set("status", 500, { times: 2, on: "/v1/models" });
    await replica.faults.set("hang", true, { on: "/nowhere" });
    const answers = [];
    for (const path of ["/health", "/v1/models", "/version", "/v1/models", "/v1/models"])
      answers.push(await status(replica, path));
    assert.deepEqual(answers, [200, 500, 200, 500, 200]);
  });

  test("by default faults apply to the inference APIs only", async () => {
    await replica.faults.set("status", 500);
    for (const path of ["/health", "/v1/models", "/metrics"]) assert.equal(await status(replica, path), 200);
  });

  test("the control endpoint sets, shows and clears faults", async () => {
    const control = async (method: string, body?: object) => {
      const response = await fetch(`${replica.url}/mock/faults`, { method, ...(body ? { body: JSON.stringify(body) } : {}) });
      return [response.status, await response.json()];
    };
    const shown = { status: { value: 503, on: "apis", times: 2 }, slowMs: { value: 5, on: "all" } };
    assert.deepEqual(await control("POST", { status: { value: 503, times: 2 }, slowMs: { value: 5, on: "all" } }), [
      200,
      { faults: shown },
    ]);
    assert.deepEqual(await control("POST", { status: false }), [200, { faults: { slowMs: shown.slowMs } }]);
    assert.deepEqual(await control("GET"), [200, { faults: { slowMs: shown.slowMs } }]);
    assert.deepEqual(await control("DELETE"), [200, { faults: {} }]);
    for (const wrong of [{ nonsense: true }, { hang: 3 }, { status: 99 }, { slowMs: { value: 1, times: -1 } }]) {
      assert.equal((await control("POST", wrong))[0], 400);
    }
    assert.equal(replica.seen.requests.length, 0);
  });
});

const JSON_TYPE = { "content-type": "application/json" };
