import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import type { Limits, RetrySettings } from "../../../core/settings.ts";
import { makeEndpoints, makeRequest } from "../../support/endpoints.ts";
import { type ForwardOptions, type ForwardWorld, makeForward, shownTries } from "../../support/forward.ts";
import { keptTraffic } from "../../support/kept-traffic.ts";
import { MemoryParts } from "../../support/memory-parts.ts";
import { outstanding } from "../../support/router.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, STREAM_HEAD } from "../../support/scripted-replica.ts";

const ENDPOINTS = makeEndpoints(3);
const [E0, E1, E2] = ENDPOINTS as [Endpoint, Endpoint, Endpoint];
const CONNECT_MS = 1_000;
const RESPONSE_MS = 2_000;
const OK = jsonAnswer('{"choices":[{"index":0}],"ok":true}');

/** A request on its way to e0, then e1, then e2; not begun. */
const setUp = (options: ForwardOptions = {}): ForwardWorld =>
  makeForward({
    endpoints: ENDPOINTS,
    request: makeRequest({ promptTokens: 100 }),
    draft: { body: [Buffer.from("{}")] },
    ...options,
  });

const makeParts = (limits: Partial<Limits> = {}, retries: Partial<RetrySettings> = {}) =>
  new MemoryParts({
    endpoints: ENDPOINTS,
    limits: { connectTimeoutMs: CONNECT_MS, responseTimeoutMs: RESPONSE_MS, ...limits },
    retries,
  });

/** What a replica does with the newest connection to it. */
type Conduct = (world: ForwardWorld, endpoint: Endpoint) => void | Promise<void>;
const sends =
  (bytes: string): Conduct =>
  ({ parts }, endpoint) =>
    parts.upstreamOf(endpoint).send(bytes);
/** A stream that begins, and then does this. */
const breaks =
  (finish: (socket: ReturnType<MemoryParts["upstreamOf"]>["socket"]) => void): Conduct =>
  ({ parts }, endpoint) => {
    parts.upstreamOf(endpoint).send(STREAM_HEAD + chunkOf("data: 1\n\n"));
    finish(parts.upstreamOf(endpoint).socket);
  };
const CONDUCTS = {
  refuses: ({ parts }, endpoint) => parts.upstreamOf(endpoint).refuse(),
  never: ({ parts }) => parts.clock.advance(CONNECT_MS + 100),
  answers: sends(OK),
  babbles: sends("HELLO\r\n\r\n"),
  full: sends(jsonAnswer('{"error":"full"}', "503 Service Unavailable", "Retry-After: 7\r\n")),
  limits: sends(jsonAnswer('{"error":"full"}', "429 Too Many Requests", "Retry-After: 7\r\n")),
  leaves: ({ parts }, endpoint) => parts.pool.load.replaced(endpoint.slot, false),
  thinks: ({ parts }) => parts.clock.advance(1_000),
  resets: ({ parts }, endpoint) => parts.upstreamOf(endpoint).accept().receiveReset(),
  isSilent({ parts }, endpoint) {
    parts.upstreamOf(endpoint).accept();
    return parts.clock.advance(RESPONSE_MS + 100);
  },
  breaksOff: breaks((socket) => socket.receiveReset()),
  breaksChunks: breaks((socket) => socket.receive(Buffer.from("zz\r\n"))),
} satisfies Readonly<Record<string, Conduct>>;
type Step = `e${0 | 1 | 2} ${keyof typeof CONDUCTS}`;

/** What is so before the request comes. */
type Before = (parts: MemoryParts) => void | Promise<void>;
const isSaturated =
  (endpoint: Endpoint): Before =>
  (parts) =>
    void parts.upstreamOf(endpoint).take(true);
const isRemoved =
  (endpoint: Endpoint): Before =>
  (parts) =>
    parts.pool.load.replaced(endpoint.slot, false);
/** One request has been answered there, and its connection is kept. */
const isKept =
  (endpoint: Endpoint, answer = OK): Before =>
  (parts) => {
    setUp({ parts }).forward.begin(parts.clock.now());
    parts.upstreamOf(endpoint).send(answer);
  };
const OK_FOR_5_S = OK.replace("\r\n\r\n", "\r\nKeep-Alive: timeout=5\r\n\r\n");
const isIdle =
  (ms: number): Before =>
  (parts) =>
    parts.clock.advance(ms);

