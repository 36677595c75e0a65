import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MOST_HELD_BYTES } from "../../../../core/stream/whole-events.ts";
import { beginForward, type ForwardOptions } from "../../../support/forward.ts";
import { chunkOf, LAST_CHUNK, STREAM_HEAD } from "../../../support/scripted-replica.ts";

const PERIOD_MS = 40;
/** After a period a sweep comes, at most two of its own periods late. */
const LATE_MS = 20;
const KEEP_ALIVE = ": keep-alive\n\n";
const EVENT = "data: 1\n\n";
const LONG = `data: ${"x".repeat(MOST_HELD_BYTES)}`;
const CLOSE_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

const CHAT = { periodMs: PERIOD_MS, beforeHeadMs: 0, paths: ["/v1/chat/completions"] };

const keeping = (keepAlive: typeof CHAT | undefined) => ({ features: new Map([["keepAlive", keepAlive]]) });

const begin = (options: ForwardOptions = {}) => beginForward({ ...keeping(CHAT), ...options });

describe("what a client gets while its replica is silent", () => {
  const cases: readonly (readonly [name: string, sent: string, body: string])[] = [
    ["nothing before the head", "", ""],
    ["behind the head", STREAM_HEAD, KEEP_ALIVE],
    ["between two events", STREAM_HEAD + chunkOf(EVENT), EVENT + KEEP_ALIVE],
    ["between two events that end with CRLF", STREAM_HEAD + chunkOf("data: 1\r\n\r\n"), `data: 1\r\n\r\n${KEEP_ALIVE}`],
    ["where the body ends with the connection", CLOSE_HEAD + EVENT, EVENT + KEEP_ALIVE],
    ["before an event that has begun", STREAM_HEAD + chunkOf(`${EVENT}data: 1\n`), EVENT + KEEP_ALIVE],
    ["before a comment that has begun", STREAM_HEAD + chunkOf(": a"), KEEP_ALIVE],
    ["nothing inside an event that is too long to wait", STREAM_HEAD + chunkOf(EVENT + LONG), EVENT + LONG],
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
      const { parts, upstream, response, ticket } = begin();
      if (sent !== "") upstream.send(sent);
      const { responseBytes } = ticket;
      const { firstByteAtMs } = ticket.times;
      await parts.clock.advance(PERIOD_MS - 1);
      assert.equal(response.body.includes(KEEP_ALIVE), false, "not early");
      await parts.clock.advance(1 + LATE_MS);
      assert.equal(response.body, body);
      assert.equal(ticket.responseBytes, responseBytes, "only what the replica sent counts");
      assert.equal(ticket.times.firstByteAtMs, firstByteAtMs, "and is a first byte");
    });
  }

  it("comes once a period, counted from the replica's last byte", async () => {
    const { parts, upstream, response } = begin();
    upstream.send(STREAM_HEAD + chunkOf(EVENT));
    await parts.clock.advance(3 * (PERIOD_MS + LATE_MS));
    assert.equal(response.body, EVENT + KEEP_ALIVE.repeat(3));
    await parts.clock.advance(PERIOD_MS - 2 * LATE_MS);
    upstream.send(chunkOf(EVENT));
    await parts.clock.advance(PERIOD_MS - 1);
    assert.equal(response.body, EVENT + KEEP_ALIVE.repeat(3) + EVENT);
  });

  it("comes as soon as a long event has ended that was open when the period was over", async () => {
    const { parts, upstream, response } = begin();
    upstream.send(STREAM_HEAD + chunkOf(LONG));
    await parts.clock.advance(5 * PERIOD_MS);
    upstream.send(chunkOf("\n\n"));
    await parts.clock.advance(PERIOD_MS + LATE_MS);
    assert.equal(response.body, `${LONG}\n\n${KEEP_ALIVE}`);
  });

  it("does not come while the client takes nothing", async () => {
    const { parts, upstream, response, forward } = begin();
    response.hasRoom = false;
    upstream.send(STREAM_HEAD + chunkOf(EVENT));
    await parts.clock.advance(5 * PERIOD_MS);
    assert.equal(response.body, EVENT);
    forward.drained();
    await parts.clock.advance(PERIOD_MS + LATE_MS);
    assert.equal(response.body, EVENT + KEEP_ALIVE, "one, and then the client is full again");
    await parts.clock.advance(5 * PERIOD_MS);
    assert.equal(response.body, EVENT + KEEP_ALIVE);
  });

  it("does not come after the client has left", async () => {
    const { parts, upstream, response, forward } = begin();
    upstream.send(STREAM_HEAD + chunkOf(EVENT));
    forward.close();
    await parts.clock.advance(5 * PERIOD_MS);
    assert.equal(response.body, EVENT);
  });
});

describe("which streams get something", () => {
  const rows: readonly (readonly [name: string, options: ForwardOptions, body: string])[] = [
    ["none without the config's word", keeping(undefined), ""],
    ["none of other paths", keeping({ ...CHAT, paths: ["/v1/messages"] }), ""],
    [
      "those of its paths, in the API's own words",
      { parser: { dialect: "anthropic" } },
      'event: ping\ndata: {"type":"ping"}\n\n',
    ],
  ];
  for (const [name, options, body] of rows) {
    it(name, async () => {
      const { parts, upstream, response } = begin(options);
      upstream.send(STREAM_HEAD);
      await parts.clock.advance(PERIOD_MS + LATE_MS);
      assert.equal(response.body, body);
    });
  }
});
