/** Who waits at a replica that makes no progress is told, whether or not the replica leaves the pool; its silent streams end. */
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import { openClient, type RawClient } from "../support/raw-client.ts";
import { type TestRouter, waitUntil } from "../support/router.ts";
import { assertIdle, chatPost, event, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";
import { setUpUsual } from "../support/usual-pool.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const ROUND_ROBIN = "  profiles: [ { plugins: [ { pluginRef: round-robin } ] } ]\n";
/** No request that was given up goes elsewhere. */
const NO_RETRY = "  retries: { wedged: false }\n";
/** Nobody may leave. */
const STAY = `${ROUND_ROBIN}${NO_RETRY}  ejection: { maxShare: 0 }\n`;
/** A silence of five seconds needs no explanation, a stream's none of ten; sweeps come up to a second later. */
const PATIENCE_S = 7;
const STREAM_PATIENCE_S = 13;
/** The same where one request alone waits, and for the only replica. */
const LONE_PATIENCE_S = 32;

const hangs: Script = () => {};
const answers: Script = (_request, socket) => void socket.write(STREAM_HEAD + chunkOf(event(1)) + LAST_CHUNK);
/** Streams that begin are kept in `sockets`; what has `x-hang` gets nothing. */
const beginsUnlessTold =
  (sockets: Socket[]): Script =>
  (request, socket) => {
    if (request.headers.has("x-hang")) return;
    sockets.push(socket);
    socket.write(STREAM_HEAD + chunkOf(event(1)));
  };
const resets: Script = (_request, socket) => socket.resetAndDestroy();

async function ask(router: TestRouter, lines = ""): Promise<RawClient> {
  const client = await openClient(router.port);
  client.send(chatPost(STREAM, lines));
  return client;
}

/** A request that goes to the first of two replicas; the second one answers at once what comes to it. */
async function askFirst({ router, received }: Awaited<ReturnType<typeof setUpUsual>>, lines = ""): Promise<RawClient> {
  const before = received();
  for (;;) {
    const client = await ask(router, lines);
    await waitUntil(() => received().some((count, index) => count > before[index]!));
    if (received()[0]! > before[0]!) return client;
    before[1] = received()[1]!;
    client.destroy();
  }
}

const HANG = "X-Hang: yes\r\n";
const ended = (client: RawClient) => client.isClosed || client.received.includes('"upstream_timeout"');
const statusOf = (client: RawClient) => wholeAnswer(client.received).status;

/** A stream that ended with an error event behind what was sent of it. */
function assertBrokenOff(client: RawClient): void {
  const answer = wholeAnswer(client.received);
  assert.equal(answer.status, 200);
  assert.ok(answer.body.startsWith(event(1)));
  assert.match(answer.body, /\n\ndata: \{"error":.*"upstream_timeout".*\}\n\n$/);
  assert.ok(!answer.isComplete);
}

describe("where more replicas are stuck than may leave", () => {
  it("nobody waits for long at any of them", { timeout: 60_000 }, async () => {
    const { router, pass, received, ejections } = await setUpUsual([hangs, hangs, hangs, answers], ROUND_ROBIN + NO_RETRY);
    const clients = await Promise.all(Array.from({ length: 8 }, () => ask(router)));
    await waitUntil(() => received().reduce((sum, count) => sum + count, 0) === 8);
    await pass(PATIENCE_S);
    await waitUntil(() => clients.every((client) => ended(client) || client.received.endsWith(LAST_CHUNK)));
    assert.equal(clients.filter((client) => statusOf(client) === 504).length, 6);
    assert.ok(ejections() <= 2);
    for (const client of clients) client.destroy();
    await assertIdle(router);
  });

  it("the others get the requests", { timeout: 60_000 }, async () => {
    const spec = `${ROUND_ROBIN}  retries: { budgetLeast: 100, backoffMs: 0 }\n  limits: { retries: 5 }\n`;
    const { router, pass } = await setUpUsual([hangs, hangs, hangs, answers], spec);
    const clients = await Promise.all(Array.from({ length: 4 }, () => ask(router)));
    for (let second = 0; second < 40 && !clients.every(({ received }) => received.endsWith(LAST_CHUNK)); second++) await pass(1);
    // A request that was delivered twice goes to no third replica.
    for (const { attempts } of router.log) assert.ok(attempts.length <= 2, JSON.stringify(attempts));
    assert.ok(clients.some((client) => statusOf(client) === 200 && client.received.endsWith(LAST_CHUNK)));
    for (const client of clients) client.destroy();
    await assertIdle(router);
  });

  it("a request that comes later has as much time as the first", { timeout: 60_000 }, async () => {
    const pool = await setUpUsual([hangs, answers], STAY);
    const { router, pass, ejections } = pool;
    const early = [await askFirst(pool), await askFirst(pool)];
    await pass(4);
    const late = await askFirst(pool);
    await pass(3);
    await waitUntil(() => early.every(ended));
    assert.ok(!ended(late), "it has waited for three seconds");
    await pass(4);
    await waitUntil(() => ended(late));
    assert.deepEqual([...early, late].map(statusOf), [504, 504, 504]);
    assert.equal(ejections(), 0);
    for (const client of [...early, late]) client.destroy();
    await assertIdle(router);
  });

  it("a head without a token behind it is no progress", { timeout: 60_000 }, async () => {
    const pool = await setUpUsual([(_request, socket) => void socket.write(STREAM_HEAD), answers], STAY);
    const first = await askFirst(pool);
    const later: RawClient[] = [];
    for (let second = 0; second < PATIENCE_S; second++) {
      await first.until((text) => text.includes("\r\n\r\n"));
      later.push(await askFirst(pool));
      await pool.pass(1);
    }
    await first.closed();
    assert.match(wholeAnswer(first.received).body, /^data: \{"error":.*"upstream_timeout"/);
    for (const client of later) client.destroy();
    await assertIdle(pool.router);
  });
});

describe("the only replica", () => {
  it("is given half a minute", { timeout: 60_000 }, async () => {
    const { router, pass, received, ejections } = await setUpUsual([hangs]);
    const client = await ask(router);
    await waitUntil(() => received()[0] === 1);
    await pass(LONE_PATIENCE_S - 4);
    assert.ok(!ended(client));
    await pass(4);
    await waitUntil(() => ended(client));
    assert.deepEqual([statusOf(client), ejections()], [504, 0]);
    client.destroy();
    await assertIdle(router);
  });
});

describe("at a replica that is ejected already, for another reason", () => {
  it("who waits is told", { timeout: 60_000 }, async () => {
    let script = hangs;
    const first: Script = (request, socket) => script(request, socket);
    const { router, pass, received, ejections } = await setUpUsual([first, answers], ROUND_ROBIN + NO_RETRY);
    const waiting: RawClient[] = [];
    while (received()[0]! < 2) {
      waiting.push(await ask(router));
      await waitUntil(() => received().reduce((sum, count) => sum + count, 0) === waiting.length);
    }
    script = resets;
    for (let n = 0; n < 20 && ejections() === 0; n++) {
      const client = await ask(router);
      await client.until((text) => text.endsWith(LAST_CHUNK) || text.includes('"upstream_reset"'));
      client.destroy();
    }
    assert.match(router.router.pool.facts.endpoints[0]!.ejection?.reason ?? "", /failures in a row/);
    const stuck = waiting.filter(({ received: text }) => !text.endsWith(LAST_CHUNK));
    assert.equal(stuck.length, 2);
    await pass(PATIENCE_S);
    await waitUntil(() => stuck.every(ended));
    for (const client of stuck) assert.equal(statusOf(client), 504);
    for (const client of waiting) client.destroy();
    await assertIdle(router);
  });
});

/** Streams of the first of two replicas that have sent an event each. */
async function flowing(pool: Awaited<ReturnType<typeof setUpUsual>>, count: number): Promise<readonly RawClient[]> {
  const streams: RawClient[] = [];
  for (let n = 0; n < count; n++) {
    const stream = await askFirst(pool);
    await stream.until((text) => text.includes(event(1)));
    streams.push(stream);
  }
  return streams;
}

describe("a request that waits alone", () => {
  for (const [name, spec] of [
    ["of which nobody may leave", STAY],
    ["where its replica leaves", ROUND_ROBIN + NO_RETRY],
  ] as const) {
    it(`may take twenty seconds for what it alone needs, in a pool ${name}`, { timeout: 60_000 }, async () => {
      const sockets: Socket[] = [];
      const pool = await setUpUsual([(_request, socket) => void sockets.push(socket), answers], spec);
      const client = await askFirst(pool);
      await pool.pass(20);
      assert.ok(!ended(client));
      sockets[0]!.write(STREAM_HEAD + chunkOf(event(1)) + LAST_CHUNK);
      await client.until((text) => text.endsWith(LAST_CHUNK));
      assert.equal(statusOf(client), 200);
      client.destroy();
      await assertIdle(pool.router);
    });
  }

  it("is tried elsewhere before it fails", { timeout: 60_000 }, async () => {
    const pool = await setUpUsual([hangs, answers], ROUND_ROBIN);
    const client = await askFirst(pool);
    await pool.pass(LONE_PATIENCE_S);
    await client.until((text) => text.endsWith(LAST_CHUNK));
    assert.equal(statusOf(client), 200);
    const results = pool.router.log.at(-1)!.attempts.map(({ result }) => result);
    assert.deepEqual(results, ["wedged", 200]);
    client.destroy();
    await assertIdle(pool.router);
  });

  it("takes no silent stream with it when its client leaves, nor when it is given up", { timeout: 60_000 }, async () => {
    const sockets: Socket[] = [];
    const pool = await setUpUsual([beginsUnlessTold(sockets), answers], STAY);
    const { router, pass } = pool;
    const [stream] = await flowing(pool, 1);
    await pass(9);
    (await askFirst(pool, HANG)).destroy();
    await pass(1);
    const waiting = await askFirst(pool, HANG);
    await pass(LONE_PATIENCE_S);
    assert.equal(statusOf(waiting), 504);
    assert.ok(!ended(stream!), "it has been silent for 42 s");
    sockets[0]!.write(chunkOf(event(2)) + LAST_CHUNK);
    await stream!.until((text) => text.endsWith(LAST_CHUNK));
    for (const client of [stream!, waiting]) client.destroy();
    await assertIdle(router);
  });
});

describe("a stream that has sent tokens", () => {
  it("ends where nothing else goes, because its replica is ejected for its errors", { timeout: 60_000 }, async () => {
    let isFailing = false;
    const fails: Script = (_request, socket) => void socket.write("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n");
    const sockets: Socket[] = [];
    const first: Script = (request, socket) => (isFailing ? fails : beginsUnlessTold(sockets))(request, socket);
    const pool = await setUpUsual([first, answers], ROUND_ROBIN);
    const { router, pass, ejections } = pool;
    const streams = await flowing(pool, 2);
    isFailing = true;
    for (let n = 0; n < 20 && ejections() === 0; n++) {
      const client = await ask(router);
      await waitUntil(() => client.received.includes("\r\n\r\n"));
      client.destroy();
    }
    assert.equal(ejections(), 1);
    for (let n = 2; n < 6; n++) {
      for (const socket of sockets) socket.write(chunkOf(event(n)));
      await pass(1);
    }
    // They paused for a second, so a silence of nine seconds needs no explanation, and a stream's none of 22.
    await pass(24);
    for (const stream of streams) {
      await stream.closed();
      assertBrokenOff(stream);
    }
    await assertIdle(router);
  });

  it("ends with an error event where other requests got no token meanwhile", { timeout: 60_000 }, async () => {
    const pool = await setUpUsual([beginsUnlessTold([]), answers], STAY);
    const { router, pass, ejections } = pool;
    const stream = await askFirst(pool);
    await stream.until((text) => text.includes(event(1)));
    const waiting = [await askFirst(pool, HANG), await askFirst(pool, HANG)];
    await pass(PATIENCE_S);
    await waitUntil(() => waiting.every(ended));
    assert.deepEqual(waiting.map(statusOf), [504, 504]);
    assert.ok(!ended(stream), "it is given twice as long");
    await pass(STREAM_PATIENCE_S - PATIENCE_S);
    await stream.closed();
    assertBrokenOff(stream);
    assert.equal(ejections(), 0);
    for (const client of waiting) client.destroy();
    await assertIdle(router);
  });

  it("goes on though another one stopped at the same moment: agents call tools in parallel", { timeout: 60_000 }, async () => {
    const pool = await setUpUsual([beginsUnlessTold([]), answers], STAY);
    const { router, pass } = pool;
    const streams = [await askFirst(pool), await askFirst(pool)];
    for (const stream of streams) await stream.until((text) => text.includes(event(1)));
    await pass(STREAM_PATIENCE_S);
    for (const stream of streams) {
      assert.ok(!ended(stream));
      stream.destroy();
    }
    await assertIdle(router);
  });

  it("lives as long beside a trial that fails as beside any other request", { timeout: 60_000 }, async () => {
    const sockets: Socket[] = [];
    const pool = await setUpUsual([beginsUnlessTold(sockets), answers], ROUND_ROBIN + NO_RETRY);
    const { router, pass, ejections } = pool;
    const [stream] = await flowing(pool, 1);
    await pass(10);
    assert.equal(ejections(), 1);
    const others: RawClient[] = [];
    while (pool.received()[0] === 1) {
      others.push(await ask(router, HANG));
      await pass(1);
    }
    await pass(LONE_PATIENCE_S);
    assert.equal(others.filter((client) => statusOf(client) === 504).length, 1, "one request was on trial");
    assert.ok(!ended(stream!), "it has been silent for 40 s or more");
    sockets[0]!.write(chunkOf(event(2)) + LAST_CHUNK);
    await stream!.until((text) => text.endsWith(LAST_CHUNK));
    for (const client of [stream!, ...others]) client.destroy();
    await assertIdle(router);
  });

  it("goes on where it is the only one that is silent", { timeout: 60_000 }, async () => {
    const sockets: Socket[] = [];
    const pool = await setUpUsual([beginsUnlessTold(sockets), answers], STAY);
    const { router, pass } = pool;
    const stream = await askFirst(pool);
    await stream.until((text) => text.includes(event(1)));
    await pass(120);
    sockets[0]!.write(chunkOf(event(2)) + LAST_CHUNK);
    const answer = wholeAnswer(await stream.until((text) => text.endsWith(LAST_CHUNK)));
    assert.equal(answer.body, event(1) + event(2));
    stream.destroy();
    await assertIdle(router);
  });

  it("goes on where others get their tokens", { timeout: 60_000 }, async () => {
    const sockets: Socket[] = [];
    const pool = await setUpUsual([beginsUnlessTold(sockets), answers], STAY);
    const { router, pass } = pool;
    const stream = await askFirst(pool);
    await stream.until((text) => text.includes(event(1)));
    const other = await askFirst(pool);
    await other.until((text) => text.includes(event(1)));
    const waiting = await askFirst(pool, HANG);
    for (let n = 0; n < 40; n++) {
      sockets[1]!.write(chunkOf(event(n)));
      await pass(1);
    }
    assert.ok(![stream, other, waiting].some(ended));
    for (const client of [stream, other, waiting]) client.destroy();
    await assertIdle(router);
  });

  it("may be as slow as it was", { timeout: 60_000 }, async () => {
    const sockets: Socket[] = [];
    const pool = await setUpUsual([beginsUnlessTold(sockets), answers], STAY);
    const { router, pass } = pool;
    const slow = await askFirst(pool);
    await slow.until((text) => text.includes(event(1)));
    const busy = await askFirst(pool);
    await busy.until((text) => text.includes(event(1)));
    for (let n = 2; n < 14; n++) {
      if (n % 6 === 0) sockets[0]!.write(chunkOf(event(n)));
      sockets[1]!.write(chunkOf(event(n)));
      await busy.until((text) => text.includes(event(n)));
      await pass(1);
    }
    const waiting = [await askFirst(pool, HANG), await askFirst(pool, HANG)];
    for (let second = 0; second < 60 && !ended(busy); second++) await pass(1);
    assert.ok(ended(busy));
    assert.ok(!ended(slow), "its own pauses took six seconds");
    for (let second = 0; second < 60 && !ended(slow); second++) await pass(1);
    await slow.closed();
    assertBrokenOff(slow);
    for (const client of waiting) client.destroy();
    await assertIdle(router);
  });

  it("goes on where its client reads nothing", { timeout: 60_000 }, async () => {
    const text = `data: ${"x".repeat(60_000)}\n\n`;
    const floods: Script = (request, socket) => {
      if (request.headers.has("x-hang")) return;
      socket.write(STREAM_HEAD);
      for (let n = 0; n < 400; n++) socket.write(chunkOf(text));
      socket.write(LAST_CHUNK);
    };
    const pool = await setUpUsual([floods, floods], STAY);
    const { router, pass, received } = pool;
    const reader = await openClient(router.port);
    reader.socket.pause();
    reader.send(chatPost(STREAM, "X-Request-Id: reader\r\n"));
    await waitUntil(() => received()[0]! + received()[1]! === 1);
    // Until the bytes have filled whatever takes them.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const waiting = [await ask(router, HANG), await ask(router, HANG)];
    await waitUntil(() => received()[0]! + received()[1]! === 3);
    await pass(LONE_PATIENCE_S);
    await waitUntil(() => waiting.every(ended));
    assert.deepEqual(waiting.map(statusOf), [504, 504]);
    await pass(STREAM_PATIENCE_S);
    reader.socket.resume();
    await waitUntil(() => router.log.some(({ id, ending }) => id === "reader" && ending === "complete"), 30_000);
    for (const client of [reader, ...waiting]) client.destroy();
    await assertIdle(router);
  });
});
