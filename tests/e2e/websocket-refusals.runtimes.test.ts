/** WebSockets that are not carried, and who says why. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { askFor, startTestAdmin } from "../support/admin.ts";
import { waitUntil } from "../support/router.ts";
import { assertIdle } from "../support/scripted-pool.ts";
import { jsonAnswer } from "../support/scripted-replica.ts";
import {
  BINARY,
  closeBytes,
  frameBytes,
  KEY,
  openWebSocket,
  PING,
  TEXT,
  type WebSocketEnd,
  webSocketScript,
} from "../support/websocket.ts";
import { logLine, REALTIME, RESPONSES, startWebSocketReplica, startWebSocketRouter, update } from "../support/websocket-pool.ts";

const QUERY = `${REALTIME}?model=m`;
const UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
const VERSION = "Sec-WebSocket-Version: 13\r\n";
const KEY_LINE = `Sec-WebSocket-Key: ${KEY}\r\n`;
const HANDSHAKE = UPGRADE + VERSION + KEY_LINE;

const replica = await startWebSocketReplica(["m"]);
const router = await startWebSocketRouter([replica], {
  spec: "  limits: { bodyBytes: 2048 }\n  websockets: { firstMessageSeconds: 0.3 }",
});

/** The code of the error that a client was told, as a message. */
function toldCode(client: WebSocketEnd): string {
  const error = client.texts.map((text) => JSON.parse(text)).find(({ type }) => type === "error");
  return error?.error.code ?? "";
}

describe("a handshake", () => {
  const rows: readonly (readonly [name: string, path: string, handshake: string, status: number, code: string])[] = [
    ["of another version", QUERY, `${UPGRADE}Sec-WebSocket-Version: 8\r\n${KEY_LINE}`, 426, "upgrade_required"],
    ["without a version", QUERY, UPGRADE + KEY_LINE, 426, "upgrade_required"],
    ["without a key", QUERY, UPGRADE + VERSION, 400, "bad_request"],
    ["with a short key", QUERY, `${UPGRADE + VERSION}Sec-WebSocket-Key: abc=\r\n`, 400, "bad_request"],
    ["without Connection: Upgrade", QUERY, `Upgrade: websocket\r\n${VERSION}${KEY_LINE}`, 400, "bad_request"],
    ["with a body", QUERY, `${HANDSHAKE}Content-Length: 2\r\n`, 400, "bad_request"],
    ["with a chunked body", QUERY, `${HANDSHAKE}Transfer-Encoding: chunked\r\n`, 400, "bad_request"],
    ["with an expectation", QUERY, `${HANDSHAKE}Expect: 100-continue\r\n`, 400, "bad_request"],
    ["with a coding", REALTIME, `${HANDSHAKE}Content-Encoding: gzip\r\n`, 400, "bad_request"],
    ["that names two models", `${QUERY}&model=x`, HANDSHAKE, 400, "bad_request"],
    ["for a model that nobody serves", `${REALTIME}?model=x`, HANDSHAKE, 404, "model_not_found"],
    ["at a path that is not listed", RESPONSES, HANDSHAKE, 426, "upgrade_required"],
    ["from a page of another origin", QUERY, `${HANDSHAKE}Origin: https://evil.example\r\n`, 403, "origin_not_allowed"],
    ["from a page without an origin", QUERY, `${HANDSHAKE}Origin: null\r\n`, 403, "origin_not_allowed"],
  ];
  for (const [name, path, handshake, status, code] of rows) {
    it(`${name} gets ${status}`, async () => {
      const before = [replica.requests.length, router.log.length];
      const client = await openWebSocket(router.port, path, { handshake });
      assert.equal(client.status, status);
      assert.match(client.head, new RegExp(`"code":"${code}"`));
      assert.equal(/\r\nsec-websocket-version: 13\r\n/i.test(client.head), name.endsWith("version"));
      assert.deepEqual([replica.requests.length, (await logLine(router, before[1]! + 1)).error], [before[0], code]);
      client.socket.destroy();
    });
  }

  it("is taken from pages of the router's own host and of listed origins", async () => {
    const other = await startWebSocketRouter([await startWebSocketReplica(["m"])], {
      cors: "{ origins: [ https://chat.example ] }",
    });
    for (const origin of ["http://router.test", "https://chat.example"]) {
      const client = await openWebSocket(other.port, QUERY, { lines: `Origin: ${origin}\r\n` });
      assert.equal(client.status, 101, origin);
      client.socket.destroy();
    }
    await assertIdle(other);
  });
});

