import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { Attempt } from "../../../core/contract/outcome.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import type { Limits, RetrySettings } from "../../../core/settings.ts";
import { NOTHING_EXPECTED } from "../../../core/stages/expected-latency.ts";
import { type Delivery, type Earlier, Forwarding } from "../../../core/stages/forward.ts";
import { NOTHING_GENERATED } from "../../../core/stream/usage-tap.ts";
import { makeEndpoints, makeRequest } from "../../support/endpoints.ts";
import { MemoryPlane } from "../../support/memory-plane.ts";
import { RecordedResponse } from "../../support/recorded-response.ts";
import { makeDecision } from "../../support/records.ts";
import { outstanding } from "../../support/router.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, STREAM_HEAD } from "../../support/scripted-replica.ts";

const ENDPOINTS = makeEndpoints(3);
const [E0, E1, E2] = ENDPOINTS as [Endpoint, Endpoint, Endpoint];
const CONNECT_MS = 1_000;
const RESPONSE_MS = 2_000;
const OK = jsonAnswer('{"ok":true}');

interface World {
  readonly plane: MemoryPlane;
  readonly response: RecordedResponse;
  readonly forwarding: Forwarding;
  /** How the owner was told that it is over. */
  readonly ends: readonly string[];
}

interface Overrides {
  readonly plane?: MemoryPlane;
  readonly limits?: Partial<Limits>;
  readonly retries?: Partial<RetrySettings>;
  readonly request?: InferenceRequest;
}

/** A request on its way to e0, then e1, then e2; not begun. */
function setUp({ limits, retries, request = makeRequest({ promptTokens: 100 }), ...given }: Overrides = {}): World {
  const plane = given.plane ?? makePlane(limits, retries);
  const response = new RecordedResponse();
  const ends: string[] = [];
  const owner = {
    bodyDelivered() {},
    completed: () => void ends.push("complete"),
    failed: ({ code }: { code: string }) => void ends.push(code),
    missedTarget: ({ attempts }: Earlier) => void ends.push(`missed the target, ${attempts.length} tries`),
  };
  const leg = makeDecision({ endpoints: ENDPOINTS, order: ENDPOINTS }).legs[0]!;
  const draft = {
    method: "POST",
    pathAndQuery: "/v1/chat/completions",
    lines: "Content-Length: 2\r\n",
    credentialLines: "",
    body: [Buffer.from("{}")],
  };
  const sending = { request, headAtMs: 0, draft, openingEvents: 0, keepAlive: undefined, config: plane.config, plane };
  return { plane, response, forwarding: new Forwarding(leg, sending, response, owner), ends };
}

const makePlane = (limits: Partial<Limits> = {}, retries: Partial<RetrySettings> = {}) =>
  new MemoryPlane({
    endpoints: ENDPOINTS,
    limits: { connectTimeoutMs: CONNECT_MS, responseTimeoutMs: RESPONSE_MS, ...limits },
    retries,
  });

/** What a replica does with the newest connection to it. */
type Conduct = (world: World, endpoint: Endpoint) => void | Promise<void>;
const refuses: Conduct = ({ plane }, endpoint) => plane.upstreamOf(endpoint).refuse();
const never: Conduct = ({ plane }) => plane.clock.advance(CONNECT_MS + 100);
const answers =
  (bytes: string): Conduct =>
  ({ plane }, endpoint) =>
    plane.upstreamOf(endpoint).send(bytes);
const resets: Conduct = ({ plane }, endpoint) => plane.upstreamOf(endpoint).accept().receiveReset();
const isSilent: Conduct = ({ plane }, endpoint) => {
  plane.upstreamOf(endpoint).accept();
  return plane.clock.advance(RESPONSE_MS + 100);
};
const busy = (status: string) => answers(jsonAnswer('{"error":"full"}', status, "Retry-After: 7\r\n"));

/** What is so before the request comes. */
type Before = (plane: MemoryPlane) => void;
const isSaturated =
  (endpoint: Endpoint): Before =>
  (plane) =>
    void plane.poolOf(endpoint).take(true);
const isRemoved =
  (endpoint: Endpoint): Before =>
  (plane) =>
    plane.load.replaced(endpoint.slot, false);
/** One request has been answered there, and its connection is kept. */
const isKept =
  (endpoint: Endpoint): Before =>
  (plane) => {
    setUp({ plane }).forwarding.begin(plane.clock.now());
    plane.upstreamOf(endpoint).send(OK);
  };

