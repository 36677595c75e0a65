import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { book } from "../../../core/forward/book.ts";
import { LegRetries } from "../../../core/forward/leg-retries.ts";
import { Relay } from "../../../core/forward/relay.ts";
import { SilentReader } from "../../../core/forward/silent-reader.ts";
import { Try } from "../../../core/forward/try.ts";
import { Booking } from "../../../core/pool/booking.ts";
import type { Run } from "../../../core/run.ts";
import { UNWATCHED } from "../../../core/state/traffic.ts";
import { makeEndpoint, makeRequest } from "../../support/endpoints.ts";
import { shownTries } from "../../support/forward.ts";
import { MemoryParts, makeRun } from "../../support/memory-parts.ts";
import type { RecordedResponse } from "../../support/recorded-response.ts";
import { jsonAnswer } from "../../support/scripted-replica.ts";

const REQUEST = makeRequest();
const BUSY = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";

type Kind = "relayed" | "silent" | "copy";

/** Two replicas, and a request that tries are made for. */
function setUp() {
  const endpoints = [makeEndpoint(0), makeEndpoint(1)] as const;
  const parts = new MemoryParts({ endpoints });
  const run = makeRun(parts, "{}");
  run.ticket.request = REQUEST;
  run.parser = { ...run.parser!, plugin: { ...run.parser!.plugin, responses: {} } };
  return { parts, run, endpoints, replicas: endpoints.map((endpoint) => parts.upstreamOf(endpoint)) };
}

/** A try of that kind, sent; `ends` says how its owner was told of its end. */
function begin(run: Run, endpoint: Endpoint, kind: Kind) {
  const { parts } = run;
  const { pool, services } = parts;
  const { clock } = services;
  const ends: string[] = [];
  const owner = {
    responded: () => true,
    missedTarget: () => true,
    delivered: () => true,
    completed: (isCut: boolean) => void ends.push(isCut ? "cut" : "complete"),
    failed: (failure: string) => void ends.push(failure),
    bytesCame: (bytes: number) => void ends.push(`${bytes} bytes`),
  };
  const connection = pool.connections.of(endpoint).take(false)!;
  const silent = { request: REQUEST, connection, openingEvents: 0, shape: undefined, clock };
  const booking =
    kind === "copy" ? new Booking(REQUEST, endpoint, pool, UNWATCHED, clock.now()) : book(run, REQUEST, endpoint, clock.now());
  const reader = kind === "relayed" ? new Relay(endpoint, connection, run) : new SilentReader(silent, owner);
  const made = new Try(parts.pool, parts.services.clock, kind === "copy" ? undefined : run, booking, reader, owner);
  connection.send("POST", "POST / HTTP/1.1\r\n\r\n", [], made.front, 0);
  return { made, ends };
}

describe("a try", () => {
  it("stands for itself: two of one request, one of which nobody reads, are booked, noted and ended apart", () => {
    const { parts, run, endpoints, replicas } = setUp();
    const first = begin(run, endpoints[0], "silent");
    const second = begin(run, endpoints[1], "relayed");
    assert.deepEqual([parts.pool.load.inFlight[0], parts.pool.load.inFlight[1]], [1, 1]);
    replicas[0]!.send(jsonAnswer("{}"));
    assert.deepEqual(
      [first.ends, second.ends, first.made.isOver, second.made.isOver],
      [["2 bytes", "complete"], [], true, false],
    );
    const response = run.response as RecordedResponse;
    assert.equal(response.hasStarted, false, "the client gets nothing of it");
    replicas[1]!.send(jsonAnswer("[7]"));
    assert.deepEqual([response.body, response.ending, second.ends], ["[7]", "end", ["complete"]]);
    assert.deepEqual(shownTries(run.ticket), ["e0 200", "e1 200"]);
    assert.deepEqual([parts.pool.load.inFlight[0], parts.pool.load.inFlight[1]], [0, 0]);
  });

  for (const kind of ["relayed", "silent", "copy"] as const) {
    it(`ends once: ${kind}`, () => {
      const { parts, run, endpoints, replicas } = setUp();
      const { made, ends } = begin(run, endpoints[0], kind);
      replicas[0]!.accept();
      made.drop();
      made.drop();
      made.over(200, true);
      made.completed(true);
      made.failed("reset", true);
      assert.deepEqual(ends, [], "who ends it is not told");
      assert.deepEqual(shownTries(run.ticket), kind === "copy" ? [] : ["e0 aborted"]);
      assert.equal(parts.pool.load.inFlight[0], 0);
    });
  }

  const judged: readonly (readonly [kind: Kind, isJudged: boolean])[] = [
    ["relayed", true],
    ["silent", true],
    ["copy", false],
  ];
  for (const [kind, isJudged] of judged) {
    it(`that is ${kind} ${isJudged ? "says" : "does not say"} that its endpoint has too much to do`, () => {
      const { parts, run, endpoints, replicas } = setUp();
      begin(run, endpoints[0], kind);
      replicas[0]!.send(BUSY);
      assert.equal(parts.pool.load.pausedUntilMs[0]! > parts.clock.now(), isJudged);
      assert.deepEqual(shownTries(run.ticket), isJudged ? ["e0 503"] : []);
    });
  }
});

describe("the retries of a leg", () => {
  it("are its own: what another leg used up leaves them as they are", () => {
    const { run, endpoints } = setUp();
    const leg = { order: endpoints };
    const [one, other] = [new LegRetries(run, REQUEST, leg), new LegRetries(run, REQUEST, leg)];
    one.takeNext();
    one.takeRetry();
    assert.equal(one.failed("reset", true), "fail");
    assert.deepEqual([one.wasDelivered, one.error.code], [true, "upstream_reset"]);
    assert.deepEqual([other.wasDelivered, other.retriesLeft - one.retriesLeft, other.takeNext()], [false, 1, endpoints[0]]);
    assert.equal(other.failed("connect-failed", false), "next");
    assert.deepEqual([other.isUnreached, one.isUnreached], [true, false]);
  });
});
