import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseEndpointUrl } from "../../../core/contract/endpoint-url.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import { MOST_HELD_BYTES } from "../../../core/stream/whole-events.ts";
import { makeEndpoint, makeRequest } from "../../support/endpoints.ts";
import { beginForward, type ForwardOptions, type ForwardWorld, shownTries } from "../../support/forward.ts";
import { MemoryParts } from "../../support/memory-parts.ts";
import { outstanding } from "../../support/router.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, STREAM_HEAD } from "../../support/scripted-replica.ts";

const KEY = { api: "chat-completions", target: "base", cacheSalt: "" };
const PROMPT = Buffer.from("a prompt of some length, ".repeat(40));
const TOKENS = 250;
const EVENT = "data: 1\n\n";
const USAGE = '"usage":{"prompt_tokens":500,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":0}}';

/** One try at e0 with a prompt that nobody holds. */
function begin(options: ForwardOptions = {}): ForwardWorld {
  const { endpoints = [makeEndpoint(0)], parts = new MemoryParts({ endpoints }) } = options;
  const prompt: Partial<InferenceRequest> = { promptTokens: TOKENS, promptSpans: [[0, PROMPT.length]], prefix: prefixOf(parts) };
  const body = [PROMPT, Buffer.from("end")];
  const draft = { pathAndQuery: "/v1/chat/completions?x=1", lines: "X-Own: 1\r\n", body };
  return beginForward({ request: makeRequest({ isStream: true, ...prompt }), draft, ...options, endpoints, parts });
}

const prefixOf = (parts: MemoryParts) => parts.pool.prefixIndex!.match(KEY, PROMPT, [[0, PROMPT.length]], TOKENS);

describe("what the replica gets", () => {
  const urls: readonly (readonly [url: string, line: string, host: string])[] = [
    ["http://gpu1:8000", "/v1/chat/completions?x=1", "gpu1:8000"],
    ["http://gpu1/team/a/", "/team/a/v1/chat/completions?x=1", "gpu1"],
    ["http://[::1]:9000", "/v1/chat/completions?x=1", "[::1]:9000"],
  ];
  for (const [url, line, host] of urls) {
    it(`at ${url}: its own path and name, the draft's lines, and the body's parts in order`, () => {
      const { upstream } = begin({ endpoints: [makeEndpoint(0, { url: parseEndpointUrl(url) })] });
      const text = upstream.accept().takeWritten().toString();
      assert.equal(text, `POST ${line} HTTP/1.1\r\nHost: ${host}\r\nX-Own: 1\r\n\r\n${PROMPT}end`);
    });
  }
});

describe("its share of the load", () => {
  it("is booked before anything is sent", () => {
    const { parts } = begin();
    assert.deepEqual(outstanding(parts), { inFlight: 1, prefillTokens: TOKENS });
    assert.ok(prefixOf(parts).matchedBlocks(0) > 0, "and its prompt is believed to be cached there");
  });

  const stream = (...events: string[]) => [STREAM_HEAD, ...events.map(chunkOf)];
  const prefills: readonly (readonly [name: string, openingEvents: number, pieces: readonly string[], releasedBy: number])[] = [
    ["a whole response: its body's first byte", 0, ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "{", "}"], 1],
    ["a stream: its first byte", 0, stream("d", "ata: 1\n\n"), 1],
    [
      "a stream that begins with an event of its own: what follows it",
      1,
      stream("event: ping\n", "data: 1\n\n", "d", "ata: x\n\n"),
      3,
    ],
    ["a stream that begins with comments: what follows them", 0, stream(": ping\n\n", ":\n\n", "data: x\n\n"), 3],
    ["a stream that says nothing but its opening events: its end", 2, [...stream(EVENT), LAST_CHUNK], 2],
  ];
  for (const [name, openingEvents, pieces, releasedBy] of prefills) {
    it(`counts its prompt until it is worked off. In ${name}`, () => {
      const { parts, upstream } = begin({ parser: { openingEvents } });
      const left = pieces.map((piece) => {
        upstream.send(piece);
        return outstanding(parts).prefillTokens;
      });
      assert.deepEqual(
        left,
        pieces.map((_, i) => (i < releasedBy ? TOKENS : 0)),
      );
    });
  }
});

