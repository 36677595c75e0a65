import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { LoadView } from "../../../core/contract/load-view.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";
import type { TargetQuestion } from "../../../core/contract/rewriter.ts";
import type { RequestReceiver } from "../../../core/contract/slots/decode.ts";
import { intake } from "../../../core/intake/starter.ts";
import { factsOf } from "../../../core/state/facts.ts";
import { makeEndpoint } from "../../support/endpoints.ts";
import { MemoryParts, type MemoryPartsOptions } from "../../support/memory-parts.ts";
import type { MemoryUpstream } from "../../support/memory-upstream.ts";
import { RecordedResponse } from "../../support/recorded-response.ts";
import { outstanding } from "../../support/router.ts";
import { chunkOf, jsonAnswer, STREAM_HEAD } from "../../support/scripted-replica.ts";
import { requestHead } from "../../support/wire-heads.ts";

const POST = "POST /v1/chat/completions";
const JSON_TYPE = "Content-Type: application/json";
const BODY = '{"model":"base","messages":[{"role":"user","content":"hello"}]}';
const EVENT = 'data: {"choices":[{"finish_reason":"stop"}]}\n\n';

/** One request over one replica in memory. */
class World {
  readonly parts: MemoryParts;
  readonly response = new RecordedResponse();
  receiver: RequestReceiver | undefined;

  constructor(options: MemoryPartsOptions = {}) {
    this.parts = new MemoryParts(options);
  }

  get replica(): MemoryUpstream {
    return this.parts.upstreamOf(makeEndpoint(0));
  }

  head(start = POST, lines: readonly string[] = [JSON_TYPE], bodyLength = -1): void {
    const head = requestHead(lines, `${start} HTTP/1.1`);
    this.receiver = intake(this.parts)(head, bodyLength, this.response, "192.0.2.1");
  }

  /** Whole, in two pieces, but for its end. */
  body(text = BODY): void {
    const bytes = Buffer.from(text);
    const half = bytes.length >> 1;
    this.receiver?.body(bytes, 0, half);
    this.receiver?.body(bytes, half, bytes.length);
  }

  /** The whole request. */
  send(text = BODY): void {
    this.head();
    this.body(text);
    this.receiver?.bodyEnd();
  }

  /** The one outcome there must be. Whatever the host still reports changes nothing. */
  outcome(): Outcome {
    const { parts, response, receiver } = this;
    const { body, lastWords, ending } = response;
    receiver?.body(Buffer.from("late"), 0, 4);
    receiver?.bodyEnd();
    receiver?.drained();
    receiver?.refuse(new RouterError("request_timeout", "Too late."));
    receiver?.clientGone();
    receiver?.stop();
    assert.equal(parts.outcomes.length, 1);
    assert.deepEqual([response.body, response.lastWords, response.ending], [body, lastWords, ending]);
    assert.deepEqual(outstanding(parts), { inFlight: 0, prefillTokens: 0 });
    assert.equal(parts.configsTaken, 0, "its config is given back, once");
    return parts.outcomes[0]!;
  }
}

/** How it ended, in short. */
interface End {
  readonly status: number;
  readonly ending: Outcome["ending"];
  readonly error?: string;
  readonly attempts?: readonly string[];
}

function assertEnd(world: World, { status, ending, error, attempts = [] }: End): void {
  const outcome = world.outcome();
  assert.deepEqual(
    {
      status: outcome.status,
      ending: outcome.ending,
      error: outcome.error?.code,
      attempts: outcome.attempts.map((each) => `${each.endpoint} ${each.result}`),
    },
    { status, ending, error, attempts },
  );
  if (ending === "client-left") return;
  assert.equal(world.response.status, status, "what the client got");
  assert.equal(world.response.ending, ending === "broken" ? "abort" : "end");
  if (error === undefined) return;
  const { lines, body, lastWords } = world.response;
  if (ending === "complete") assert.match(body, new RegExp(`"code":"${error}"`));
  else if (/event-stream/.test(lines)) assert.match(lastWords, new RegExp(`"code":"${error}"`));
  else assert.equal(lastWords, "", "no words of ours in the replica's own body");
}

interface Row {
  readonly name: string;
  readonly run: (world: World) => void;
  readonly end: End;
  readonly options?: MemoryPartsOptions;
}

/** The whole request is sent, and the replica does this. */
const sent = (then: (replica: MemoryUpstream) => void) => (world: World) => {
  world.send();
  then(world.replica);
};

const served: readonly Row[] = [
  {
    name: "served",
    run: sent((replica) => replica.send(jsonAnswer('{"choices":[{"index":0}]}'))),
    end: { status: 200, ending: "complete", attempts: ["e0 200"] },
  },
  {
    name: "answered with an error of the replica's own",
    run: sent((replica) => replica.send(jsonAnswer("{}", "500 Oh"))),
    end: { status: 500, ending: "complete", attempts: ["e0 500"] },
  },
  {
    name: "GET /v1/models",
    run: (world) => world.head("GET /v1/models", [], 0),
    end: { status: 200, ending: "complete" },
  },
];

const SMALL = { limits: { bodyBytes: 500 } };