/** Two have been answered there at once, and both connections are kept. */
const isKeptTwice =
  (endpoint: Endpoint): Before =>
  (plane) => {
    for (let i = 0; i < 2; i++) setUp({ plane }).forwarding.begin(plane.clock.now());
    for (const socket of plane.upstreamOf(endpoint).sockets) plane.upstreamOf(endpoint).send(OK, socket);
  };

interface Row {
  readonly name: string;
  readonly limits?: Partial<Limits>;
  readonly retries?: Partial<RetrySettings>;
  readonly before?: readonly Before[];
  /** In the order in which they happen. */
  readonly steps: readonly (readonly [Endpoint, Conduct])[];
  readonly attempts: readonly string[];
  readonly end: string;
  /** Whom the prober is told of. */
  readonly told?: readonly string[];
}

const rows: readonly Row[] = [
  {
    name: "one that refuses, then one that answers",
    steps: [
      [E0, refuses],
      [E1, answers(OK)],
    ],
    attempts: ["e0 connect-failed", "e1 200"],
    end: "complete",
    told: ["e0"],
  },
  {
    name: "one that neither accepts nor refuses, then one that answers",
    steps: [
      [E0, never],
      [E1, answers(OK)],
    ],
    attempts: ["e0 connect-timeout", "e1 200"],
    end: "complete",
    told: ["e0"],
  },
  {
    name: "all refuse",
    steps: ENDPOINTS.map((endpoint) => [endpoint, refuses] as const),
    attempts: ["e0 connect-failed", "e1 connect-failed", "e2 connect-failed"],
    end: "upstream_unreachable",
    told: ["e0", "e1", "e2"],
  },
  {
    name: "all refuse, and one retry is allowed",
    limits: { retries: 1 },
    steps: [
      [E0, refuses],
      [E1, refuses],
    ],
    attempts: ["e0 connect-failed", "e1 connect-failed"],
    end: "upstream_unreachable",
    told: ["e0", "e1"],
  },
  {
    name: "one that is full, then one that answers",
    steps: [
      [E0, busy("503 Service Unavailable")],
      [E1, answers(OK)],
    ],
    attempts: ["e0 503", "e1 200"],
    end: "complete",
  },
  {
    name: "all are full: the last one's own words",
    steps: [
      [E0, busy("503 Service Unavailable")],
      [E1, busy("503 Service Unavailable")],
      [E2, busy("429 Too Many Requests")],
    ],
    attempts: ["e0 503", "e1 503", "e2 429"],
    end: "complete",
  },
  {
    name: "one without a connection to spare costs no retry",
    limits: { upstreamConnections: 1, retries: 0 },
    before: [isSaturated(E0), isSaturated(E1)],
    steps: [[E2, answers(OK)]],
    attempts: ["e0 saturated", "e1 saturated", "e2 200"],
    end: "complete",
  },
  {
    name: "nobody has a connection to spare",
    limits: { upstreamConnections: 1 },
    before: ENDPOINTS.map(isSaturated),
    steps: [],
    attempts: ["e0 saturated", "e1 saturated", "e2 saturated"],
    end: "saturated",
  },
  {
    name: "one that has left the pool costs no retry",
    limits: { retries: 0 },
    before: [isRemoved(E0)],
    steps: [[E1, answers(OK)]],
    attempts: ["e0 removed", "e1 200"],
    end: "complete",
  },
  {
    name: "the client is told of the first failure, whatever is in the way of the others",
    limits: { upstreamConnections: 1 },
    before: [isRemoved(E1), isSaturated(E2)],
    steps: [[E0, refuses]],
    attempts: ["e0 connect-failed", "e1 removed", "e2 saturated"],
    end: "upstream_unreachable",
    told: ["e0"],
  },
  {
    name: "a kept connection that ends, then a fresh one to the same replica",
    before: [isKept(E0)],
    steps: [
      [E0, resets],
      [E0, answers(OK)],
    ],
    attempts: ["e0 stale", "e0 200"],
    end: "complete",
  },
  {
    name: "a kept connection that ends, then a fresh one though another is kept",
    before: [isKeptTwice(E0)],
    steps: [
      [E0, resets],
      [E0, answers(OK)],
    ],
    attempts: ["e0 stale", "e0 200"],
    end: "complete",
  },
  {
    name: "a kept connection that ends, and the fresh one too: nobody else gets it",
    before: [isKept(E0)],
    steps: [
      [E0, resets],
      [E0, resets],
    ],
    attempts: ["e0 stale", "e0 reset"],
    end: "upstream_reset",
  },
  {
    name: "a kept connection that ends, and nobody listens any more: nobody else gets it",
    before: [isKept(E0)],
    steps: [
      [E0, resets],
      [E0, refuses],
    ],
    attempts: ["e0 stale", "e0 connect-failed"],
    end: "upstream_reset",
    told: ["e0"],
  },
  {
    name: "a kept connection that ends, and the replica is full: the client sees that",
    before: [isKept(E0)],
    steps: [
      [E0, resets],
      [E0, busy("503 Service Unavailable")],
    ],
    attempts: ["e0 stale", "e0 503"],
    end: "complete",
  },
  {
    name: "a kept connection that ends, and no fresh try is allowed",
    retries: { stale: false },
    before: [isKept(E0)],
    steps: [[E0, resets]],
    attempts: ["e0 stale"],
    end: "upstream_reset",
  },
  ...(
    [
      ["reset under the request", resets, "reset", "upstream_reset"],
      ["silence", isSilent, "timeout", "upstream_timeout"],
      ["no HTTP", answers("HELLO\r\n\r\n"), "invalid", "upstream_invalid"],
      ["reset in mid-body", breaksOff((socket) => socket.receiveReset()), "reset", "upstream_reset"],
      ["no chunk", breaksOff((socket) => socket.receive(Buffer.from("zz\r\n"))), "invalid", "upstream_invalid"],
    ] as const
  ).map(
    ([name, conduct, result, end]): Row => ({
      name: `${name}: one try`,
      steps: [[E0, conduct]],
      attempts: [`e0 ${result}`],
      end,
    }),
  ),
];

