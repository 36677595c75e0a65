/** A WebSocket of the Responses API: each of its messages is a request, wherever it has to go. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { loadTestConfig, waitUntil } from "../support/router.ts";
import { assertIdle } from "../support/scripted-pool.ts";
import { frameBytes, openWebSocket, PING, PONG, TEXT, type WebSocketEnd } from "../support/websocket.ts";
import {
  answerFrom,
  answerWhole,
  askOn,
  create,
  RESPONSES,
  responseEvents,
  startResponsesReplica,
  startWebSocketRouter,
} from "../support/websocket-pool.ts";

const ON = `  websockets: { paths: [${RESPONSES}] }\n`;
const sha256 = (key: string) => createHash("sha256").update(key).digest("hex");
const keyed = (name: string, rest: string) => `{ name: ${name}, sha256: ${sha256(`sk-${name}`)}, tenant: ${name}, ${rest} }`;
const as = (name: string) => ({ lines: `Authorization: Bearer sk-${name}\r\n` });
const rewrite = (from: string, to: string) => `---
apiVersion: inference.networking.x-k8s.io/v1alpha2
kind: InferenceModelRewrite
metadata: { name: alias }
spec:
  poolRef: { name: default }
  rules: [ { matches: [{ model: { value: ${from} } }], targets: [{ modelRewrite: ${to} }] } ]
`;
const types = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);
const models = ({ texts }: WebSocketEnd) => texts.map((text) => (JSON.parse(text) as { model: string }).model);

describe("messages of one WebSocket", () => {
  it("go each to a replica that serves its model, under the name of its target", async () => {
    const a = await startResponsesReplica("a", ["cheap"]);
    const b = await startResponsesReplica("b", ["big-2"]);
    const router = await startWebSocketRouter([a, b], { spec: ON, documents: rewrite("dear", "big-2") });
    const client = await openWebSocket(router.port, RESPONSES);
    assert.equal(client.status, 101);
    for (const model of ["cheap", "dear", "cheap", "dear", "dear"]) {
      const events = await askOn(client, create(model, { metadata: { type: "response.completed" } }));
      assert.deepEqual(types(events), ["response.created", "response.output_text.delta", "response.completed"]);
    }
    assert.deepEqual([a.sessions.map(models), b.sessions.map(models)], [[["cheap", "cheap"]], [["big-2", "big-2", "big-2"]]]);
    assert.deepEqual(
      JSON.parse(b.sessions[0]!.texts[0]!),
      JSON.parse(create("big-2", { metadata: { type: "response.completed" } })),
    );
    assert.ok(b.sessions[0]!.frames.every(({ isMasked }) => isMasked));
    assert.match(b.sessions[0]!.head, /^GET \/v1\/responses HTTP\/1\.1\r\n/);
    await waitUntil(() => router.log.length === 6);
    assert.deepEqual(
      router.log.map(({ status, model, target }) => [status, model, target]),
      [
        [101, "", ""],
        [200, "cheap", "cheap"],
        [200, "dear", "big-2"],
        [200, "cheap", "cheap"],
        [200, "dear", "big-2"],
        [200, "dear", "big-2"],
      ],
    );
    assert.equal(new Set(router.log.map(({ id }) => id)).size, 6);
    client.close();
    await client.gone();
    assert.match(client.closing, /^1000/);
    await Promise.all([a.sessions[0]!.gone(), b.sessions[0]!.gone()]);
    await assertIdle(router);
  });

  it("are one after the other, however they were sent: at once, byte by byte, in fragments", async () => {
    const held: (() => void)[] = [];
    const a = await startResponsesReplica("a", ["m"], (end, message, id) => held.push(() => answerWhole(end, message, id)));
    const router = await startWebSocketRouter([a], { spec: ON });
    const text = create("m", { n: 3 });
    const bytes = Buffer.concat([
      frameBytes(TEXT, create("m", { n: 1, pad: "x".repeat(100_000) }), true),
      frameBytes(TEXT, create("m", { n: 2 }), true),
      frameBytes(TEXT, text.slice(0, 9), true, false),
      frameBytes(PING, "there?", true),
      frameBytes(0, "", true, false),
      frameBytes(0, text.slice(9), true),
    ]);
    const client = await openWebSocket(router.port, RESPONSES, { ahead: bytes.subarray(0, 50) });
    client.socket.write(bytes.subarray(50, 100_200));
    for (const byte of bytes.subarray(100_200)) client.socket.write(Buffer.of(byte));
    for (let turn = 1; turn <= 3; turn++) {
      await waitUntil(() => held.length === turn);
      assert.equal(a.sessions[0]!.texts.length, turn, "it does not wait");
      const before = client.texts.length;
      held[turn - 1]!();
      assert.equal((await answerFrom(client, before)).length, 3);
    }
    assert.deepEqual(
      a.sessions[0]!.texts.map((each) => (JSON.parse(each) as { n: number }).n),
      [1, 2, 3],
    );
    assert.ok(client.frames.some(({ opcode, payload }) => opcode === PONG && payload.toString() === "there?"));
    client.socket.destroy();
    await assertIdle(router);
  });

  it("may end with response.done, also behind another end", async () => {
    const a = await startResponsesReplica("a", ["m"], (end, message, id) => {
      const events = responseEvents(id, String(message["model"]));
      const done = { type: "response.done", response: { ...events[2]!.response } };
      for (const event of message["twice"] === true ? [...events, done] : [events[0], events[1], done])
        end.say(JSON.stringify(event));
    });
    const router = await startWebSocketRouter([a], { spec: ON });
    const client = await openWebSocket(router.port, RESPONSES);
    assert.deepEqual(types(await askOn(client, create("m"))).slice(-1), ["response.done"]);
    assert.deepEqual(types(await askOn(client, create("m", { twice: true }))).slice(-1), ["response.completed"]);
    await client.until(({ texts }) => texts.length === 7);
    const last = await askOn(client, create("m"));
    assert.deepEqual(types(last), ["response.created", "response.output_text.delta", "response.done"]);
    client.socket.destroy();
  });

  it("have every byte of what answers them, in pieces and with long events", async () => {
    const long = 'ü\\"type\\":\\"response.completed\\"'.repeat(30_000);
    const event = `{ "n":1,\n "type" : "response.output_text.delta","delta":"${long}" }`;
    const a = await startResponsesReplica("a", ["m"], (end, message, id) => {
      const [first, , last] = responseEvents(id, String(message["model"]));
      const bytes = Buffer.concat([
        frameBytes(TEXT, JSON.stringify(first), false),
        frameBytes(TEXT, event.slice(0, 70_000), false, false),
        frameBytes(PING, "", false),
        frameBytes(0, event.slice(70_000), false),
        frameBytes(TEXT, JSON.stringify(last), false),
      ]);
      for (let at = 0; at < bytes.length; at += 10_007) end.socket.write(bytes.subarray(at, at + 10_007));
    });
    const router = await startWebSocketRouter([a], { spec: ON });
    const client = await openWebSocket(router.port, RESPONSES);
    client.say(create("m"));
    await client.until(({ texts }) => texts.some((text) => text.includes('"type":"response.completed"')));
    const parts = client.frames.slice(1, -1);
    assert.deepEqual(JSON.parse(Buffer.concat(parts.map(({ payload }) => payload)).toString()), JSON.parse(event));
    assert.deepEqual(
      parts.map(({ isFinal, opcode }) => [isFinal, opcode]),
      parts.map((_, index) => [index === parts.length - 1, index === 0 ? TEXT : 0]),
    );
    await waitUntil(() => a.sessions[0]!.frames.some(({ opcode }) => opcode === PONG));
    client.socket.destroy();
  });
});

describe("a key on a WebSocket", () => {
  it("may use its models only, in each message, and its limits count what was used", async () => {
    const a = await startResponsesReplica("a", ["cheap", "dear"], (end, message, id) => {
      const usage = { input_tokens: 5_000, output_tokens: 1_000, total_tokens: 6_000 };
      for (const event of responseEvents(id, String(message["model"]), usage)) end.say(JSON.stringify(event));
    });
    const auth = `  auth: { keys: [${keyed("one", "models: [cheap], limits: { tokensPerMinute: 10000, requestsPerMinute: 4 }")}] }\n`;
    const router = await startWebSocketRouter([a], { spec: ON + auth });
    assert.equal((await openWebSocket(router.port, RESPONSES)).status, 401);
    const client = await openWebSocket(router.port, RESPONSES, as("one"));
    const code = async (model: string) => {
      const last = (await askOn(client, create(model, { max_output_tokens: 10 }))).at(-1)!;
      return last.type === "error" ? [last.status, last.error.code] : last.type;
    };
    assert.equal(await code("cheap"), "response.completed");
    assert.deepEqual(await code("dear"), [403, "model_not_allowed"]);
    assert.equal(await code("cheap"), "response.completed");
    assert.deepEqual(await code("cheap"), [429, "rate_limit_exceeded"]);
    assert.equal(client.isClosed, false);
    assert.deepEqual(models(a.sessions[0]!), ["cheap", "cheap"]);
    assert.equal(router.log.filter(({ status }) => status === 403).length, 1);
    client.socket.destroy();
    await assertIdle(router);
  });

  it("is one of as many requests at a time as it may have, and the WebSocket itself none", async () => {
    const a = await startResponsesReplica("a", ["m"]);
    const auth = `  auth: { keys: [${keyed("one", "limits: { concurrency: 1, requestsPerMinute: 3 }")}] }\n`;
    const router = await startWebSocketRouter([a], { spec: ON + auth });
    const clients = [
      await openWebSocket(router.port, RESPONSES, as("one")),
      await openWebSocket(router.port, RESPONSES, as("one")),
    ];
    for (const client of [...clients, clients[0]!]) assert.equal((await askOn(client, create("m"))).length, 3);
    assert.equal((await askOn(clients[1]!, create("m"))).at(-1)!.status, 429);
    for (const client of clients) client.socket.destroy();
  });

  it("is none any more once the config says so, and the next message ends the WebSocket", async () => {
    const a = await startResponsesReplica("a", ["m", "n"]);
    const spec = (keys: string) => `${ON}  auth: { keys: [${keys}] }\n`;
    const [one, two] = [keyed("one", "models: [m]"), keyed("two", "models: [m]")];
    const router = await startWebSocketRouter([a], { spec: spec(`${one}, ${two}`) });
    const client = await openWebSocket(router.port, RESPONSES, as("one"));
    const other = await openWebSocket(router.port, RESPONSES, as("two"));
    for (const each of [client, other]) assert.equal((await askOn(each, create("m"))).length, 3);
    router.router.replace(await loadTestConfig([a.url], { spec: spec(keyed("two", "models: [n]")) }));
    assert.equal((await askOn(client, create("m")))[0]!.error.code, "invalid_api_key");
    await client.gone();
    assert.match(client.closing, /^1008 /);
    assert.equal((await askOn(other, create("m")))[0]!.error.code, "model_not_allowed");
    assert.equal((await askOn(other, create("n"))).length, 3);
    await waitUntil(() => router.router.olderConfigs === 0);
    other.socket.destroy();
  });
});