/** One for each moment; tests/e2e/limits.runtimes.test.ts has all that is refused. */
const refused: readonly Row[] = [
  {
    name: "an unknown path",
    run: (world) => world.head("POST /v1/nothing"),
    end: { status: 404, ending: "complete", error: "unknown_path" },
  },
  {
    name: "a body that is declared too large",
    run: (world) => world.head(POST, [JSON_TYPE], 501),
    end: { status: 413, ending: "complete", error: "body_too_large" },
    options: SMALL,
  },
  {
    name: "a body that grows too large",
    run: (world) => world.send(JSON.stringify({ model: "base", text: "x".repeat(1_000) })),
    end: { status: 413, ending: "complete", error: "body_too_large" },
    options: SMALL,
  },
  {
    name: "no JSON",
    run: (world) => world.send("{]"),
    end: { status: 400, ending: "complete", error: "invalid_json" },
  },
  {
    name: "nobody to serve it",
    run: (world) => world.send(),
    end: { status: 503, ending: "complete", error: "no_ready_endpoint" },
    options: { endpoints: [] },
  },
  {
    name: "a plugin that fails it",
    run: (world) => world.send(),
    end: { status: 500, ending: "complete", error: "plugin_fault" },
    options: { profile: { picker: { name: "p", type: "p", plugin: { pick: () => [] } } } },
  },
];

const failed: readonly Row[] = [
  {
    name: "nobody listens",
    run: sent((replica) => replica.refuse()),
    end: { status: 502, ending: "complete", error: "upstream_unreachable", attempts: ["e0 connect-failed"] },
  },
  {
    name: "the replica closes before its response",
    run: sent((replica) => replica.accept().receiveEnd()),
    end: { status: 502, ending: "complete", error: "upstream_reset", attempts: ["e0 reset"] },
  },
  {
    name: "the replica's response is no HTTP",
    run: sent((replica) => replica.send("HELLO\r\n\r\n")),
    end: { status: 502, ending: "complete", error: "upstream_invalid", attempts: ["e0 invalid"] },
  },
  {
    name: "a stream breaks off",
    run: sent((replica) => {
      replica.send(STREAM_HEAD + chunkOf(EVENT));
      replica.socket.receiveEnd();
    }),
    end: { status: 200, ending: "broken", error: "upstream_reset", attempts: ["e0 reset"] },
  },
];

describe("a request makes one outcome", () => {
  for (const { name, run, end, options } of [...served, ...refused, ...failed]) {
    it(`${name}: ${end.status} ${end.ending}${end.error === undefined ? "" : ` ${end.error}`}`, () => {
      const world = new World(options);
      run(world);
      assertEnd(world, end);
    });
  }

  /** How far a request has come, the attempts that it leaves, and the status that its client has seen. */
  const points: readonly (readonly [name: string, reach: (world: World) => void, attempts: readonly string[], status: number])[] =
    [
      ["before its body", (world) => world.head(), [], 0],
      [
        "in its body",
        (world) => {
          world.head();
          world.body();
        },
        [],
        0,
      ],
      ["while it connects", (world) => world.send(), ["e0 aborted"], 0],
      ["before the response's head", sent((replica) => replica.accept()), ["e0 aborted"], 0],
      ["in a stream", sent((replica) => replica.send(STREAM_HEAD + chunkOf(EVENT))), ["e0 aborted"], 200],
      ["in a response of some length", sent((replica) => replica.send(jsonAnswer("{}").slice(0, -1))), ["e0 aborted"], 200],
    ];
  for (const [name, reach, attempts, status] of points) {
    it(`the client leaves ${name}`, () => {
      const world = new World();
      reach(world);
      world.receiver?.clientGone();
      assert.equal(world.response.ending, undefined, "there is nobody to tell");
      assertEnd(world, { status, ending: "client-left", attempts });
    });

    for (const [what, tell, error, code] of [
      [
        "the host can't read on",
        (receiver) => receiver.refuse(new RouterError("request_timeout", "Too slow.")),
        "request_timeout",
        408,
      ],
      ["the host stops", (receiver) => receiver.stop(), "shutting_down", 503],
    ] as const satisfies readonly (readonly [string, (receiver: RequestReceiver) => void, string, number])[]) {
      it(`${what} ${name}`, () => {
        const world = new World();
        reach(world);
        tell(world.receiver!);
        const end: End = status === 0 ? { status: code, ending: "complete", error } : { status, ending: "broken", error };
        assertEnd(world, { ...end, attempts });
      });
    }
  }
});

describe("a probe of the router itself makes no outcome, but gives back its config", () => {
  const isStarting = { endpoints: [makeEndpoint(0, { phase: "starting" })] };
  const rows: readonly (readonly [start: string, options: MemoryPartsOptions, status: number])[] = [
    ["GET /health", {}, 200],
    ["HEAD /health", {}, 200],
    ["GET /ready", {}, 200],
    ["GET /ready", isStarting, 503],
  ];
  for (const [start, options, status] of rows) {
    it(`${start}: ${status}`, () => {
      const { parts, response, ...world } = new World(options);
      intake(parts)(requestHead([], `${start} HTTP/1.1`), 0, response, "192.0.2.1");
      assert.deepEqual([response.status, response.ending, world.receiver], [status, "end", undefined]);
      assert.deepEqual([parts.outcomes, parts.configsTaken], [[], 0]);
    });
  }
});

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