/** A stream that begins, and then does this. */
function breaksOff(finish: (socket: ReturnType<MemoryPlane["upstreamOf"]>["socket"]) => void): Conduct {
  return ({ plane }, endpoint) => {
    plane.upstreamOf(endpoint).send(STREAM_HEAD + chunkOf("data: 1\n\n"));
    finish(plane.upstreamOf(endpoint).socket);
  };
}

const shown = (attempts: readonly Attempt[]) => attempts.map(({ endpoint, result }) => `${endpoint} ${result}`);

describe("a request is tried in turn", () => {
  for (const { name, limits, retries, before = [], steps, attempts, end, told = [] } of rows) {
    it(`${name}: ${end}`, async () => {
      const world = setUp({ plane: makePlane(limits, retries) });
      const { plane, forwarding, ends } = world;
      for (const make of before) make(plane);
      const connections = () => ENDPOINTS.map((each) => plane.upstreamOf(each).sockets.length);
      const connectionsBefore = connections();
      forwarding.begin(plane.clock.now());
      for (const [endpoint, conduct] of steps) {
        assert.deepEqual(ends, [], "it goes on");
        assert.equal(plane.load.inFlight[endpoint.slot], 1, "it counts where it is");
        assert.equal(outstanding(plane).inFlight, 1, "and nowhere else");
        await conduct(world, endpoint);
      }
      assert.deepEqual(ends, [end]);
      assert.deepEqual(shown(forwarding.close().attempts), attempts);
      assert.deepEqual(plane.connectFailures, told);
      assert.deepEqual(outstanding(plane), { inFlight: 0, prefillTokens: 0 });
      const tried = new Set(steps.map(([endpoint]) => endpoint));
      for (const [i, endpoint] of ENDPOINTS.entries())
        if (!tried.has(endpoint)) assert.equal(connections()[i], connectionsBefore[i], `${endpoint.name} hears nothing`);
    });
  }
});