/** The header of a frame of 2^40 bytes, whose first byte is that of an object. */
const VERY_LONG = Buffer.from("81ff00000100000000007b7b7b7b", "hex");

describe("a first message", () => {
  const big = JSON.stringify({ model: "m", text: "x".repeat(4_000) });
  const rows: readonly (readonly [name: string, sent: Buffer, closing: RegExp, code: string])[] = [
    ["for a model that nobody serves", frameBytes(TEXT, update("x"), true), /^1008 /, "model_not_found"],
    ["that names no model", frameBytes(TEXT, '{"type":"input_audio_buffer.append"}', true), /^1008 /, "missing_model"],
    ["that names two", frameBytes(TEXT, '{"model":"m","session":{"model":"m"}}', true), /^1008 /, "invalid_value"],
    ["that is no JSON", frameBytes(TEXT, "hello", true), /^1008 /, "invalid_json"],
    ["that is too long", frameBytes(TEXT, big, true), /^1009 /, "body_too_large"],
    ["that says it is very long", Buffer.concat([VERY_LONG, Buffer.alloc(4_000)]), /^1009 /, "body_too_large"],
    ["without a mask", frameBytes(TEXT, update("m"), false), /^1002 /, "bad_request"],
    ["with a reserved bit", frameBytes(0x40 | TEXT, update("m"), true), /^1002 /, "bad_request"],
    ["that goes on before it begins", frameBytes(0, update("m"), true), /^1002 /, "bad_request"],
    ["that is binary", frameBytes(BINARY, update("m"), true), /^1003 /, "bad_request"],
    ["behind too many pings", Buffer.concat(Array(65).fill(frameBytes(PING, "x", true))), /^1008 /, "bad_request"],
    ["behind a ping that is too long", frameBytes(PING, "x".repeat(126), true), /^1002 /, "bad_request"],
    ["that begins twice", Buffer.concat(Array(2).fill(frameBytes(TEXT, "{", true, false))), /^1002 /, "bad_request"],
    ["that does not come", Buffer.alloc(0), /^1008 /, "request_timeout"],
    ["that does not come whole", frameBytes(TEXT, update("m"), true).subarray(0, 9), /^1008 /, "request_timeout"],
  ];
  for (const [name, sent, closing, code] of rows) {
    it(`${name} is answered with an error and a Close`, async () => {
      const before = replica.requests.length;
      const client = await openWebSocket(router.port, REALTIME);
      assert.equal(client.status, 101);
      client.socket.write(sent);
      await client.gone();
      assert.match(client.closing, closing);
      if (code !== "") assert.equal(toldCode(client), code);
      assert.equal(replica.requests.length, before);
      await assertIdle(router);
    });
  }

  it("is not waited for after a Close", async () => {
    const count = router.log.length;
    const client = await openWebSocket(router.port, REALTIME, { ahead: closeBytes(1000, "", true) });
    await client.gone();
    assert.equal(client.closing.slice(0, 4), "1000");
    assert.equal((await logLine(router, count + 1)).ending, "client-left");
  });

  it("leaves nothing behind when the client goes before it", async () => {
    const count = router.log.length;
    const client = await openWebSocket(router.port, REALTIME);
    client.socket.destroy();
    assert.equal((await logLine(router, count + 1)).ending, "client-left");
  });
});