/** The same at the second endpoint, after the first one refused. */
const isKeptBehind =
  (first: Endpoint, endpoint: Endpoint): Before =>
  (parts) => {
    const { forward } = makeForward({ endpoints: [endpoint, first], parts, request: makeRequest({ promptTokens: 100 }) });
    forward.begin(parts.clock.now());
    parts.upstreamOf(endpoint).send(OK);
  };

/** Two have been answered there at once, and both connections are kept. */
const isKeptTwice =
  (endpoint: Endpoint): Before =>
  (parts) => {
    for (let i = 0; i < 2; i++) setUp({ parts }).forward.begin(parts.clock.now());
    for (const socket of parts.upstreamOf(endpoint).sockets) parts.upstreamOf(endpoint).send(OK, socket);
  };

interface Row {
  readonly name: string;
  readonly limits?: Partial<Limits>;
  readonly retries?: Partial<RetrySettings>;
  readonly before?: readonly Before[];
  /** In the order in which they happen. */
  readonly steps: readonly Step[];
  readonly attempts: readonly string[];
  readonly end: string;
  /** Whom the prober is told of. */
  readonly told?: readonly string[];
}

const rows: readonly Row[] = [
  {
    name: "one that refuses, then one that answers",
    steps: ["e0 refuses", "e1 answers"],
    attempts: ["e0 connect-failed", "e1 200"],
    end: "complete",
    told: ["e0"],
  },
  {
    name: "one that neither accepts nor refuses, then one that answers",
    steps: ["e0 never", "e1 answers"],
    attempts: ["e0 connect-timeout", "e1 200"],
    end: "complete",
    told: ["e0"],
  },
  {
    name: "all refuse",
    steps: ["e0 refuses", "e1 refuses", "e2 refuses"],
    attempts: ["e0 connect-failed", "e1 connect-failed", "e2 connect-failed"],
    end: "upstream_unreachable",
    told: ["e0", "e1", "e2"],
  },
  {
    name: "all refuse, and one retry is allowed",
    limits: { retries: 1 },
    steps: ["e0 refuses", "e1 refuses"],
    attempts: ["e0 connect-failed", "e1 connect-failed"],
    end: "upstream_unreachable",
    told: ["e0", "e1"],
  },
  {
    name: "one that is full, then one that answers",
    steps: ["e0 full", "e1 answers"],
    attempts: ["e0 503", "e1 200"],
    end: "complete",
  },
  {
    name: "all are full: the last one's own words",
    steps: ["e0 full", "e1 full", "e2 limits"],
    attempts: ["e0 503", "e1 503", "e2 429"],
    end: "complete",
  },
  {
    name: "one without a connection to spare costs no retry",
    limits: { upstreamConnections: 1, retries: 0 },
    before: [isSaturated(E0), isSaturated(E1)],
    steps: ["e2 answers"],
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
    steps: ["e1 answers"],
    attempts: ["e0 removed", "e1 200"],
    end: "complete",
  },
  {
    name: "the client is told of the first failure, whatever is in the way of the others",
    limits: { upstreamConnections: 1 },
    before: [isRemoved(E1), isSaturated(E2)],
    steps: ["e0 refuses"],
    attempts: ["e0 connect-failed", "e1 removed", "e2 saturated"],
    end: "upstream_unreachable",
    told: ["e0"],
  },
  {
    name: "a kept connection that ends, then a fresh one to the same replica though another is kept",
    before: [isKeptTwice(E0)],
    steps: ["e0 resets", "e0 answers"],
    retries: { budgetShare: 0, budgetLeast: 0 },
    attempts: ["e0 stale", "e0 200"],
    end: "complete",
  },
  ...(["refuses", "never"] as const).map(
    (conduct): Row => ({
      name: `a kept connection that ends, and the replica ${conduct}: it may have died of the request, and nobody else gets it`,
      before: [isKept(E0)],
      steps: ["e0 resets", `e0 ${conduct}`],
      attempts: ["e0 stale", conduct === "refuses" ? "e0 connect-failed" : "e0 connect-timeout"],
      end: "upstream_reset",
      told: ["e0"],
    }),
  ),
  {
    name: "a kept connection that ends, and its replica leaves: nobody else gets it",
    before: [isKept(E0)],
    steps: ["e0 leaves", "e0 resets"],
    attempts: ["e0 stale", "e0 removed"],
    end: "upstream_reset",
  },
  {
    name: "a kept connection that was idle for as long as its replica keeps one, and the replica refuses: another one gets it",
    limits: { upstreamIdleTimeoutMs: 60_000 },
    before: [isKept(E0, OK_FOR_5_S), isIdle(5_000)],
    steps: ["e0 resets", "e0 refuses", "e1 answers"],
    attempts: ["e0 stale", "e0 connect-failed", "e1 200"],
    end: "complete",
    told: ["e0"],
  },
  {
    name: "the same, idle for less: nobody else gets it",
    before: [isKept(E0, OK_FOR_5_S), isIdle(3_000)],
    steps: ["e0 resets", "e0 refuses"],
    attempts: ["e0 stale", "e0 connect-failed"],
    end: "upstream_reset",
    told: ["e0"],
  },
  {
    name: "a kept connection that ends, and the replica is full: it lives, so that another one gets it, on a fresh one though one is kept",
    before: [isKept(E0), isKeptBehind(E0, E1)],
    steps: ["e0 resets", "e0 full", "e1 resets"],
    attempts: ["e0 stale", "e0 503", "e1 reset"],
    end: "upstream_reset",
  },
  {
    name: "a kept connection that ends, and the fresh one, too: nobody else gets it",
    before: [isKept(E0)],
    steps: ["e0 thinks", "e0 resets", "e0 resets"],
    attempts: ["e0 stale", "e0 reset"],
    end: "upstream_reset",
  },
  {
    name: "a kept connection that ends, and no fresh try is allowed",
    retries: { stale: false },
    before: [isKept(E0)],
    steps: ["e0 resets"],
    attempts: ["e0 stale"],
    end: "upstream_reset",
  },
  ...(
    [
      ["reset under the request", "resets", "reset", "upstream_reset"],
      ["silence", "isSilent", "timeout", "upstream_timeout"],
      ["no HTTP", "babbles", "invalid", "upstream_invalid"],
      ["reset in mid-body", "breaksOff", "reset", "upstream_reset"],
      ["no chunk", "breaksChunks", "invalid", "upstream_invalid"],
    ] as const
  ).map(
    ([name, conduct, result, end]): Row => ({
      name: `${name}: one try`,
      steps: [`e0 ${conduct}`],
      attempts: [`e0 ${result}`],
      end,
    }),
  ),
];