describe("404 for a target that the replica does not list", () => {
  const MISSING = jsonAnswer('{"error":{"message":"The model `v1` does not exist."}}', "404 Not Found");
  const rows: readonly {
    readonly name: string;
    readonly onDemand: InferenceRequest["onDemand"];
    readonly limits?: Partial<Limits>;
    readonly retries?: Partial<RetrySettings>;
    readonly end: string;
  }[] = [
    { name: "a target of the config", onDemand: "configured", end: "missed the target, 1 tries" },
    {
      name: "a target of the config needs no retry",
      onDemand: "configured",
      limits: { retries: 0 },
      end: "missed the target, 1 tries",
    },
    { name: "a name that a client gave", onDemand: "asked", end: "missed the target, 1 tries" },
    { name: "a name that a client gave, and no retry", onDemand: "asked", limits: { retries: 0 }, end: "complete" },
    {
      name: "a name that a client gave, and no budget",
      onDemand: "asked",
      retries: { budgetLeast: 0, budgetShare: 0 },
      end: "complete",
    },
  ];
  for (const { name, onDemand, limits, retries, end } of rows) {
    it(`${name}: ${end}`, () => {
      const { plane, response, forwarding, ends } = setUp({
        plane: makePlane(limits, retries),
        request: makeRequest({ target: "v1", onDemand }),
      });
      forwarding.begin(plane.clock.now());
      plane.upstreamOf(E0).send(MISSING);
      assert.deepEqual(ends, [end]);
      assert.equal(response.status, end === "complete" ? 404 : 0);
      assert.deepEqual(shown(forwarding.close().attempts), ["e0 404"]);
      assert.deepEqual(outstanding(plane), { inFlight: 0, prefillTokens: 0 });
    });
  }
});

describe("what the client gets", () => {
  it("is one response only, that of the last try", () => {
    const { plane, response, forwarding } = setUp();
    forwarding.begin(plane.clock.now());
    plane.upstreamOf(E0).send(jsonAnswer('{"error":"full"}', "503 Service Unavailable"));
    plane.upstreamOf(E1).send(OK);
    assert.deepEqual([response.status, response.body, response.ending], [200, '{"ok":true}', "end"]);
    assert.match(response.lines, /x-signalbox-endpoint: e1\r\n/);
  });

  it("of a replica that is full while there is no other is that response, whole", () => {
    const { plane, response, forwarding } = setUp({ limits: { retries: 0 } });
    forwarding.begin(plane.clock.now());
    plane.upstreamOf(E0).send(jsonAnswer('{"error":"full"}', "503 Service Unavailable", "Retry-After: 7\r\n"));
    assert.deepEqual([response.status, response.body, response.ending], [503, '{"error":"full"}', "end"]);
    assert.match(response.lines, /Retry-After: 7\r\n/);
  });
});

describe("each try", () => {
  it("brings the prompt into a cache only where it was worked on", () => {
    const plane = makePlane();
    const body = Buffer.from("a prompt that is longer than a block. ".repeat(10));
    const prefixOf = () => plane.prefixIndex.match({ api: "chat", target: "base", cacheSalt: "" }, body, [[0, body.length]], 100);
    setUp({ plane, request: makeRequest({ promptTokens: 100, prefix: prefixOf() }) }).forwarding.begin(plane.clock.now());
    plane.upstreamOf(E0).refuse();
    plane.upstreamOf(E1).send(jsonAnswer("{}", "503 Service Unavailable"));
    plane.upstreamOf(E2).send(OK);
    assert.deepEqual(
      ENDPOINTS.map(({ slot }) => prefixOf().matchedBlocks(slot) > 0),
      [false, false, true],
    );
  });

  it("is told to the profile's plugins, with where it goes", () => {
    const told: string[] = [];
    const plugin = { chosen: (_request: InferenceRequest, { name }: Endpoint) => void told.push(name) };
    const plane = new MemoryPlane({
      endpoints: ENDPOINTS,
      limits: { upstreamConnections: 1 },
      profile: { chosen: [{ name: "p", type: "p", plugin }] },
    });
    isSaturated(E1)(plane);
    setUp({ plane }).forwarding.begin(plane.clock.now());
    plane.upstreamOf(E0).refuse();
    plane.upstreamOf(E2).send(OK);
    assert.deepEqual(told, ["e0", "e2"], "nothing was sent to e1");
  });
});

