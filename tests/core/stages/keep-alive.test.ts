import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keepAliveRule } from "../../../core/stages/keep-alive.ts";
import { beginExchange } from "../../support/exchange.ts";
import { MemoryPlane, makeIncoming } from "../../support/memory-plane.ts";
import { chunkOf, LAST_CHUNK, STREAM_HEAD } from "../../support/scripted-replica.ts";

const PERIOD_MS = 1_000;
/** After a period a sweep comes, at most two of its own periods late. */
const LATE_MS = 20;
const KEEP_ALIVE = ": keep-alive\n\n";
const EVENT = "data: 1\n\n";
const CLOSE_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

const begin = () => beginExchange({ keepAlive: { event: Buffer.from(KEEP_ALIVE), periodMs: PERIOD_MS } });

describe("what a client gets while its replica is silent", () => {
  const cases: readonly (readonly [name: string, sent: string, body: string])[] = [
    ["nothing before the head", "", ""],
    ["behind the head", STREAM_HEAD, KEEP_ALIVE],
    ["between two events", STREAM_HEAD + chunkOf(EVENT), EVENT + KEEP_ALIVE],
    ["between two events that end with CRLF", STREAM_HEAD + chunkOf("data: 1\r\n\r\n"), `data: 1\r\n\r\n${KEEP_ALIVE}`],
    ["where the body ends with the connection", CLOSE_HEAD + EVENT, EVENT + KEEP_ALIVE],
    ["nothing inside a line", STREAM_HEAD + chunkOf(`${EVENT}data: `), `${EVENT}data: `],
    ["nothing inside an event", STREAM_HEAD + chunkOf(`${EVENT}data: 1\n`), `${EVENT}data: 1\n`],
    ["nothing inside a comment", STREAM_HEAD + chunkOf(": a"), ": a"],
    [
      "nothing where the body has a length",
      `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99\r\n\r\n${EVENT}`,
      EVENT,
    ],
    ["nothing in what is no event stream", `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunkOf(EVENT)}`, EVENT],
    ["nothing after the end", STREAM_HEAD + chunkOf(EVENT) + LAST_CHUNK, EVENT],
  ];
  for (const [name, sent, body] of cases) {
    it(name, async () => {
      const { plane, upstream, response, exchange } = begin();
      if (sent !== "") upstream.send(sent);
      const { responseBytes, firstByteAtMs } = exchange;
      await plane.clock.advance(PERIOD_MS - 1);
      assert.equal(response.body.includes(KEEP_ALIVE), false, "not early");
      await plane.clock.advance(1 + LATE_MS);
      assert.equal(response.body, body);
      assert.equal(exchange.responseBytes, responseBytes, "only what the replica sent counts");
      assert.equal(exchange.firstByteAtMs, firstByteAtMs, "and is a first byte");
    });
  }

  it("comes once a period, counted from the replica's last byte", async () => {
    const { plane, upstream, response } = begin();
    upstream.send(STREAM_HEAD + chunkOf(EVENT));
    await plane.clock.advance(3 * (PERIOD_MS + LATE_MS));
    assert.equal(response.body, EVENT + KEEP_ALIVE.repeat(3));
    await plane.clock.advance(PERIOD_MS - 2 * LATE_MS);
    upstream.send(chunkOf(EVENT));
    await plane.clock.advance(PERIOD_MS - 1);
    assert.equal(response.body, EVENT + KEEP_ALIVE.repeat(3) + EVENT);
  });

  it("comes as soon as an event has ended that was open when the period was over", async () => {
    const { plane, upstream, response } = begin();
    upstream.send(STREAM_HEAD + chunkOf("data: 1\n"));
    await plane.clock.advance(5 * PERIOD_MS);
    upstream.send(chunkOf("\n"));
    await plane.clock.advance(PERIOD_MS + LATE_MS);
    assert.equal(response.body, `data: 1\n\n${KEEP_ALIVE}`);
  });

  it("does not come while the client takes nothing", async () => {
    const { plane, upstream, response, exchange } = begin();
    response.hasRoom = false;
    upstream.send(STREAM_HEAD + chunkOf(EVENT));
    await plane.clock.advance(5 * PERIOD_MS);
    assert.equal(response.body, EVENT);
    exchange.resume();
    await plane.clock.advance(PERIOD_MS + LATE_MS);
    assert.equal(response.body, EVENT + KEEP_ALIVE, "one, and then the client is full again");
    await plane.clock.advance(5 * PERIOD_MS);
    assert.equal(response.body, EVENT + KEEP_ALIVE);
  });

  it("does not come after the client has left", async () => {
    const { plane, upstream, response, exchange } = begin();
    upstream.send(STREAM_HEAD + chunkOf(EVENT));
    exchange.close();
    await plane.clock.advance(5 * PERIOD_MS);
    assert.equal(response.body, EVENT);
  });
});

describe("which streams get something", () => {
  const incoming = makeIncoming('{"model":"m"}');
  const { settings } = new MemoryPlane().config;
  const anthropic = { ...incoming.parser, plugin: { ...incoming.parser.plugin, dialect: "anthropic" as const } };
  const text = (event: Uint8Array | undefined) => event && Buffer.from(event).toString();

  it("none without the config's word", () => assert.equal(keepAliveRule(incoming, settings), undefined));
  it("none of other paths", () => {
    assert.equal(keepAliveRule(incoming, { ...settings, keepAlive: { periodMs: 5, paths: ["/v1/messages"] } }), undefined);
  });
  it("those of its paths, in the API's own words", () => {
    const asked = { ...settings, keepAlive: { periodMs: 5, paths: [incoming.path] } };
    assert.equal(keepAliveRule(incoming, asked)?.periodMs, 5);
    assert.equal(text(keepAliveRule(incoming, asked)?.event), KEEP_ALIVE);
    assert.equal(text(keepAliveRule({ ...incoming, parser: anthropic }, asked)?.event), 'event: ping\ndata: {"type":"ping"}\n\n');
  });
});
