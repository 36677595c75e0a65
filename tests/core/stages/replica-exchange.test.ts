import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import { parseEndpointUrl } from "../../../core/control/endpoint-url.ts";
import { makeEndpoint, makeRequest } from "../../support/endpoints.ts";
import { type BegunExchange, beginExchange, type ExchangeParts } from "../../support/exchange.ts";
import { MemoryPlane } from "../../support/memory-plane.ts";
import { outstanding } from "../../support/router.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, STREAM_HEAD } from "../../support/scripted-replica.ts";

const KEY = { api: "chat-completions", target: "base", cacheSalt: "" };
const PROMPT = Buffer.from("a prompt of some length, ".repeat(40));
const TOKENS = 250;
const EVENT = "data: 1\n\n";
const USAGE = '"usage":{"prompt_tokens":500,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":0}}';

interface Overrides extends Omit<ExchangeParts, "request"> {
  readonly request?: Partial<InferenceRequest>;
}

/** One try at e0 with a prompt that nobody holds. */
function begin(overrides: Overrides = {}): BegunExchange {
  const { endpoint = makeEndpoint(0), plane = new MemoryPlane({ endpoints: [endpoint] }) } = overrides;
  const prompt: Partial<InferenceRequest> = { promptTokens: TOKENS, promptSpans: [[0, PROMPT.length]], prefix: prefixOf(plane) };
  const request = makeRequest({ isStream: true, ...prompt, ...overrides.request });
  const body = [PROMPT, Buffer.from("end")];
  const draft = { pathAndQuery: "/v1/chat/completions?x=1", lines: "X-Own: 1\r\n", body };
  return beginExchange({ ...overrides, endpoint, plane, request, draft });
}

const prefixOf = (plane: MemoryPlane) => plane.prefixIndex.match(KEY, PROMPT, [[0, PROMPT.length]], TOKENS);
/** Whether the prompt is believed to be in e0's cache. */
const isHeld = (plane: MemoryPlane) => prefixOf(plane).matchedBlocks(0) > 0;

describe("what the replica gets", () => {
  const urls: readonly (readonly [url: string, line: string, host: string])[] = [
    ["http://gpu1:8000", "/v1/chat/completions?x=1", "gpu1:8000"],
    ["http://gpu1/team/a/", "/team/a/v1/chat/completions?x=1", "gpu1"],
    ["http://[::1]:9000", "/v1/chat/completions?x=1", "[::1]:9000"],
  ];
  for (const [url, line, host] of urls) {
    it(`at ${url}: its own path and name, the draft's lines, and the body's parts in order`, () => {
      const { upstream } = begin({ endpoint: makeEndpoint(0, { url: parseEndpointUrl(url) }) });
      const text = upstream.accept().takeWritten().toString();
      assert.equal(text, `POST ${line} HTTP/1.1\r\nHost: ${host}\r\nX-Own: 1\r\n\r\n${PROMPT}end`);
    });
  }
});