describe("what was delivered", () => {
  const OTHER: Partial<Delivery> = { status: 0, responseBytes: 0, cut: undefined, generated: NOTHING_GENERATED };

  it("before anything was sent: nothing, and the body is free", () => {
    const { status, attempts, isBodyFree } = setUp().forwarding.close();
    assert.deepEqual({ status, attempts, isBodyFree }, { status: 0, attempts: [], isBodyFree: true });
  });

  it("of a whole response: all of it, timed by the router's clock", async () => {
    const { plane, forwarding } = setUp();
    forwarding.begin(plane.clock.now());
    const usage = '"usage":{"prompt_tokens":7,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":3}}';
    const body = `{${usage}}`;
    await plane.clock.advance(40);
    plane.upstreamOf(E0).send(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`);
    await plane.clock.advance(60);
    plane.upstreamOf(E0).socket.receive(Buffer.from(body));
    assert.deepEqual(forwarding.close(), {
      attempts: [{ endpoint: "e0", result: 200, startedMs: 0, endedMs: 100 }],
      status: 200,
      responseBytes: body.length,
      firstByteAtMs: 100,
      dispatchedAtMs: 0,
      expected: NOTHING_EXPECTED,
      // Its request has no prompt to count.
      generated: NOTHING_GENERATED,
      predictedTokens: 0,
      cut: undefined,
      isBodyFree: true,
    });
  });

  const ways: readonly (readonly [name: string, reach: (world: World) => void, delivery: Partial<Delivery>])[] = [
    ["while it connects", () => {}, OTHER],
    ["before the head", ({ plane }) => void plane.upstreamOf(E0).accept(), OTHER],
    [
      "in mid-event",
      ({ plane }) => plane.upstreamOf(E0).send(STREAM_HEAD + chunkOf("data: ")),
      { status: 200, responseBytes: 6, cut: { characterEnd: [], text: "{", object: "ours", hasName: false } },
    ],
    [
      "between events",
      ({ plane }) => plane.upstreamOf(E0).send(STREAM_HEAD + chunkOf("data: 1\n\n")),
      { status: 200, responseBytes: 9, cut: { characterEnd: [], text: "", object: "none", hasName: false } },
    ],
  ];
  for (const [name, reach, delivery] of ways) {
    it(`when it is closed ${name}: what there was, one aborted try, and a connection that is closed`, () => {
      const world = setUp();
      const { plane, forwarding, ends } = world;
      forwarding.begin(plane.clock.now());
      reach(world);
      const delivered = forwarding.close();
      for (const [key, value] of Object.entries(delivery)) assert.deepEqual(delivered[key as keyof Delivery], value, key);
      assert.deepEqual(shown(delivered.attempts), ["e0 aborted"]);
      assert.equal(delivered.isBodyFree, true);
      assert.ok(plane.upstreamOf(E0).socket.destroyed);
      assert.deepEqual(ends, [], "nobody is told what they did themselves");
      assert.deepEqual(outstanding(plane), { inFlight: 0, prefillTokens: 0 });
    });
  }

  const free: readonly (readonly [name: string, run: (world: World) => void, isFree: boolean])[] = [
    ["answered at the first try", ({ plane }) => plane.upstreamOf(E0).send(OK), true],
    [
      "answered before it was all sent",
      ({ plane }) => {
        const socket = plane.upstreamOf(E0).accept();
        Object.defineProperty(socket, "writableLength", { value: 10 });
        socket.receive(Buffer.from(OK));
      },
      false,
    ],
    [
      "answered at the second try",
      ({ plane }) => {
        plane.upstreamOf(E0).send(jsonAnswer("{}", "503 Service Unavailable"));
        plane.upstreamOf(E1).send(OK);
      },
      true,
    ],
    [
      "answered at the second try, before the first connection had sent all",
      ({ plane }) => {
        plane.upstreamOf(E0).accept().unsentBytes = 10;
        plane.upstreamOf(E0).send(jsonAnswer("{}", "503 Service Unavailable"));
        plane.upstreamOf(E1).send(OK);
      },
      false,
    ],
    ["not answered", ({ plane }) => plane.upstreamOf(E0).accept().receiveReset(), true],
    [
      "left by its client before it was all sent",
      ({ plane }) => {
        plane.upstreamOf(E0).accept().unsentBytes = 10;
      },
      false,
    ],
  ];
  for (const [name, run, isFree] of free) {
    it(`the body is ${isFree ? "free" : "not known to be free"} when the request is ${name}`, () => {
      const world = setUp();
      world.forwarding.begin(world.plane.clock.now());
      run(world);
      assert.equal(world.forwarding.close().isBodyFree, isFree);
    });
  }
});

describe("a client that takes bytes again", () => {
  it("lets the replica go on, whichever it is by now", () => {
    const { plane, response, forwarding } = setUp();
    forwarding.begin(plane.clock.now());
    plane.upstreamOf(E0).refuse();
    response.hasRoom = false;
    plane.upstreamOf(E1).send(STREAM_HEAD + chunkOf("data: 1\n\n"));
    assert.ok(plane.upstreamOf(E1).socket.isPaused());
    response.hasRoom = true;
    forwarding.drained();
    assert.ok(!plane.upstreamOf(E1).socket.isPaused());
    plane.upstreamOf(E1).send(LAST_CHUNK);
    assert.equal(response.ending, "end");
  });
});
