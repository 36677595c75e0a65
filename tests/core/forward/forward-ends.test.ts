import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import { makeRequest } from "../../support/endpoints.ts";
import { type ForwardWorld, shownTries } from "../../support/forward.ts";
import { keptTraffic } from "../../support/kept-traffic.ts";
import { MemoryParts } from "../../support/memory-parts.ts";
import { outstanding } from "../../support/router.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, STREAM_HEAD } from "../../support/scripted-replica.ts";
import { CONDUCTS, E0, E1, E2, ENDPOINTS, isSaturated, makeParts, OK, setUp } from "./forward-conducts.ts";

describe("what the client gets", () => {
  it("is one response only, that of the last try", () => {
    const { parts, response, forward } = setUp();
    forward.begin(parts.clock.now());
    parts.upstreamOf(E0).send(jsonAnswer('{"error":"full"}', "503 Service Unavailable"));
    parts.upstreamOf(E1).send(OK);
    assert.deepEqual([response.status, response.body, response.ending], [200, '{"choices":[{"index":0}],"ok":true}', "end"]);
    assert.match(response.lines, /x-signalbox-endpoint: e1\r\n/);
  });

  it("of a replica that is full while there is no other is that response, whole", () => {
    const { parts, response, forward } = setUp({ limits: { retries: 0 } });
    forward.begin(parts.clock.now());
    parts.upstreamOf(E0).send(jsonAnswer('{"error":"full"}', "503 Service Unavailable", "Retry-After: 7\r\n"));
    assert.deepEqual([response.status, response.body, response.ending], [503, '{"error":"full"}', "end"]);
    assert.match(response.lines, /Retry-After: 7\r\n/);
    assert.ok(parts.pool.load.at(parts.clock.now() + 6_000).isPaused(E0.slot), "it is left alone for a while");
  });
});

describe("each try", () => {
  for (const [status, isCached] of [
    ["200 OK", true],
    ["400 Bad Request", false],
    ["500 Oh", false],
  ] as const) {
    it(`brings the prompt into a cache only where it was worked on; the last one responds with ${status}`, () => {
      const parts = makeParts();
      const body = Buffer.from("a prompt that is longer than a block. ".repeat(10));
      const key = { api: "chat", target: "base", cacheSalt: "" };
      const prefixOf = () => parts.pool.prefixIndex!.match(key, body, [[0, body.length]], 100);
      setUp({ parts, request: makeRequest({ promptTokens: 100, prefix: prefixOf() }) }).forward.begin(parts.clock.now());
      parts.upstreamOf(E0).refuse();
      parts.upstreamOf(E1).send(jsonAnswer("{}", "503 Service Unavailable"));
      parts.upstreamOf(E2).send(jsonAnswer("{}", status));
      assert.deepEqual(
        ENDPOINTS.map(({ slot }) => prefixOf().matchedBlocks(slot) > 0),
        [false, false, isCached],
      );
    });
  }

  it("comes after its pause, and not at all once the client has left", async () => {
    const { parts, forward } = setUp({ retries: { backoffMs: 10_000 } });
    forward.begin(parts.clock.now());
    parts.upstreamOf(E0).refuse();
    assert.equal(parts.upstreamOf(E1).sockets.length, 0);
    forward.close();
    await parts.clock.advance(10_000);
    assert.equal(parts.upstreamOf(E1).sockets.length, 0);
  });

  it("is told to the profile's plugins, with where it goes", () => {
    const told: string[] = [];
    const plugin = { chosen: (_request: InferenceRequest, { name }: Endpoint) => void told.push(name) };
    const parts = new MemoryParts({
      endpoints: ENDPOINTS,
      limits: { upstreamConnections: 1 },
      profile: { chosen: [{ name: "p", type: "p", plugin }] },
    });
    isSaturated(E1)(parts);
    setUp({ parts }).forward.begin(parts.clock.now());
    parts.upstreamOf(E0).refuse();
    parts.upstreamOf(E2).send(OK);
    assert.deepEqual(told, ["e0", "e2"], "nothing was sent to e1");
  });
});