describe("a replica that refuses a WebSocket", () => {
  it("is passed on as it is, or told as a message where the client has its answer", async () => {
    const body = '{"error":{"message":"No realtime here.","code":"no_realtime"}}';
    const other = await startWebSocketReplica(["m"], (_request, socket) => void socket.write(jsonAnswer(body, "403 Forbidden")));
    const own = await startWebSocketRouter([other]);
    const plain = await openWebSocket(own.port, QUERY);
    assert.equal(plain.status, 403);
    assert.ok(plain.head.endsWith(body));
    const client = await openWebSocket(own.port, REALTIME);
    client.say(update("m"));
    await client.gone();
    assert.equal(client.closing, "1008 No realtime here.");
    assert.equal(toldCode(client), "no_realtime");
    assert.deepEqual(
      own.log.map(({ status, ending }) => [status, ending]),
      [
        [403, "complete"],
        [403, "complete"],
      ],
    );
  });

  const answers: readonly (readonly [name: string, answer: string])[] = [
    ["another key", `HTTP/1.1 101 Switching Protocols\r\n${UPGRADE}Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n`],
    ["another protocol", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"],
    ["no HTTP", "what?\r\n\r\n"],
  ];
  for (const [name, answer] of answers) {
    it(`is refused itself where it answers ${name}`, async () => {
      const other = await startWebSocketReplica(["m"], (_request, socket) => void socket.write(answer));
      const own = await startWebSocketRouter([other]);
      const client = await openWebSocket(own.port, QUERY);
      assert.equal(client.status, 502);
      assert.match(client.head, /upstream_invalid/);
      await assertIdle(own);
    });
  }

  for (const line of ["Sec-WebSocket-Extensions: permessage-deflate", "Sec-WebSocket-Protocol: other"]) {
    it(`is refused itself where it agrees to what the client was not told: ${line}`, async () => {
      const other = await startWebSocketReplica(["m"], undefined, `${line}\r\n`);
      const own = await startWebSocketRouter([other]);
      const client = await openWebSocket(own.port, REALTIME, { lines: "Sec-WebSocket-Protocol: realtime\r\n" });
      client.say(update("m"));
      await client.gone();
      assert.match(client.closing, /^1011 /);
      assert.equal((await logLine(own, 1)).error, "upstream_invalid");
    });
  }

  it("because it has too much to do is left for another one", async () => {
    const full = await startWebSocketReplica(
      ["m"],
      (_request, socket) => void socket.write(jsonAnswer("{}", "503 Service Unavailable")),
    );
    const free = await startWebSocketReplica(["m"]);
    const own = await startWebSocketRouter([full, free]);
    for (let number = 1; number <= 4; number++) {
      const client = await openWebSocket(own.port, REALTIME);
      client.say(update("m"));
      const session = await free.session(number);
      await session.until(({ texts }) => texts.length === 1);
      assert.deepEqual(session.texts, [update("m")]);
      client.socket.destroy();
    }
    await waitUntil(() => own.log.length === 4);
  });
});

describe("limits", () => {
  it("of all WebSockets, which metrics count", async () => {
    const own = await startWebSocketRouter([await startWebSocketReplica(["m"])], { spec: "  websockets: { max: 1 }" });
    const admin = await startTestAdmin(own.router);
    const metrics = async () => (await askFor(admin.port, "/metrics")).body;
    const client = await openWebSocket(own.port, QUERY);
    assert.equal(client.status, 101);
    assert.match(await metrics(), /^signalbox_websocket_connections 1$/m);
    const second = await openWebSocket(own.port, QUERY);
    assert.equal(second.status, 503);
    assert.match(second.head, /\r\nretry-after: 5\r\n/i);
    client.socket.destroy();
    await waitUntil(() => own.log.length === 2);
    assert.match(await metrics(), /^signalbox_websocket_connections 0$/m);
    assert.match(await metrics(), /^signalbox_websocket_sessions_total 1$/m);
    const third = await openWebSocket(own.port, QUERY);
    assert.equal(third.status, 101);
    third.socket.destroy();
    await admin.close();
  });

  it("of keys hold as for requests", async () => {
    const digest = createHash("sha256").update("sk-one").digest("hex");
    const keys = `[ { name: one, sha256: ${digest}, models: [ m ], limits: { concurrency: 1 } } ]`;
    const own = await startWebSocketRouter([await startWebSocketReplica(["m"])], {
      spec: `  websockets: {}\n  auth: { keys: ${keys} }`,
    });
    for (const path of [QUERY, REALTIME]) assert.equal((await openWebSocket(own.port, path)).status, 401, path);
    const lines = "Authorization: Bearer sk-one\r\n";
    assert.equal((await openWebSocket(own.port, `${REALTIME}?model=x`, { lines })).status, 403);
    const first = await openWebSocket(own.port, QUERY, { lines });
    assert.equal(first.status, 101);
    for (const path of [QUERY, REALTIME]) assert.equal((await openWebSocket(own.port, path, { lines })).status, 429, path);
    first.socket.destroy();
    await assertIdle(own);
    const third = await openWebSocket(own.port, QUERY, { lines });
    assert.equal(third.status, 101);
    third.socket.destroy();
  });
});

describe("a router without the section", () => {
  it("answers 426 at once, and so does one that has it elsewhere", async () => {
    const own = await startWebSocketRouter([await startWebSocketReplica(["m"])], { spec: "" });
    for (const path of [QUERY, RESPONSES]) assert.equal((await openWebSocket(own.port, path)).status, 426);
  });

  it("is not fooled by a replica that switches unasked", async () => {
    const other = await startWebSocketReplica(
      ["m"],
      webSocketScript(() => {}),
    );
    const own = await startWebSocketRouter([other], { spec: "" });
    const answer = await fetch(`${own.url}/v1/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"model":"m","prompt":"x"}',
    });
    assert.equal(answer.status, 502);
    await answer.arrayBuffer();
  });
});
