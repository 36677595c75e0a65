import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { AdminServer } from "../../apps/admin/server.ts";
import type { SendEvent } from "../../core/contract/observer.ts";
import { z } from "../../core/contract/options.ts";
import { defineObserver } from "../../core/contract/plugin.ts";
import type { DecisionReport } from "../../core/report/report-schema.ts";
import { askFor, startTestAdmin } from "../support/admin.ts";
import { readEventSource, type SourceEvent } from "../support/event-source.ts";
import { exchange, openClient, postBytes, type RawClient } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";
import { answerOk } from "../support/scripted-pool.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

const STREAM = "/api/v1/decisions/stream";

let replica: ScriptedReplica;
let router: TestRouter;
let admin: AdminServer;
before(async () => {
  replica = await startScriptedReplica(answerOk, ["m", "other"]);
  router = await startTestRouter([replica.url], { spec: "  pool: { adapters: { unlisted: none } }\n" });
  admin = await startTestAdmin(router.router);
});
after(async () => {
  await admin.close();
  await router.close();
  await replica.close();
});

async function listen(path: string, port = admin.port): Promise<RawClient> {
  const client = await openClient(port);
  client.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await client.until((received) => received.includes(": listening"));
  return client;
}

const ask = (id: string, model = "m", port = router.port) =>
  exchange(port, postBytes("/v1/chat/completions", `{"model":"${model}","messages":[]}`, `X-Request-Id: ${id}\r\n`));

/** The events in a chunked response. */
function eventsOf({ received }: RawClient): readonly SourceEvent[] {
  const bytes: Buffer[] = [];
  let rest = Buffer.from(received.slice(received.indexOf("\r\n\r\n") + 4), "latin1");
  for (;;) {
    const lineEnd = rest.indexOf("\r\n");
    const length = Number.parseInt(rest.subarray(0, lineEnd).toString(), 16);
    if (lineEnd < 0 || !(length > 0) || rest.length < lineEnd + 2 + length) return readEventSource(Buffer.concat(bytes));
    bytes.push(rest.subarray(lineEnd + 2, lineEnd + 2 + length));
    rest = rest.subarray(lineEnd + 4 + length);
  }
}

const reportsOf = (client: RawClient) => eventsOf(client).map(({ data }) => JSON.parse(data) as DecisionReport);

describe("the stream of decisions", () => {
  it("tells each request that ends, as /decisions shows it, to all who listen and want it", async () => {
    const all = await listen(STREAM);
    const missing = await listen(`${STREAM}?status=404&model=missing`);
    await ask("s1");
    await ask("s2", "missing");
    await exchange(router.port, "GET /health HTTP/1.1\r\nHost: test\r\n\r\n");
    await ask("s3", "other");
    await all.until((received) => received.includes('"s3"'));
    await missing.until((received) => received.includes('"s2"'));
    assert.match(all.received, /^HTTP\/1\.1 200 OK\r\n[\s\S]*content-type: text\/event-stream\r\n/i);
    assert.match(all.received, /cache-control: no-store\r\n[\s\S]*content-security-policy/);
    const seen = reportsOf(all);
    assert.deepEqual(
      seen.map(({ id, status }) => `${id} ${status}`),
      ["s1 200", "s2 404", "s3 200"],
    );
    const page = JSON.parse((await askFor(admin.port, "/decisions?id=s2")).body) as { decisions: DecisionReport[]; size: number };
    assert.deepEqual(seen[1], page.decisions[0]);
    assert.equal(page.size, 100);
    assert.deepEqual(
      reportsOf(missing).map(({ id }) => id),
      ["s2"],
    );
    all.destroy();
    missing.destroy();
  });

  it("frees the place of a listener that leaves", async () => {
    const freePlaces = async () => (await askFor(admin.port, STREAM, { method: "HEAD" })).status === 200;
    for (let round = 0; round < 3; round++) {
      const clients = await Promise.all(Array.from({ length: 16 }, () => listen(STREAM)));
      assert.equal((await askFor(admin.port, STREAM)).status, 503);
      assert.equal((await askFor(admin.port, "/status")).status, 200);
      for (const client of clients) client.destroy();
      for (let tries = 0; tries < 100 && !(await freePlaces()); tries++) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.ok(await freePlaces());
  });
});

describe("a listener that does not read", () => {
  const senders = new Set<SendEvent>();
  const loud = defineObserver({
    type: "loud",
    summary: "Says what the test says.",
    options: z.strictObject({}),
    create: () => ({
      finished() {},
      streams: [
        {
          path: "/loud/stream",
          summary: "All of it.",
          parameters: [],
          listen(_query, send) {
            senders.add(send);
            return () => senders.delete(send);
          },
        },
      ],
    }),
  });

  it("costs little memory, and learns how much it has missed when it reads on", async (t) => {
    const own = await startTestRouter([replica.url], { plugins: [loud], spec: "  plugins: [ { type: loud } ]\n" });
    const ownAdmin = await startTestAdmin(own.router);
    const client = await listen("/api/v1/loud/stream", ownAdmin.port);
    t.after(async () => {
      client.destroy();
      await ownAdmin.close();
      await own.close();
    });
    client.socket.pause();
    let made = 0;
    const [send] = senders;
    const text = "x".repeat(50_000);
    for (let i = 0; i < 900; i++) {
      send?.(() => {
        made += 1;
        return text;
      });
      // The socket takes what it can.
      if (i % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assert.ok(made < 900, "the kernel's buffers are smaller than that");
    client.socket.resume();
    await client.until((received) => received.includes("event: dropped"));
    // Until everything before is read, this is dropped too.
    let sent = 900;
    for (; !client.received.includes("data: last"); sent++) {
      send?.(() => {
        made += 1;
        return "last";
      });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const events = eventsOf(client);
    const dropped = events
      .filter(({ type }) => type === "dropped")
      .map(({ data }) => (JSON.parse(data) as { count: number }).count);
    const missed = dropped.reduce((sum, count) => sum + count, 0);
    assert.equal(events.length - dropped.length + missed, sent);
    assert.equal(made, sent - missed);
    void ownAdmin.close();
    assert.match(await client.closed(), /\r\n0\r\n\r\n$/, "a stop ends the stream cleanly");
  });
});