describe("what is noted of it", () => {
  it("before anything was sent: nothing, and the body is free", () => {
    const { forward, ticket } = setUp();
    assert.ok(forward.close());
    assert.deepEqual([ticket.status, shownTries(ticket)], [0, []]);
  });

  it("of a whole response: all of it, timed by the router's clock", async () => {
    const { parts, upstream, forward, ticket } = setUp();
    forward.begin(parts.clock.now());
    await parts.clock.advance(40);
    upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
    await parts.clock.advance(60);
    upstream.socket.receive(Buffer.from("{}"));
    const { attempts, status, responseBytes, times, predictedTokens, expectedFirstByteMs, usage } = ticket;
    assert.deepEqual(attempts, [{ endpoint: "e0", result: 200, startedMs: 0, endedMs: 100 }]);
    assert.deepEqual([status, responseBytes, times.dispatchedAtMs, times.firstByteAtMs], [200, 2, 0, 100]);
    // Its request has no prompt to count.
    assert.deepEqual([predictedTokens, expectedFirstByteMs, usage], [0, Number.NaN, undefined]);
  });

  const ways: readonly (readonly [name: string, reach: (world: ForwardWorld) => void, status: number])[] = [
    ["while it connects", () => {}, 0],
    ["before the head", ({ upstream }) => void upstream.accept(), 0],
    ["in mid-event", ({ upstream }) => upstream.send(STREAM_HEAD + chunkOf("data: ")), 200],
    ["between events", ({ upstream }) => upstream.send(STREAM_HEAD + chunkOf("data: 1\n\n")), 200],
  ];
  for (const [name, reach, status] of ways) {
    it(`when it is closed ${name}: one aborted try, and a connection that is closed; closing again changes nothing`, () => {
      const world = setUp();
      const { parts, upstream, forward, ticket, ends } = world;
      forward.begin(parts.clock.now());
      reach(world);
      assert.deepEqual([forward.close(), forward.close()], [true, true], "the body is free");
      assert.deepEqual([ticket.status, shownTries(ticket)], [status, ["e0 aborted"]]);
      assert.ok(upstream.socket.destroyed);
      assert.deepEqual(ends, [], "nobody is told what they did themselves");
      assert.deepEqual(outstanding(parts), { inFlight: 0, prefillTokens: 0 });
    });
  }

  const free: readonly (readonly [name: string, run: (world: ForwardWorld) => void, isFree: boolean])[] = [
    ["answered at the first try", ({ parts }) => parts.upstreamOf(E0).send(OK), true],
    [
      "answered before it was all sent",
      ({ parts }) => {
        const socket = parts.upstreamOf(E0).accept();
        Object.defineProperty(socket, "writableLength", { value: 10 });
        socket.receive(Buffer.from(OK));
      },
      false,
    ],
    [
      "answered at the second try",
      ({ parts }) => {
        parts.upstreamOf(E0).send(jsonAnswer("{}", "503 Service Unavailable"));
        parts.upstreamOf(E1).send(OK);
      },
      true,
    ],
    [
      "answered at the second try, before the first connection had sent all",
      ({ parts }) => {
        parts.upstreamOf(E0).accept().unsentBytes = 10;
        parts.upstreamOf(E0).send(jsonAnswer("{}", "503 Service Unavailable"));
        parts.upstreamOf(E1).send(OK);
      },
      false,
    ],
    ["not answered", ({ parts }) => parts.upstreamOf(E0).accept().receiveReset(), true],
    [
      "left by its client before it was all sent",
      ({ parts }) => {
        parts.upstreamOf(E0).accept().unsentBytes = 10;
      },
      false,
    ],
  ];
  for (const [name, run, isFree] of free) {
    it(`the body is ${isFree ? "free" : "not known to be free"} when the request is ${name}`, () => {
      const world = setUp();
      world.forward.begin(world.parts.clock.now());
      run(world);
      assert.equal(world.forward.close(), isFree);
    });
  }
});

describe("a client that takes bytes again", () => {
  it("lets the replica go on, whichever it is by now", () => {
    const { parts, response, forward } = setUp({ request: makeRequest({ isStream: true }) });
    const { told, traffic } = keptTraffic();
    Object.assign(parts.pool.control, { traffic });
    forward.begin(parts.clock.now());
    parts.upstreamOf(E0).refuse();
    response.hasRoom = false;
    parts.upstreamOf(E1).send(STREAM_HEAD + chunkOf("data: 1\n\n"));
    assert.ok(parts.upstreamOf(E1).socket.isPaused());
    response.hasRoom = true;
    forward.drained();
    assert.ok(!parts.upstreamOf(E1).socket.isPaused());
    parts.upstreamOf(E1).send(LAST_CHUNK);
    assert.equal(response.ending, "end");
    assert.deepEqual(told, ["sent", "failed", "sent", "firstToken", "held", "released", "responded"]);
  });
});

it("only the first try's head is put in front of the body: that try may still be sent when the next one begins", async () => {
  const frontBytes = 256;
  const memory = Buffer.alloc(frontBytes + 2, ".");
  const body = memory.fill("{}", frontBytes).subarray(frontBytes);
  const world = setUp({ request: makeRequest({ body }), draft: { body: [body] }, frontBytes });
  world.forward.begin(world.parts.clock.now());
  await CONDUCTS.limits(world, E0);
  await world.parts.clock.advance(1_000);
  await CONDUCTS.answers(world, E1);
  assert.deepEqual(shownTries(world.ticket), ["e0 429", "e1 200"]);
  const sent = [E0, E1].map((endpoint) => world.parts.upstreamOf(endpoint).socket.takeWritten().toString());
  const headFor = ({ url }: Endpoint) => `POST /v1/chat/completions HTTP/1.1\r\nHost: ${url.hostHeader}\r\n\r\n`;
  assert.deepEqual(sent, [`${headFor(E0)}{}`, `${headFor(E1)}{}`]);
  assert.equal(memory.toString().replace(/^\.+/, ""), `${headFor(E0)}{}`);
});