describe("its share of the load", () => {
  it("is booked before anything is sent", () => {
    const { plane } = begin();
    assert.deepEqual(outstanding(plane), { inFlight: 1, prefillTokens: TOKENS });
    assert.ok(isHeld(plane));
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
      const { plane, upstream } = begin({ openingEvents });
      const left = pieces.map((piece) => {
        upstream.send(piece);
        return outstanding(plane).prefillTokens;
      });
      assert.deepEqual(
        left,
        pieces.map((_, i) => (i < releasedBy ? TOKENS : 0)),
      );
    });
  }

  const ways: readonly (readonly [name: string, end: (world: BegunExchange) => void, isHeld: boolean, overrides?: Overrides])[] =
    [
      ["a whole response", ({ upstream }) => upstream.send(jsonAnswer("{}")), true],
      ["a status of 400", ({ upstream }) => upstream.send(jsonAnswer("{}", "400 Bad Request")), false],
      ["a status of 500", ({ upstream }) => upstream.send(jsonAnswer("{}", "500 Oh")), false],
      ["a response that is not passed on", ({ upstream }) => upstream.send(jsonAnswer("{}")), false, { isRelayed: false }],
      ["a refused connect", ({ upstream }) => upstream.refuse(), false],
      ["a reset before the head", ({ upstream }) => upstream.accept().receiveReset(), false],
      [
        "a reset after the head",
        ({ upstream }) => {
          upstream.send(STREAM_HEAD);
          upstream.socket.receiveReset();
        },
        true,
      ],
      ["its owner, who knows that the replica has not worked on it", ({ exchange }) => exchange.drop(503), false],
      ["its owner, who does not know that", ({ exchange }) => exchange.close(), true],
    ];
  for (const [name, end, wanted, overrides] of ways) {
    it(`is given back after ${name}; the prompt is ${wanted ? "still" : "no longer"} believed to be cached`, () => {
      const world = begin(overrides);
      end(world);
      assert.ok(world.exchange.isOver);
      assert.deepEqual(outstanding(world.plane), { inFlight: 0, prefillTokens: 0 });
      assert.equal(isHeld(world.plane), wanted);
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
    const { plane, upstream, response, exchange, told } = begin();
    await plane.clock.advance(30);
    upstream.send(STREAM_HEAD);
    assert.ok(Number.isNaN(exchange.firstByteAtMs), "a head is no byte of the body");
    await plane.clock.advance(30);
    for (let n = 1; n <= 3; n++) {
      upstream.send(chunkOf(EVENT));
      assert.deepEqual([response.body, response.flushes], [EVENT.repeat(n), n + 1]);
      await plane.clock.advance(30);
    }
    assert.deepEqual([exchange.responseBytes, exchange.firstByteAtMs], [3 * EVENT.length, 60]);
    assert.deepEqual(told, ["responded 200"]);
    upstream.send(LAST_CHUNK);
    assert.equal(response.ending, "end");
    assert.deepEqual(told, ["responded 200", "completed"]);
  });

  it("that is not passed on leaves no trace", () => {
    const { upstream, response, exchange, told } = begin({ isRelayed: false });
    upstream.send(jsonAnswer("{}"));
    assert.deepEqual([response.hasStarted, response.flushes, exchange.status, exchange.responseBytes], [false, 0, 0, 0]);
    assert.ok(upstream.socket.destroyed);
    assert.deepEqual(told, ["responded 200"]);
  });

  it("waits for a client that is full", async () => {
    const { upstream, response, exchange } = begin();
    response.hasRoom = false;
    upstream.send(STREAM_HEAD + chunkOf(EVENT));
    upstream.send(chunkOf(EVENT));
    assert.equal(response.body, EVENT, "the second read waits");
    response.hasRoom = true;
    exchange.resume();
    await undefined;
    assert.equal(response.body, EVENT + EVENT);
  });

  const boundaries: readonly (readonly [name: string, pieces: string, text: string | undefined])[] = [
    ["no event stream", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", undefined],
    ["between two events", STREAM_HEAD + chunkOf(EVENT), ""],
    ["inside an event", STREAM_HEAD + chunkOf("data: "), "{"],
    ["before the first", STREAM_HEAD, ""],
  ];
  for (const [name, pieces, text] of boundaries) {
    it(`knows where its event stream stands: ${name}`, () => {
      const { upstream, exchange } = begin();
      upstream.send(pieces);
      assert.equal(exchange.cut?.text, text);
    });
  }
});

describe("after it is closed", () => {
  it("nothing that still comes counts, and closing again changes nothing", () => {
    const { plane, upstream, response, exchange, told } = begin();
    upstream.send(STREAM_HEAD + chunkOf(EVENT));
    exchange.close();
    const { flushes } = response;
    exchange.readDone();
    exchange.end(false);
    exchange.failed("reset", true);
    exchange.close();
    assert.deepEqual([response.body, response.flushes, response.ending], [EVENT, flushes, undefined]);
    assert.deepEqual(told, ["responded 200"]);
    assert.ok(isHeld(plane), "what was believed stays");
    assert.deepEqual(outstanding(plane), { inFlight: 0, prefillTokens: 0 });
  });

  it("nothing of the same read is passed on: a client may leave while it is written to", () => {
    const { plane, upstream, response, exchange, told } = begin();
    response.write = () => {
      exchange.close();
      return true;
    };
    upstream.send(STREAM_HEAD + chunkOf(EVENT) + LAST_CHUNK);
    assert.deepEqual([response.flushes, response.ending], [0, undefined]);
    assert.deepEqual(told, ["responded 200"]);
    assert.deepEqual(outstanding(plane), { inFlight: 0, prefillTokens: 0 });
  });

  for (const [name, failure, isDelivered] of [
    ["before the connection is open", "connect-failed", "not delivered"],
    ["once it is open", "reset", "delivered"],
  ] as const) {
    it(`a failure ${name} is told with whether the request was delivered`, () => {
      const { upstream, told } = begin();
      if (failure === "reset") upstream.accept();
      upstream.socket.receiveReset();
      assert.deepEqual(told, [`failed ${failure} ${isDelivered}`]);
    });
  }
});

describe("what the replica reports", () => {
  const learnt = (status: string, body = `{${USAGE}}`) => {
    const world = begin();
    world.upstream.send(jsonAnswer(body, status));
    return { usage: world.exchange.generated.usage, factor: world.plane.tokenScale.factor("chat-completions") };
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
    const plane = new MemoryPlane();
    const first = begin({ plane });
    assert.equal(first.exchange.predictedTokens, 0);
    first.upstream.send(jsonAnswer("{}"));
    const { predictedTokens } = begin({ plane }).exchange;
    assert.ok(predictedTokens !== undefined && predictedTokens > 200 && predictedTokens <= TOKENS, `${predictedTokens}`);
  });
});
