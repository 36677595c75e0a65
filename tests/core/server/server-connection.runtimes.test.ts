import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { respondWithJson } from "../../../core/errors/error-response.ts";
import { afterOthersReads } from "../../../core/runtime/next-turn.ts";
import { LINGER_MS, PARTING_MS } from "../../../core/server/connection-state.ts";
import { DEFAULT_LIMITS } from "../../../core/settings.ts";
import { settle } from "../../support/fake-clock.ts";
import { connection, get } from "./connection-set-up.ts";

describe("a connection whose idle time is over", () => {
  const { idleTimeoutMs } = DEFAULT_LIMITS;
  async function idle() {
    const all = connection();
    all.socket.receive(get("/a"));
    assert.doesNotMatch(await all.respond(), /Connection: close/);
    await all.clock.advance(idleTimeoutMs + 500);
    return all;
  }

  it("serves the request that comes just then, as the last one", async () => {
    const { clock, socket, connections, respond, targets } = await idle();
    socket.receive(Buffer.concat([get("/b"), get("/c")]));
    await clock.advance(60_000);
    assert.match(await respond(), /\r\nConnection: close\r\n/);
    assert.ok(socket.isEnded);
    await clock.advance(LINGER_MS + 500);
    assert.deepEqual([targets, connections.size], [["/a", "/b"], 0]);
  });

  it("reads what has come by the time it ends", async () => {
    const { clock, socket, connections, respond } = await idle();
    await clock.advance(PARTING_MS - 500);
    // The sweep that ends it comes before the read.
    const swept = clock.advance(500);
    setImmediate(() => socket.receive(get("/b")));
    await swept;
    await new Promise<void>(afterOthersReads);
    assert.match(await respond(), /\r\nConnection: close\r\n/);
    assert.equal(connections.size, 1);
  });

  it("ends where nothing comes", async () => {
    const { clock, connections } = await idle();
    assert.equal(connections.size, 1);
    await clock.advance(PARTING_MS);
    await new Promise<void>(afterOthersReads);
    await settle();
    assert.equal(connections.size, 0);
  });
});

describe("a connection of a server that stops", () => {
  it("ends soon when it is idle", async () => {
    const { clock, connections, drain } = connection();
    await clock.advance(1_000);
    drain();
    await clock.advance(250);
    assert.equal(connections.size, 1);
    await clock.advance(500);
    await new Promise<void>(afterOthersReads);
    await settle();
    assert.equal(connections.size, 0);
  });

  it("serves a request that was on its way, and says that it is the last", async () => {
    const { clock, socket, connections, respond, drain } = connection();
    drain();
    await clock.advance(250);
    socket.receive(get("/a"));
    await clock.advance(10_000);
    assert.match(await respond(), /\r\nConnection: close\r\n/);
    assert.ok(socket.isEnded);
    await clock.advance(750);
    assert.equal(connections.size, 0);
  });

  it("says so in a response that begins after the stop, whenever its request came", async () => {
    const { socket, respond, drain } = connection();
    socket.receive(get("/a"));
    drain();
    assert.match(await respond(), /\r\nConnection: close\r\n/);
    assert.ok(socket.isEnded);
  });

  it("whose response had begun before gets a last chance for the next request", async () => {
    const { clock, socket, connections, responses, respond, drain } = connection();
    socket.receive(get("/a"));
    const first = responses.shift()!;
    first.start(200, "OK", "", 2);
    drain();
    first.write(Buffer.from("{}"), [0, 2], 1, false);
    first.end();
    assert.doesNotMatch(socket.takeWritten().toString("latin1"), /Connection: close/);
    await clock.advance(250);
    assert.equal(connections.size, 1);
    socket.receive(get("/b"));
    assert.match(await respond(), /\r\nConnection: close\r\n/);
  });
});

