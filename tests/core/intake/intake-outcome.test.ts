import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { LoadView } from "../../../core/contract/load-view.ts";
import type { TargetQuestion } from "../../../core/contract/rewriter.ts";
import { factsOf } from "../../../core/state/facts.ts";
import { makeEndpoint } from "../../support/endpoints.ts";
import { chunkOf, jsonAnswer, STREAM_HEAD } from "../../support/scripted-replica.ts";
import { assertEnd, BODY, EVENT, World } from "./intake-world.ts";

describe("an outcome", () => {
  it("says when each thing happened, since the head, how much there was, and what time was the router's own", async () => {
    const world = new World();
    const { clock } = world.parts;
    await clock.advance(1_000);
    world.head();
    await clock.advance(100);
    world.body();
    world.receiver?.bodyEnd();
    await clock.advance(30);
    world.replica.send(STREAM_HEAD);
    await clock.advance(300);
    world.replica.send(chunkOf(EVENT));
    await clock.advance(50);
    world.replica.send(`${chunkOf(EVENT)}0\r\n\r\n`);
    const { times, ...outcome } = world.outcome();
    const { receivedMs, admittedMs, decidedMs, dispatchedMs, firstByteMs, endMs } = times;
    assert.deepEqual([receivedMs, admittedMs, decidedMs, dispatchedMs, firstByteMs, endMs], [100, 100, 100, 100, 430, 480]);
    assert.deepEqual(
      [outcome.wallMs, outcome.requestBytes, outcome.responseBytes],
      [clock.wall(), BODY.length, 2 * EVENT.length],
    );
    assert.equal(outcome.expectedFirstByteMs, Number.NaN, "the replica's speed is not known yet");
    assert.deepEqual(outcome.attempts, [{ endpoint: "e0", result: 200, startedMs: 100, endedMs: 480 }]);
  });

  it("of a request that was not sent has no moment of it", () => {
    const world = new World({ endpoints: [] });
    world.send();
    const { times, overheadUs, expectedFirstByteMs, outputTokens, isOutputEstimated, finishReason } = world.outcome();
    assert.deepEqual([times.admittedMs, times.decidedMs, times.endMs], [0, 0, 0]);
    assert.deepEqual([times.dispatchedMs, times.firstByteMs, overheadUs], [Number.NaN, Number.NaN, Number.NaN]);
    assert.deepEqual([expectedFirstByteMs, outputTokens], [Number.NaN, Number.NaN]);
    assert.deepEqual([isOutputEstimated, finishReason], [false, ""]);
  });

  it("of a request that got no response has no first byte, and counts the body as far as it came", () => {
    const world = new World();
    world.head();
    world.body(BODY.slice(0, 20));
    world.receiver?.clientGone();
    const { firstByteMs, requestBytes, responseBytes, request, decision } = world.outcome();
    assert.deepEqual(
      { firstByteMs, requestBytes, responseBytes, request, decision },
      { firstByteMs: Number.NaN, requestBytes: 20, responseBytes: 0, request: undefined, decision: undefined },
    );
  });

  it("holds what was asked and decided, but not the body", () => {
    const world = new World();
    world.send();
    world.replica.send(jsonAnswer('{"choices":[{"index":0}]}'));
    const { id, api, method, path, request, decision } = world.outcome();
    assert.deepEqual([id, api, method, path], ["req-1", "chat-completions", "POST", "/v1/chat/completions"]);
    assert.equal(request?.model, "base");
    assert.equal(request?.body.length, 0);
    assert.deepEqual(decision?.endpoints, world.parts.pool.facts.endpoints);
  });

  it("is of a decision on the facts and the load of the moment when its body had come", () => {
    const [old, fresh] = [makeEndpoint(0), makeEndpoint(1, { models: ["fresh"] })];
    const seen: unknown[] = [];
    const draw = ({ served }: TargetQuestion) => {
      seen.push(served.has("fresh"));
      return undefined;
    };
    const filter = (_request: unknown, candidates: readonly Endpoint[], load: LoadView) => {
      seen.push(candidates, load.inFlight(fresh.slot));
      return candidates;
    };
    const world = new World({
      endpoints: [old],
      rewriters: [{ name: "r", type: "r", plugin: { clientModels: [], draw } }],
      profile: { filters: [{ name: "f", type: "f", plugin: { filter } }] },
    });
    world.head();
    world.body();
    const { pool } = world.parts;
    pool.facts = factsOf([fresh]);
    pool.load.begin(fresh.slot, { tokens: 10, hasFirstByte: true }, 0);
    world.receiver?.bodyEnd();
    assert.deepEqual(seen, [true, [fresh], 1]);
    assert.deepEqual([world.replica.sockets.length, pool.connections.of(fresh).sockets.length], [0, 1]);
  });

  it("is by the config that was active at the request's head, whatever is active at its end", () => {
    const world = new World();
    world.head();
    const { config } = world.parts;
    world.parts.config = { ...config, observers: [], routes: new Map(), profile: { ...config.profile, filters: [REFUSES] } };
    world.body();
    world.receiver?.bodyEnd();
    world.replica.send(jsonAnswer('{"choices":[{"index":0}]}'));
    assertEnd(world, { status: 200, ending: "complete", attempts: ["e0 200"] });
  });
});

const REFUSES = { name: "none", type: "none", plugin: { filter: () => [] } };

describe("what goes wrong inside is told to the operator", () => {
  it("a scorer that breaks its contract", () => {
    const scorer = { name: "wild", type: "wild", weight: 1, plugin: { score: () => [7] } };
    const world = new World({ profile: { scorers: [scorer] } });
    world.send();
    world.replica.send(jsonAnswer('{"choices":[{"index":0}]}'));
    assertEnd(world, { status: 200, ending: "complete", attempts: ["e0 200"] });
    assert.deepEqual(world.parts.logged, [["A plugin broke its contract", "wild", "Score 7 is not in [0, 1]"]]);
  });

  it("a filter that throws: the client is told nothing of why", () => {
    const plugin = {
      filter() {
        throw new Error("secret");
      },
    };
    const world = new World({ profile: { filters: [{ name: "f", type: "f", plugin }] } });
    world.send();
    assertEnd(world, { status: 500, ending: "complete", error: "plugin_fault" });
    assert.doesNotMatch(world.response.body, /secret/);
    assert.deepEqual(world.parts.logged, [["A plugin broke its contract", "f", "secret"]]);
  });

  it("a fault of the router itself", () => {
    const world = new World();
    world.parts.pool.facts = new Proxy(factsOf([]), {
      get() {
        throw new Error("secret");
      },
    });
    world.send();
    assertEnd(world, { status: 500, ending: "complete", error: "internal_error" });
    assert.doesNotMatch(world.response.body, /secret/);
    assert.deepEqual(world.parts.logged, [["A request failed inside the router", "req-1", "Error: secret"]]);
  });
});
