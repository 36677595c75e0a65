import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import type { Limits, RetrySettings } from "../../../core/settings.ts";
import { makeRequest } from "../../support/endpoints.ts";
import { makeForward, shownTries } from "../../support/forward.ts";
import { outstanding } from "../../support/router.ts";
import { jsonAnswer } from "../../support/scripted-replica.ts";
import {
  type Before,
  CONDUCTS,
  type Conduct,
  E0,
  E1,
  E2,
  ENDPOINTS,
  isSaturated,
  makeParts,
  OK,
  setUp,
} from "./forward-conducts.ts";

type Step = `e${0 | 1 | 2} ${keyof typeof CONDUCTS}`;

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
