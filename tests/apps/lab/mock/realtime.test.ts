import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type MockReplica, startMockReplica } from "../../../../apps/lab/mock/replica.ts";
import { startTestRouter, type TestRouter } from "../../../support/router.ts";
import { openWebSocket, PING, PONG, type WebSocketEnd } from "../../../support/websocket.ts";

const PATH = "/v1/realtime";
const item = (text: string) =>
  JSON.stringify({
    type: "conversation.item.create",
    item: { type: "message", role: "user", content: [{ type: "input_text", text }] },
  });
const RESPOND = JSON.stringify({ type: "response.create" });

const eventsOf = ({ texts }: WebSocketEnd) => texts.map((text) => JSON.parse(text));
const has =
  (type: string, count = 1) =>
  (end: WebSocketEnd) =>
    eventsOf(end).filter((event) => event.type === type).length >= count;

describe("the mock's /v1/realtime", () => {
  let replica: MockReplica;
  let router: TestRouter;
  before(async () => {
    replica = await startMockReplica({ model: "m", adapters: ["food"], timeScale: 0, replyTokens: 5 });
    router = await startTestRouter([replica.url], { spec: "  websockets: {}" });
  });
  after(async () => {
    await router.close();
    await replica.close();
  });

  for (const isRouted of [false, true]) {
    it(`responds to texts, ${isRouted ? "through a router" : "asked itself"}`, async () => {
      const client = await openWebSocket(isRouted ? router.port : replica.port, `${PATH}?model=food`);
      assert.equal(client.status, 101);
      await client.until(has("session.created"));
      assert.equal(eventsOf(client)[0].session.model, "food");
      client.say(item("Was the soup any good?"));
      client.say("are you there", PING);
      client.say(RESPOND);
      client.say(RESPOND);
      await client.until(has("response.done"));
      const events = eventsOf(client);
      const deltas = events.filter(({ type }) => type === "response.output_text.delta");
      const done = events.find(({ type }) => type === "response.output_text.done");
      assert.equal(deltas.length, 5);
      assert.equal(deltas.map(({ delta }) => delta).join(""), done.text);
      assert.equal(events.find(({ type }) => type === "response.done").response.usage.output_tokens, 5);
      assert.match(events.find(({ type }) => type === "error").error.message, /under way/);
      assert.equal(client.frames.filter(({ opcode }) => opcode === PONG).length, 1);
      client.say(RESPOND);
      await client.until(has("response.done", 2));
      client.close();
      await client.gone();
      assert.match(client.closing, /^1000/);
    });
  }

  it("names what it can't do, and goes on", async () => {
    const client = await openWebSocket(replica.port, PATH);
    for (const sent of ['{"type":"input_audio_buffer.append"}', "no JSON", '{"type":"session.update","model":"x"}'])
      client.say(sent);
    client.say('{"type":"session.update","session":{"model":"food"}}');
    await client.until(has("session.updated"));
    assert.equal(eventsOf(client).filter(({ type }) => type === "error").length, 3);
    client.socket.destroy();
  });

  it("frees the engine when the client leaves inside of a response", async () => {
    const slow = await startMockReplica({ model: "m", timeScale: 1, replyTokens: 1_000 });
    const client = await openWebSocket(slow.port, PATH);
    client.say(RESPOND);
    await client.until(has("response.output_text.delta"));
    assert.equal(slow.load.running, 1);
    client.socket.destroy();
    await slow.seen.until(() => slow.load.running === 0);
    await slow.close();
  });

  it("is refused elsewhere, and without the key", async () => {
    const closed = await startMockReplica({ model: "m", apiKey: "sk-1" });
    assert.equal((await openWebSocket(closed.port, PATH)).status, 403);
    assert.equal((await openWebSocket(closed.port, PATH, { lines: "Authorization: Bearer sk-1\r\n" })).status, 101);
    assert.equal((await openWebSocket(closed.port, "/v1/models")).status, 404);
    await closed.close();
  });
});