describe("the response", () => {
  const lengths: readonly (readonly [framing: string, head: string, length: number])[] = [
    ["a length", "Content-Length: 2\r\n", 2],
    ["chunks", "Transfer-Encoding: chunked\r\n", -1],
    ["the connection's end", "Connection: close\r\n", -1],
  ];
  for (const [framing, head, length] of lengths) {
    it(`framed by ${framing} is started with ${length < 0 ? "no length" : "that length"}`, () => {
      const { upstream, response } = begin();
      upstream.send(`HTTP/1.1 201 Made Up\r\n${head}X-Replica: yes\r\n\r\n`);
      assert.deepEqual([response.status, response.reason, response.length], [201, "Made Up", length]);
      assert.match(response.lines, /^X-Replica: yes\r\n/m);
    });
  }

  it("is passed on read by read, timed and counted without its framing", async () => {
    const { parts, upstream, response, ticket, ends } = begin();
    await parts.clock.advance(30);
    upstream.send(STREAM_HEAD);
    assert.ok(Number.isNaN(ticket.times.firstByteAtMs), "a head is no byte of the body");
    await parts.clock.advance(30);
    for (let n = 1; n <= 3; n++) {
      upstream.send(chunkOf(EVENT));
      assert.deepEqual([response.body, response.flushes], [EVENT.repeat(n), n + 1]);
      await parts.clock.advance(30);
    }
    assert.deepEqual([ticket.responseBytes, ticket.times.firstByteAtMs, ends], [3 * EVENT.length, 60, []]);
    upstream.send(LAST_CHUNK);
    assert.deepEqual([response.ending, ends], ["end", ["complete"]]);
  });

  it("waits for a client that is full", async () => {
    const { upstream, response, forward } = begin();
    response.hasRoom = false;
    upstream.send(STREAM_HEAD + chunkOf(EVENT));
    upstream.send(chunkOf(EVENT));
    assert.equal(response.body, EVENT, "the second read waits");
    response.hasRoom = true;
    forward.drained();
    await undefined;
    assert.equal(response.body, EVENT + EVENT);
  });

  const LONG = `data: ${"x".repeat(MOST_HELD_BYTES)}`;
  const ends: readonly (readonly [name: string, pieces: string, takesErrorEvent: boolean])[] = [
    ["no event stream", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", false],
    ["between two events", STREAM_HEAD + chunkOf(EVENT), true],
    ["inside an event that is held back", STREAM_HEAD + chunkOf("data: "), true],
    ["inside an event that is too long for that", STREAM_HEAD + chunkOf(LONG), false],
    ["before the first", STREAM_HEAD, true],
  ];
  for (const [name, pieces, takesErrorEvent] of ends) {
    it(`${takesErrorEvent ? "takes an error event" : "takes no error event"}: ${name}`, () => {
      const { upstream, forward } = begin();
      upstream.send(pieces);
      assert.equal(forward.takesErrorEvent, takesErrorEvent);
    });
  }

  it("is passed on event by event, and a cut event when the response is complete", () => {
    const { upstream, response, ticket } = begin();
    const passed = ["data: 1\n\ndata: 2", "\n\ndata: 3\n"].map((text, index) => {
      upstream.send((index === 0 ? STREAM_HEAD : "") + chunkOf(text));
      return response.body;
    });
    upstream.send(LAST_CHUNK);
    assert.deepEqual([...passed, response.body], [EVENT, "data: 1\n\ndata: 2\n\n", "data: 1\n\ndata: 2\n\ndata: 3\n"]);
    assert.deepEqual([response.ending, ticket.responseBytes], ["end", 26]);
  });
});

describe("after it is closed", () => {
  it("nothing that still comes counts", () => {
    const { upstream, response, ticket, forward, ends } = begin();
    upstream.send(STREAM_HEAD + chunkOf(EVENT));
    forward.close();
    const { flushes } = response;
    upstream.send(chunkOf(EVENT) + LAST_CHUNK);
    forward.drained();
    assert.deepEqual([response.body, response.flushes, response.ending], [EVENT, flushes, undefined]);
    assert.deepEqual([ticket.responseBytes, shownTries(ticket), ends], [EVENT.length, ["e0 aborted"], []]);
  });

  it("nothing of the same read is passed on: a client may leave while it is written to", () => {
    const { parts, upstream, response, ticket, forward, ends } = begin();
    response.write = () => {
      forward.close();
      return true;
    };
    upstream.send(STREAM_HEAD + chunkOf(EVENT) + LAST_CHUNK);
    assert.deepEqual([response.flushes, response.ending], [0, undefined]);
    assert.deepEqual([shownTries(ticket), ends], [["e0 aborted"], []]);
    assert.deepEqual(outstanding(parts), { inFlight: 0, prefillTokens: 0 });
  });
});

describe("what the replica reports", () => {
  const learnt = (status: string, body = `{${USAGE}}`) => {
    const world = begin();
    world.upstream.send(jsonAnswer(body, status));
    return { usage: world.ticket.usage, factor: world.parts.pool.tokenScale.factor("chat-completions") };
  };

  it("of a whole response is kept, and corrects the estimate of this API's prompts", () => {
    const { usage, factor } = learnt("200 OK");
    assert.deepEqual(usage, { promptTokens: 500, outputTokens: 20, cachedTokens: 0 });
    assert.ok(factor > 1, `${factor}`);
  });

  for (const status of ["301 Moved", "400 Bad Request", "500 Oh"]) {
    it(`with status ${status} counts for nothing`, () => assert.deepEqual(learnt(status), { usage: undefined, factor: 1 }));
  }

  it("is not there where it reports nothing", () => assert.deepEqual(learnt("200 OK", "{}"), { usage: undefined, factor: 1 }));

  it("is compared with what was predicted of it", () => {
    const parts = new MemoryParts();
    const first = begin({ parts });
    assert.equal(first.ticket.predictedTokens, 0);
    first.upstream.send(jsonAnswer("{}"));
    const { predictedTokens } = begin({ parts }).ticket;
    assert.ok(predictedTokens !== undefined && predictedTokens > 200 && predictedTokens <= TOKENS, `${predictedTokens}`);
  });
});
