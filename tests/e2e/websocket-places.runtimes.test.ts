/** What is judged on a WebSocket beside the model of a message: ids, sessions' models, keys in subprotocols; and what keeps it alive. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { exchange, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { assertIdle, chatPost } from "../support/scripted-pool.ts";
import { jsonAnswer } from "../support/scripted-replica.ts";
import { openWebSocket, PING, PONG } from "../support/websocket.ts";
import {
  askOn,
  create,
  logLine,
  REALTIME,
  RESPONSES,
  responseEvents,
  startResponsesReplica,
  startWebSocketReplica,
  startWebSocketRouter,
  update,
} from "../support/websocket-pool.ts";

const ON = `  websockets: { paths: [${REALTIME}, ${RESPONSES}] }\n`;
const sha256 = (key: string) => createHash("sha256").update(key).digest("hex");
const keyed = (name: string, rest = "") => `{ name: ${name}, sha256: ${sha256(`sk-${name}`)}, tenant: ${name}${rest} }`;
const as = (name: string) => ({ lines: `Authorization: Bearer sk-${name}\r\n` });
const alias = `---
apiVersion: inference.networking.x-k8s.io/v1alpha2
kind: InferenceModelRewrite
metadata: { name: alias }
spec:
  poolRef: { name: default }
  rules: [ { matches: [{ model: { value: voice } }], targets: [{ modelRewrite: m-1 }] } ]
`;

describe("a response that a message continues", () => {
  for (const store of [true, false]) {
    it(`is one of its own tenant, at the replica that keeps it, with store: ${store}`, async () => {
      const replicas = await Promise.all(["a", "b", "c"].map((name) => startResponsesReplica(name, ["m"])));
      const router = await startWebSocketRouter(replicas, {
        spec: `${ON}  auth: { keys: [${keyed("one")}, ${keyed("two")}] }\n`,
      });
      const owner = await openWebSocket(router.port, RESPONSES, as("one"));
      const again = await openWebSocket(router.port, RESPONSES, as("one"));
      const other = await openWebSocket(router.port, RESPONSES, as("two"));
      const received = () => replicas.map(({ sessions }) => sessions.flatMap(({ texts }) => texts).length);
      let id = "";
      for (let turn = 0; turn < 6; turn++) {
        id = (await askOn(owner, create("m", { store }))).at(-1)!.response.id as string;
        const before = received();
        for (const client of [owner, again])
          assert.equal((await askOn(client, create("m", { store, previous_response_id: id }))).length, 3);
        const at = replicas.findIndex(({ sessions }) => sessions.some(({ texts }) => texts.some((text) => text.includes(id))));
        assert.deepEqual(
          received().map((count, index) => count - before[index]!),
          replicas.map((_, index) => (index === at ? 2 : 0)),
        );
        const then = received();
        for (let message = 0; message < 2; message++) {
          const [error] = await askOn(other, create("m", { previous_response_id: id }));
          assert.deepEqual([error!.status, error!.error.code], [404, "previous_response_not_found"]);
          assert.deepEqual(received(), then);
          assert.equal((await askOn(other, create("m"))).length, 3);
          then.splice(0, 3, ...received());
        }
      }
      const overHttp = await fetch(`${router.url}${RESPONSES}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer sk-two" },
        body: JSON.stringify({ model: "m", input: "x", previous_response_id: id }),
      });
      assert.equal(overHttp.status, 404);
      for (const client of [owner, again, other]) client.socket.destroy();
      await assertIdle(router);
    });
  }
});

describe("a conversation that the router holds", () => {
  it("goes on by a message, at any replica", async () => {
    const replicas = await Promise.all(["a", "b"].map((name) => startResponsesReplica(name, ["m"])));
    const router = await startWebSocketRouter(replicas, { spec: `${ON}  conversations: {}\n` });
    const client = await openWebSocket(router.port, RESPONSES);
    const first = (await askOn(client, create("m", { input: "one" }))).at(-1)!;
    await askOn(client, create("m", { input: "two", previous_response_id: first.response.id }));
    const received = replicas.flatMap(({ sessions }) => sessions.flatMap(({ texts }) => texts.map((text) => JSON.parse(text))));
    const user = (text: string) => ({ type: "message", role: "user", content: text });
    assert.deepEqual(
      received.find(({ input }) => Array.isArray(input)),
      { type: "response.create", model: "m", input: [user("one"), { type: "message" }, user("two")] },
    );
    client.socket.destroy();
    await assertIdle(router);
  });
});

describe("a session's message that names a model", () => {
  it("is rewritten, refused, or passed on by the same rules as its first one", async () => {
    const a = await startWebSocketReplica(["m-1", "n"]);
    const b = await startWebSocketReplica(["far"]);
    const auth = `  auth: { keys: [${keyed("one", ", models: [voice, n, far, nowhere]")}] }\n`;
    const router = await startWebSocketRouter([a, b], { spec: ON + auth, documents: alias });
    for (const [number, path] of [REALTIME, `${REALTIME}?model=voice`].entries()) {
      const client = await openWebSocket(router.port, path, as("one"));
      if (number === 0) client.say(update("voice"));
      const session = await a.session(number + 1);
      const received = async (said: string | object, got: object | string | undefined) => {
        const before = session.texts.length;
        client.say(typeof said === "string" ? said : JSON.stringify(said));
        client.say("behind it");
        await session.until(({ texts }) => texts.at(-1) === "behind it" && texts.length > before);
        const passed = session.texts.slice(before, -1);
        assert.deepEqual(
          passed.map((text) => (text.trim().startsWith("{") ? JSON.parse(text) : text)),
          got === undefined ? [] : [got],
        );
      };
      if (number === 0) await session.until(({ texts }) => texts.length === 1);
      await received(
        { type: "session.update", session: { model: "voice" } },
        { type: "session.update", session: { model: "m-1" } },
      );
      await received(
        { type: "input_audio_buffer.append", audio: "x".repeat(70_000) },
        { type: "input_audio_buffer.append", audio: "x".repeat(70_000) },
      );
      await received(' {"type":"response.create","response":{"model":"n"}}', {
        type: "response.create",
        response: { model: "n" },
      });
      const errors = () =>
        client.texts.map((text) => JSON.parse(text)).flatMap(({ type, error }) => (type === "error" ? [error.code] : []));
      for (const [model, code] of [
        ["m-1", "model_not_allowed"],
        ["far", "session_elsewhere"],
        ["nowhere", "model_not_found"],
      ] as const) {
        const count = errors().length;
        await received({ type: "session.update", session: { model } }, undefined);
        await client.until(() => errors().length > count);
        assert.equal(errors().at(-1), code);
      }
      await received('{"model":"voice","session":{"model":"n"}}', undefined);
      await received('{"model":"n"', undefined);
      await client.until(() => errors().length === 5);
      assert.deepEqual(errors().slice(3), ["invalid_value", "invalid_json"]);
      assert.equal(b.sessions.length, 0);
      client.socket.destroy();
      await session.gone();
    }
    assert.deepEqual(
      router.log.map(({ status }) => status).filter((status) => status !== 101),
      [...Array(2)].flatMap(() => [204, 403, 409, 404]),
    );
    await assertIdle(router);
  });

  it("ends the session where it is too long to be judged", async () => {
    const a = await startWebSocketReplica(["m"]);
    const router = await startWebSocketRouter([a], { spec: `${ON}  limits: { bodyBytes: 2048 }\n` });
    const client = await openWebSocket(router.port, `${REALTIME}?model=m`);
    const session = await a.session(1);
    client.say(`{"pad":"${"x".repeat(3_000)}"}`);
    await client.gone();
    assert.match(client.closing, /^1009 /);
    await session.gone();
    assert.deepEqual(session.texts, []);
    await assertIdle(router);
  });
});

describe("a key in a subprotocol", () => {
  it("lets its client in, and is neither agreed to nor sent on", async () => {
    const a = await startResponsesReplica("a", ["m"]);
    const router = await startWebSocketRouter([a], { spec: `${ON}  auth: { keys: [${keyed("one")}, ${keyed("two")}] }\n` });
    const protocols = (names: string) => ({ lines: `Sec-WebSocket-Protocol: ${names}\r\n` });
    const key = "openai-insecure-api-key.sk-one";
    const clients = [
      await openWebSocket(router.port, RESPONSES, protocols(`realtime, ${key}, openai-beta.realtime-v1`)),
      await openWebSocket(router.port, `${REALTIME}?model=m`, protocols(`${key},realtime`)),
      await openWebSocket(router.port, REALTIME, protocols(`${key}, realtime`)),
      await openWebSocket(router.port, RESPONSES, protocols(key)),
    ];
    assert.deepEqual(
      clients.map(({ status }) => status),
      [101, 101, 101, 101],
    );
    for (const { head } of clients) assert.doesNotMatch(head, /insecure/);
    for (const at of [0, 2]) assert.match(clients[at]!.head, /\r\nsec-websocket-protocol: realtime(\r\n|$)/i);
    for (const at of [0, 3]) assert.equal((await askOn(clients[at]!, create("m"))).length, 3);
    clients[2]!.say(update("m"));
    await a.session(4);
    const heads = a.sessions.map(({ head }) => head);
    for (const head of heads) assert.doesNotMatch(head, /insecure|sk-one/);
    assert.equal(heads.filter((head) => /\r\nSec-WebSocket-Protocol: realtime\r\n/.test(head)).length, 3);
    assert.equal((await logLine(router, 1)).status, 101);
    const refused = [
      "openai-insecure-api-key.sk-none",
      "openai-insecure-api-key.",
      `${key}, openai-insecure-api-key.sk-two`,
      "realtime",
    ];
    for (const names of refused) assert.equal((await openWebSocket(router.port, RESPONSES, protocols(names))).status, 401, names);
    for (const client of clients) client.socket.destroy();
    await assertIdle(router);
  });

  it("is none of a request over HTTP, which does not pass it on either", async () => {
    const answer = jsonAnswer('{"choices":[{"message":{"content":"Hi"}}]}');
    const a = await startWebSocketReplica(["m"], (_request, socket) => void socket.write(answer));
    const router = await startWebSocketRouter([a], { spec: `${ON}  auth: { keys: [${keyed("one")}] }\n` });
    const lines = "Sec-WebSocket-Protocol: openai-insecure-api-key.sk-one\r\n";
    assert.equal(readAnswer(await exchange(router.port, chatPost("", lines))).status, 401);
    const served = await exchange(router.port, chatPost("", `${lines}Authorization: Bearer sk-one\r\n`));
    assert.equal(readAnswer(served).status, 200);
    assert.doesNotMatch(a.requests[0]!.head, /insecure/);
  });
});

describe("spec.keepAlive", () => {
  it("sends pings to both ends of a silent WebSocket, and what answers them is no sign of life", async () => {
    const goOn: (() => void)[] = [];
    const a = await startResponsesReplica("a", ["m"], (end, message, id) => {
      const [first, , last] = responseEvents(id, String(message["model"]));
      end.say(JSON.stringify(first));
      goOn.push(() => void end.say(JSON.stringify(last)));
    });
    const spec = `  websockets: { paths: [${REALTIME}, ${RESPONSES}], idleSeconds: 3 }\n  keepAlive: { periodSeconds: 0.4, paths: [${RESPONSES}] }\n`;
    const router = await startWebSocketRouter([a], { spec });
    const clients = [await openWebSocket(router.port, `${REALTIME}?model=m`), await openWebSocket(router.port, RESPONSES)];
    clients[1]!.say(create("m"));
    await waitUntil(() => goOn.length === 1);
    const ends = [...clients, ...a.sessions];
    const pings = () => ends.map(({ frames }) => frames.filter(({ opcode }) => opcode === PING).length);
    const answered = ends.map(() => 0);
    const answer = setInterval(() => {
      for (const [index, count] of pings().entries()) {
        for (; answered[index]! < count; answered[index]! += 1) ends[index]!.say("", PONG);
      }
    }, 20);
    await Promise.all(ends.map((end) => end.until(({ frames }) => frames.filter(({ opcode }) => opcode === PING).length >= 2)));
    goOn[0]!();
    await clients[1]!.until(({ texts }) => texts.length === 2);
    const before = pings();
    await Promise.all(clients.map((client) => client.gone()));
    clearInterval(answer);
    for (const client of clients) assert.match(client.closing, /^1001 Nothing has passed/);
    for (const between of [1, 3]) assert.ok(pings()[between]! > before[between]!, "none between two messages");
    await assertIdle(router);
  });
});
