/** Messages of a WebSocket that go wrong, and ends of either side in the middle of one. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { waitUntil } from "../support/router.ts";
import { assertIdle } from "../support/scripted-pool.ts";
import { jsonAnswer } from "../support/scripted-replica.ts";
import { BINARY, closeBytes, frameBytes, openWebSocket, TEXT } from "../support/websocket.ts";
import {
  answerFrom,
  answerWhole,
  askOn,
  create,
  logLine,
  RESPONSES,
  responseEvents,
  startResponsesReplica,
  startWebSocketReplica,
  startWebSocketRouter,
} from "../support/websocket-pool.ts";

const ON = `  websockets: { paths: [${RESPONSES}] }\n`;

describe("a message that can't be served", () => {
  const rows: readonly (readonly [name: string, text: string, status: number, code: string])[] = [
    ["for a model that nobody serves", create("x"), 404, "model_not_found"],
    ["without a model", '{"type":"response.create","input":"x"}', 400, "missing_model"],
    ["that is empty", "", 400, "invalid_json"],
    ["that is no JSON", "hello", 400, "invalid_json"],
    ["that names its type twice", '{"type":"response.create","type":"x","model":"m"}', 400, "invalid_value"],
    ["without a type", '{"model":"m","input":"x"}', 400, "invalid_value"],
    ["of another type", '{"type":"response.append","model":"m","input":"x"}', 400, "invalid_value"],
    ["of another type behind a nested one", '{"x":{"type":"response.create"},"type":"y","model":"m"}', 400, "invalid_value"],
    ["with another request inside", '{"type":"response.create","model":"m","response":{"model":"n"}}', 400, "invalid_value"],
  ];
  it("is answered with an error, and the next one is served", async () => {
    const a = await startResponsesReplica("a", ["m"]);
    const router = await startWebSocketRouter([a], { spec: ON });
    const client = await openWebSocket(router.port, RESPONSES);
    for (const [name, text, status, code] of rows) {
      const [error] = await askOn(client, text);
      assert.deepEqual([error!.type, error!.status, error!.error.code], ["error", status, code], name);
      assert.equal(error!.code, code);
      assert.equal((await askOn(client, create("m"))).length, 3, name);
    }
    assert.equal(a.sessions[0]!.texts.length, rows.length);
    client.socket.destroy();
    await assertIdle(router);
  });

  const spoiling: readonly (readonly [name: string, sent: Buffer, closing: RegExp])[] = [
    ["is too long", frameBytes(TEXT, create("m", { pad: "x".repeat(5_000) }), true), /^1009 /],
    ["says that it is very long", Buffer.from("81ff00000100000000007b7b7b7b", "hex"), /^1009 /],
    ["is binary", frameBytes(BINARY, create("m"), true), /^1003 /],
    ["has no mask", frameBytes(TEXT, create("m"), false), /^1002 /],
    ["has a reserved bit", frameBytes(0x40 | TEXT, create("m"), true), /^1002 /],
    ["begins twice", Buffer.concat(Array(2).fill(frameBytes(TEXT, "{", true, false))), /^1002 /],
  ];
  for (const [name, sent, closing] of spoiling) {
    it(`ends the WebSocket where it ${name}`, async () => {
      const a = await startResponsesReplica("a", ["m"]);
      const router = await startWebSocketRouter([a], { spec: `${ON}  limits: { bodyBytes: 2048 }\n` });
      const client = await openWebSocket(router.port, RESPONSES);
      assert.equal((await askOn(client, create("m"))).length, 3);
      client.socket.write(sent);
      await client.gone();
      assert.match(client.closing, closing);
      assert.equal(a.sessions[0]!.texts.length, 1);
      await a.sessions[0]!.gone();
      await assertIdle(router);
    });
  }
});

describe("a replica", () => {
  it("that ends in the middle of a response has failed, and the WebSocket goes on with another one", async () => {
    const mean = await startResponsesReplica("a", ["m"], (end, message, id) => {
      end.say(JSON.stringify(responseEvents(id, String(message["model"]))[0]));
      setImmediate(() => end.socket.destroy());
    });
    const good = await startResponsesReplica("b", ["n"]);
    const router = await startWebSocketRouter([mean, good], { spec: ON });
    const client = await openWebSocket(router.port, RESPONSES);
    const events = await askOn(client, create("m"));
    assert.deepEqual(
      events.map(({ type }) => type),
      ["response.created", "error"],
    );
    assert.equal(events[1]!.error.code, "upstream_reset");
    assert.equal((await askOn(client, create("n"))).length, 3);
    const line = await logLine(router, 2);
    assert.deepEqual([line.status, line.ending, line.error], [200, "broken", "upstream_reset"]);
    client.socket.destroy();
    await assertIdle(router);
  });

  it("that says a status in its first event is one that refuses: another one gets the message", async () => {
    const full = await startResponsesReplica("a", ["m"], (end) => {
      end.say('{"type":"error","status":503,"error":{"message":"Too much to do.","code":"full"}}');
    });
    const free = await startResponsesReplica("b", ["m"]);
    const router = await startWebSocketRouter([full, free], { spec: ON });
    const client = await openWebSocket(router.port, RESPONSES);
    for (let turn = 0; turn < 4; turn++) assert.equal((await askOn(client, create("m"))).length, 3);
    assert.equal(free.sessions[0]!.texts.length, 4);
    client.socket.destroy();
  });

  it("that refuses the request is passed on in its own words", async () => {
    const said = '{"type":"error","status":400,"error":{"message":"No such tool.","code":"bad_tool","param":"tools"}}';
    const a = await startResponsesReplica("a", ["m"], (end) => void end.say(said));
    const router = await startWebSocketRouter([a], { spec: ON });
    const client = await openWebSocket(router.port, RESPONSES);
    const [error] = await askOn(client, create("m"));
    assert.deepEqual([error!.status, error!.error], [400, JSON.parse(said).error]);
    assert.equal((await logLine(router, 2)).status, 400);
    client.socket.destroy();
  });

  it("that carries no WebSocket there says so to the message", async () => {
    const a = await startWebSocketReplica(
      ["m"],
      (_request, socket) => void socket.write(jsonAnswer('{"detail":"Not Found"}', "404 Not Found")),
    );
    const router = await startWebSocketRouter([a], { spec: ON });
    const client = await openWebSocket(router.port, RESPONSES);
    const [error] = await askOn(client, create("m"));
    assert.deepEqual([error!.status, error!.message], [404, "Not Found"]);
    client.socket.destroy();
    await assertIdle(router);
  });

  it("that ended the WebSocket between two messages gets another one", async () => {
    const a = await startResponsesReplica("a", ["m"]);
    const router = await startWebSocketRouter([a], { spec: ON });
    const client = await openWebSocket(router.port, RESPONSES);
    for (let turn = 1; turn <= 3; turn++) {
      assert.equal((await askOn(client, create("m", { store: turn === 2 }))).length, 3);
      const session = a.sessions[turn - 1]!;
      if (turn === 1) session.close(1012, "restart");
      else session.socket.end();
      await session.gone();
    }
    assert.equal(client.isClosed, false);
    assert.equal(a.sessions.length, 3);
    client.socket.destroy();
  });
});

describe("a client", () => {
  it("that leaves in the middle of a message, or of its response, leaves nothing behind", async () => {
    const held = await startResponsesReplica("a", ["m"], (end, message, id) => {
      end.say(JSON.stringify(responseEvents(id, String(message["model"]))[0]));
    });
    const router = await startWebSocketRouter([held], { spec: ON });
    const half = await openWebSocket(router.port, RESPONSES);
    half.socket.write(frameBytes(TEXT, create("m"), true).subarray(0, 20));
    await waitUntil(() => router.log.length === 1);
    half.socket.destroy();
    assert.equal((await logLine(router, 2)).ending, "client-left");
    for (const leave of ["close", "destroy"] as const) {
      const client = await openWebSocket(router.port, RESPONSES);
      client.say(create("m"));
      await client.until(({ texts }) => texts.length === 1);
      const lines = router.log.length;
      if (leave === "close") client.socket.write(closeBytes(1000, "", true));
      else client.socket.destroy();
      assert.equal((await logLine(router, lines + 1)).ending, "client-left");
      await client.gone();
    }
    await waitUntil(() => held.sessions.every(({ isClosed }) => isClosed));
    await assertIdle(router);
  });

  it("that has sent much ahead is noticed when it leaves, and one that sends too much is cut", async () => {
    const held = await startResponsesReplica("a", ["m"], (end, message, id) => {
      end.say(JSON.stringify(responseEvents(id, String(message["model"]))[0]));
    });
    const router = await startWebSocketRouter([held], { spec: `${ON}  limits: { bodyBytes: 1MB }\n` });
    for (const [pieces, closing] of [
      [4, ""],
      [20, "1009"],
    ] as const) {
      const client = await openWebSocket(router.port, RESPONSES);
      client.say(create("m"));
      await client.until(({ texts }) => texts.length === 1);
      for (let piece = 0; piece < pieces; piece++) client.say(create("m", { pad: "x".repeat(100_000) }));
      if (closing === "") client.socket.end();
      await client.gone();
      assert.equal(client.closing.slice(0, 4), closing);
      await assertIdle(router);
      assert.equal(router.router.gate.memory.bodyBytes, 0);
    }
    await waitUntil(() => held.sessions.every(({ isClosed }) => isClosed));
  });

  it("that reads nothing stops the replica, and gets every byte once it reads", { timeout: 60_000 }, async () => {
    const delta = JSON.stringify({ type: "response.output_text.delta", delta: "x".repeat(60_000) });
    const a = await startResponsesReplica("a", ["m"], (end, message, id) => {
      const [first, , last] = responseEvents(id, String(message["model"]));
      end.say(JSON.stringify(first));
      let left = 1_000;
      const go = () => {
        while (left > 0) {
          left -= 1;
          if (!end.say(delta)) return void end.socket.once("drain", go);
        }
        end.say(JSON.stringify(last));
      };
      go();
    });
    const router = await startWebSocketRouter([a], { spec: ON });
    const client = await openWebSocket(router.port, RESPONSES);
    client.say(create("m"));
    await client.until(({ texts }) => texts.length > 0);
    client.socket.pause();
    let before = -1;
    while (before !== a.sessions[0]!.socket.bytesWritten) {
      before = a.sessions[0]!.socket.bytesWritten;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    assert.ok(router.router.gate.memory.unreadBytes < 2 * 1024 * 1024, "it waits in the router");
    client.socket.resume();
    await client.until(({ frames }) => frames.length === 1_002);
    assert.equal(JSON.parse(client.texts.at(-1)!).type, "response.completed");
    client.socket.destroy();
    await assertIdle(router);
  });

  it("that says nothing is told to leave after the idle time, and pings prolong it", async () => {
    const a = await startResponsesReplica("a", ["m"]);
    const router = await startWebSocketRouter([a], { spec: `  websockets: { paths: [${RESPONSES}], idleSeconds: 1 }\n` });
    const client = await openWebSocket(router.port, RESPONSES);
    const beganMs = performance.now();
    while (performance.now() - beganMs < 2_000) {
      client.say("", 9);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal(client.isClosed, false);
    await client.gone();
    assert.match(client.closing, /^1001 /);
  });
});

describe("a router that stops", () => {
  it("lets the response under way end, and says that it leaves", async () => {
    const goOn: (() => void)[] = [];
    const a = await startResponsesReplica("a", ["m"], (end, message, id) => goOn.push(() => answerWhole(end, message, id)));
    const router = await startWebSocketRouter([a], { spec: ON });
    const client = await openWebSocket(router.port, RESPONSES);
    const silent = await openWebSocket(router.port, RESPONSES);
    client.say(create("m"));
    await waitUntil(() => goOn.length === 1);
    const drained = router.server.drain(1_000);
    goOn[0]!();
    assert.equal((await answerFrom(client, 0)).length, 3);
    await Promise.all([client.gone(), silent.gone()]);
    for (const each of [client, silent]) assert.match(each.closing, /^1001 The router stops/);
    await drained;
    await assertIdle(router);
  });

  it("breaks a response off with an error", async () => {
    const a = await startResponsesReplica("a", ["m"], () => {});
    const router = await startWebSocketRouter([a], { spec: ON });
    const client = await openWebSocket(router.port, RESPONSES);
    client.say(create("m"));
    await waitUntil(() => a.sessions.length === 1 && a.sessions[0]!.texts.length === 1);
    await router.server.drain(100);
    await client.gone();
    assert.equal(JSON.parse(client.texts[0]!).error.code, "shutting_down");
    assert.match(client.closing, /^1001 /);
  });
});