function readStep(step: Step): readonly [Endpoint, Conduct] {
  const [name, conduct] = step.split(" ") as [string, keyof typeof CONDUCTS];
  return [ENDPOINTS.find((endpoint) => endpoint.name === name)!, CONDUCTS[conduct]];
}

describe("a request is tried in turn", () => {
  for (const { name, limits, retries, before = [], steps, attempts, end, told = [] } of rows) {
    it(`${name}: ${end}`, async () => {
      const world = setUp({ parts: makeParts(limits, retries) });
      const { parts, forward, ticket, ends } = world;
      for (const make of before) await make(parts);
      const connections = () => ENDPOINTS.map((each) => parts.upstreamOf(each).sockets.length);
      const connectionsBefore = connections();
      forward.begin(parts.clock.now());
      for (const step of steps) {
        const [endpoint, conduct] = readStep(step);
        assert.deepEqual(ends, [], "it goes on");
        assert.equal(parts.pool.load.inFlight[endpoint.slot], 1, "it counts where it is");
        assert.equal(outstanding(parts).inFlight, 1, "and nowhere else");
        await conduct(world, endpoint);
      }
      assert.deepEqual(ends, [end]);
      forward.close();
      assert.deepEqual(shownTries(ticket), attempts);
      assert.deepEqual(parts.pool.connectFailures, told);
      assert.deepEqual(outstanding(parts), { inFlight: 0, prefillTokens: 0 });
      const tried = new Set(steps.map((step) => readStep(step)[0]));
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
    { name: "a target of the config", onDemand: "configured", end: "missed the target" },
    {
      name: "a target of the config needs no retry",
      onDemand: "configured",
      limits: { retries: 0 },
      end: "missed the target",
    },
    { name: "a name that a client gave", onDemand: "asked", end: "missed the target" },
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
      const { parts, response, forward, ticket, ends } = setUp({
        parts: makeParts(limits, retries),
        request: makeRequest({ target: "v1", onDemand }),
      });
      forward.begin(parts.clock.now());
      parts.upstreamOf(E0).send(MISSING);
      assert.deepEqual(ends, [end]);
      assert.equal(response.status, end === "complete" ? 404 : 0);
      forward.close();
      assert.deepEqual(shownTries(ticket), ["e0 404"]);
      assert.deepEqual(outstanding(parts), { inFlight: 0, prefillTokens: 0 });
    });
  }
});

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