describe("requests that come before their turn", () => {
  it("are served in order, whatever pieces they come in", async () => {
    const { socket, targets, respond } = connection();
    const all = Buffer.concat([get("/a"), get("/b"), get("/c")]);
    for (const byte of all) socket.receive(Buffer.from([byte]));
    for (const target of ["/a", "/b", "/c"]) {
      assert.equal(targets.at(-1), target);
      assert.match(await respond(), /^HTTP\/1\.1 200 OK\r\n/);
    }
    assert.equal(targets.length, 3);
  });

  it("stay in front of a read that comes just as their turn has come", async () => {
    const { socket, targets, responses, respond } = connection();
    const [first, rest] = [get("/b").subarray(0, 9), get("/b").subarray(9)];
    socket.receive(get("/a"));
    socket.receive(first);
    respondWithJson(responses.shift()!, 200, "", "{}");
    socket.receive(rest);
    await settle();
    assert.deepEqual(targets, ["/a", "/b"]);
    assert.match(await respond(), /^HTTP\/1\.1 200 OK\r\n.*HTTP\/1\.1 200 OK\r\n/s);
  });

  it("wait until the client has taken the responses so far", async () => {
    const { socket, targets, respond } = connection();
    socket.receive(Buffer.concat([get("/a"), get("/b")]));
    socket.writableNeedDrain = true;
    await respond();
    socket.receive(get("/c"));
    await settle();
    assert.deepEqual(targets, ["/a"]);
    socket.writableNeedDrain = false;
    socket.emit("drain");
    await settle();
    assert.deepEqual(targets, ["/a", "/b"]);
    await respond();
    assert.deepEqual(targets, ["/a", "/b", "/c"]);
  });

  it("are all served, up to 128 KiB of them", async () => {
    const { socket, targets, respond } = connection();
    socket.receive(get("/0"));
    const count = 120;
    for (let n = 1; n <= count; n++) socket.receive(get(`/${n}`, `A: ${"a".repeat(1_000)}\r\n`));
    for (let n = 0; n <= count; n++) assert.match(await respond(), /^HTTP\/1\.1 200 OK\r\n(?!.*Connection: close)/s);
    assert.deepEqual(
      targets,
      Array.from({ length: count + 1 }, (_, n) => `/${n}`),
    );
  });

  for (const kib of [1, 70, 1_000]) {
    it(`do not hide that the client has left, even if they are ${kib} KiB`, async () => {
      const { socket, connections, told } = connection();
      socket.receive(get("/a"));
      for (let n = 0; n < kib; n++) socket.receive(get("/b", `A: ${"a".repeat(1_000)}\r\n`));
      socket.receiveEnd();
      await settle();
      assert.equal(connections.size, 0);
      assert.deepEqual(told, ["bodyEnd", "clientGone"]);
    });
  }

  it("beyond 128 KiB are served no more: the response under way is whole and says that it is the last", async () => {
    const { clock, socket, connections, targets, respond } = connection();
    socket.receive(get("/a"));
    for (let n = 0; n < 200; n++) socket.receive(get("/b", `A: ${"a".repeat(1_000)}\r\n`));
    assert.match(await respond(), /^HTTP\/1\.1 200 OK\r\n.*Connection: close\r\n\r\n\{\}$/s);
    assert.ok(socket.isEnded);
    socket.receive(get("/c"));
    await clock.advance(3_000);
    assert.equal(connections.size, 0);
    assert.deepEqual(targets, ["/a"]);
    assert.equal(socket.wasReset, false);
  });

  it("beyond the largest body a request may have cut the connection", async () => {
    const { socket, connections, told } = connection();
    socket.receive(get("/a"));
    const megabyte = Buffer.alloc(1024 * 1024);
    for (let n = 0; n < 32; n++) socket.receive(megabyte);
    assert.equal(socket.wasReset, false);
    socket.receive(megabyte);
    await settle();
    assert.ok(socket.wasReset);
    assert.equal(connections.size, 0);
    assert.deepEqual(told, ["bodyEnd", "clientGone"]);
  });
});
