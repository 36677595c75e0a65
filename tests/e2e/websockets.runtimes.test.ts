/** WebSockets that are carried: where they go, and that nothing is changed on the way. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { assertIdle } from "../support/scripted-pool.ts";
import { ACCEPT, BINARY, frameBytes, openWebSocket, PING, PONG, TEXT } from "../support/websocket.ts";
import { logLine, REALTIME, RESPONSES, startWebSocketReplica, startWebSocketRouter, update } from "../support/websocket-pool.ts";

const REWRITE = `---
apiVersion: inference.networking.x-k8s.io/v1alpha2
kind: InferenceModelRewrite
metadata: { name: alias }
spec:
  poolRef: { name: default }
  rules:
    - { matches: [{ model: { value: "my voice" } }], targets: [{ modelRewrite: "b/2" }] }
`;
const LONG = randomBytes(1024 * 1024);

const a = await startWebSocketReplica(["a"], undefined, "Sec-WebSocket-Protocol: realtime\r\nX-From: a\r\n");
const b = await startWebSocketReplica(["b/2"]);
const router = await startWebSocketRouter([a, b], {
  spec: `  websockets: { paths: [${REALTIME}, ${RESPONSES}] }`,
  documents: REWRITE,
});

describe("a WebSocket whose query names the model", () => {
  it("goes where the model is served, and both ends agree on it themselves", async () => {
    const lines = "Sec-WebSocket-Protocol: realtime, other\r\nSec-WebSocket-Extensions: permessage-deflate\r\nX-Own: 1\r\n";
    const client = await openWebSocket(router.port, `${REALTIME}?model=a&x=1`, { lines });
    assert.equal(client.status, 101);
    assert.match(client.head, new RegExp(`\r\nsec-websocket-accept: ${ACCEPT.replaceAll("+", "\\+")}\r\n`, "i"));
    assert.match(client.head, /\r\nupgrade: websocket\r\nconnection: upgrade$/i);
    assert.match(client.head, /\r\nx-from: a\r\n/i);
    assert.match(client.head, /\r\nsec-websocket-protocol: realtime\r\n/i);
    assert.match(client.head, /\r\nx-request-id: /i);
    const session = await a.session(1);
    assert.match(session.head, /^GET \/v1\/realtime\?model=a&x=1 HTTP\/1\.1\r\n/);
    assert.match(session.head, /\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n/);
    assert.match(session.head, /\r\nSec-WebSocket-Protocol: realtime, other\r\n/);
    // What is compressed can't be judged.
    assert.doesNotMatch(session.head, /sec-websocket-extensions/i);
    assert.match(session.head, /\r\nX-Own: 1\r\n/);
    assert.doesNotMatch(session.head, /content-length|keep-alive/i);
    client.say("hello");
    session.say("hi");
    await session.until(({ texts }) => texts.length === 1);
    await client.until(({ texts }) => texts.length === 1);
    assert.deepEqual([session.texts, client.texts], [["hello"], ["hi"]]);
    client.close(1000, "bye");
    await session.until(({ closing }) => closing !== "");
    assert.equal(session.closing, "1000 bye");
    session.close(1000, "bye too");
    await client.gone();
    await session.gone();
    assert.equal(client.closing, "1000 bye too");
    await assertIdle(router);
    const line = await logLine(router, 1);
    assert.deepEqual([line.status, line.ending, line.model, line.error], [101, "complete", "a", ""]);
    assert.deepEqual(
      line.attempts.map(({ result }) => result),
      [101],
    );
  });

  it("has the target of a rewrite there", async () => {
    const client = await openWebSocket(router.port, `${REALTIME}?x=%20&model=my+voice`);
    const session = await b.session(1);
    assert.match(session.head, /^GET \/v1\/realtime\?x=%20&model=b%2F2 HTTP\/1\.1\r\n/);
    client.socket.destroy();
    await session.gone();
    const line = await logLine(router, 2);
    assert.deepEqual([line.ending, line.model, line.target], ["client-left", "my voice", "b/2"]);
  });

  it("has what the client sends before the answer", async () => {
    const ahead = Buffer.concat([frameBytes(TEXT, "one", true), frameBytes(TEXT, "two", true)]);
    const client = await openWebSocket(router.port, `${REALTIME}?model=a`, { ahead });
    const session = await a.session(2);
    await session.until(({ texts }) => texts.length === 2);
    assert.deepEqual(session.texts, ["one", "two"]);
    client.socket.destroy();
  });
});

describe("a WebSocket whose first message names the model", () => {
  const messages: readonly (readonly [name: string, sent: object, got: object])[] = [
    ["itself", { type: "session.update", model: "b/2" }, { type: "session.update", model: "b/2" }],
    ["in its session", { session: { voice: "x", model: "my voice" } }, { session: { voice: "x", model: "b/2" } }],
    ["in its response", { response: { model: "my voice", n: [] } }, { response: { model: "b/2", n: [] } }],
  ];
  for (const [name, sent, got] of messages) {
    it(`goes by what the message names ${name}`, async () => {
      const before = b.sessions.length;
      const client = await openWebSocket(router.port, REALTIME);
      assert.equal(client.status, 101);
      client.say(JSON.stringify(sent));
      const session = await b.session(before + 1);
      await session.until(({ texts }) => texts.length === 1);
      assert.deepEqual(JSON.parse(session.texts[0]!), got);
      assert.equal(session.frames[0]!.isMasked, true);
      client.socket.destroy();
      await session.gone();
    });
  }

  it("is told that there is a session where clients wait for it, and not elsewhere", async () => {
    const client = await openWebSocket(router.port, REALTIME);
    await client.until(({ texts }) => texts.length === 1);
    const created = JSON.parse(client.texts[0]!);
    assert.equal(created.type, "session.created");
    assert.match(created.id, /^sess-/);
    client.socket.destroy();
    const other = await openWebSocket(router.port, RESPONSES, { lines: "Sec-WebSocket-Protocol: realtime\r\n" });
    other.say(JSON.stringify({ type: "response.create", model: "a", input: "Hi" }));
    const session = await a.session(3);
    await session.until(({ texts }) => texts.length === 1);
    session.say("first");
    await other.until(({ texts }) => texts.length === 1);
    assert.deepEqual(other.texts, ["first"]);
    other.socket.destroy();
  });

  it("may come in fragments with pings between them, and more behind it", async () => {
    const lines = "Sec-WebSocket-Protocol: realtime\r\nSec-WebSocket-Extensions: permessage-deflate\r\n";
    const client = await openWebSocket(router.port, REALTIME, { lines });
    assert.match(client.head, /\r\nsec-websocket-protocol: realtime\r\n/i);
    assert.doesNotMatch(client.head, /sec-websocket-extensions/i);
    const text = update("a");
    const whole = Buffer.concat([
      frameBytes(TEXT, text.slice(0, 5), true, false),
      frameBytes(PING, "are you there", true),
      frameBytes(0, text.slice(5, 9), true, false),
      frameBytes(0, "", true, false),
      frameBytes(0, text.slice(9), true),
      frameBytes(BINARY, Buffer.of(1, 2, 3), true),
      frameBytes(TEXT, "half", true, false),
    ]);
    for (const byte of whole) client.socket.write(Buffer.of(byte));
    const session = await a.session(4);
    await session.until(({ frames }) => frames.length === 3);
    assert.deepEqual(
      session.frames.map(({ opcode, isFinal, payload }) => [opcode, isFinal, payload.toString("latin1")]),
      [
        [TEXT, true, text],
        [BINARY, true, "\x01\x02\x03"],
        [TEXT, false, "half"],
      ],
    );
    assert.match(session.head, /\r\nSec-WebSocket-Protocol: realtime\r\n/);
    assert.doesNotMatch(session.head, /sec-websocket-extensions/i);
    await client.until(({ frames }) => frames.length > 1);
    assert.deepEqual([client.frames[1]!.opcode, client.frames[1]!.payload.toString()], [PONG, "are you there"]);
    client.socket.destroy();
  });
});

describe("what passes through a WebSocket", () => {
  it("comes as it was sent, in both directions at once", async () => {
    const before = b.sessions.length;
    const client = await openWebSocket(router.port, `${REALTIME}?model=b%2F2`);
    const session = await b.session(before + 1);
    for (const end of [client, session]) {
      end.say(LONG);
      end.say("part", TEXT, false);
      end.say("", PING);
      end.say("ial", 0);
      end.say(LONG.subarray(0, 70_000));
      end.say("", TEXT);
    }
    for (const end of [client, session]) {
      await end.until(({ frames }) => frames.length === 6);
      const [long, ...rest] = end.frames;
      assert.ok(long!.payload.equals(LONG));
      assert.ok(rest[3]!.payload.equals(LONG.subarray(0, 70_000)));
      assert.deepEqual(
        end.frames.map(({ opcode, isFinal, payload }) => [opcode, isFinal, payload.length]),
        [
          [BINARY, true, LONG.length],
          [TEXT, false, 4],
          [PING, true, 0],
          [0, true, 3],
          [BINARY, true, 70_000],
          [TEXT, true, 0],
        ],
      );
    }
    session.close(4001, "mine");
    await client.until(({ closing }) => closing !== "");
    assert.equal(client.closing, "4001 mine");
    client.close(4001, "mine");
    await session.gone();
    assert.equal(session.closing, "4001 mine");
    await client.gone();
    await assertIdle(router);
  });
});
