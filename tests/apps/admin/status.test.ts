import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { statusOf } from "../../../apps/admin/status.ts";
import type { TargetMapping } from "../../../core/contract/rewriter.ts";
import { DEFAULT_LIMITS } from "../../../core/settings.ts";
import { makeEndpoint, makeLoad } from "../../support/endpoints.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { NO_FIGURES, NO_HISTORY } from "../../support/figures.ts";
import { makeMapping, makeShownConfig, makeShownRouter, makeSite, withMappings } from "../../support/view.ts";

const LISTEN = { host: "127.0.0.1", port: 8080 };
const QUIET = { ...NO_FIGURES, replicaErrors: 0, isFailing: false };
const endpoints = [
  makeEndpoint(0, { models: ["base", "v1"], labels: { gpu: "h100" } }),
  makeEndpoint(1, { phase: "not-ready", models: ["base", "v2"] }),
];

test("the router and its pool at one moment", async () => {
  const clock = new FakeClock();
  await clock.advance(90_500);
  const router = makeShownRouter(endpoints, {
    config: withMappings(makeMapping("food/0", { v1: 90, v2: 10 })),
    load: makeLoad(2, {
      inFlight: [3, 0],
      prefillTokens: [700, 0],
      waiting: [1, Number.NaN],
      running: [2, Number.NaN],
      kvUsage: [0.5, Number.NaN],
      attributes: [new Map([["GPUUtilization", 0.75]])],
      scrapedAtMs: [90_000, Number.NaN],
      freshness: [1, 0],
    }),
    pool: { prefixStats: { entries: 10, maxEntries: 100, bytes: 4096, slots: [] } },
    connections: { openTo: ({ slot }) => slot + 4 },
    control: { probeFailure: ({ slot }) => (slot === 1 ? "refused" : "") },
  });
  const status = statusOf(makeSite(router, { clock, listen: LISTEN }));
  assert.deepEqual(JSON.parse(JSON.stringify(status)), {
    time: "2030-01-01T00:01:30.500Z",
    startedAt: "2030-01-01T00:00:00.000Z",
    uptimeS: 90,
    pool: "llama",
    sources: ["signalbox.yaml"],
    config: { generation: 1, overlay: [], lastReload: null },
    configText: [
      `Generation 1, from signalbox.yaml; listens on ${LISTEN.host}:${LISTEN.port}.`,
      "Profile default: filters none; scorers none; picker in-order.",
      "It has not been changed since the start.",
    ],
    listen: LISTEN,
    clientConnections: 7,
    acceptPauses: 0,
    admission: null,
    warnings: [
      'No ready replica serves "v2", a target of the rewrite food/0: its requests get 503, unless a replica loads it when asked. Load it or set its weight to 0.',
    ],
    isWell: false,
    summary: "1 of 2 replicas serves: e1 is not-ready; no requests in the last 0 s.",
    traffic: {
      ...QUIET,
      routerErrors: 0,
      history: NO_HISTORY,
    },
    endpoints: [
      {
        name: "e0",
        url: "http://127.0.0.1:8000",
        phase: "ready",
        state: "ready",
        since: "2030-01-01T00:00:00.000Z",
        why: "",
        isAvailable: true,
        ejected: "",
        intent: null,
        ejections: 0,
        share: 1,
        failure: "",
        lastCheckAgoMs: null,
        nextCheckInMs: null,
        labels: { gpu: "h100" },
        models: ["base", "v1"],
        inFlight: 3,
        prefillTokens: 700,
        connections: 4,
        waiting: 1,
        running: 2,
        kvUsage: 0.5,
        attributes: { GPUUtilization: 0.75 },
        scrapedAgoMs: 500,
        freshness: 1,
        figures: { ...QUIET, overloads: 0 },
      },
      {
        name: "e1",
        url: "http://127.0.0.1:8001",
        phase: "not-ready",
        since: "2030-01-01T00:00:00.000Z",
        why: "refused (its last probe)",
        state: "not-ready: refused (its last probe)",
        isAvailable: false,
        ejected: "",
        intent: null,
        ejections: 0,
        share: 1,
        failure: "refused",
        lastCheckAgoMs: null,
        nextCheckInMs: null,
        labels: {},
        models: ["base", "v2"],
        inFlight: 0,
        prefillTokens: 0,
        connections: 5,
        waiting: null,
        running: null,
        kvUsage: null,
        attributes: {},
        scrapedAgoMs: null,
        freshness: 0,
        figures: { ...QUIET, overloads: 0 },
      },
    ],
    profile: { name: "default", filters: [], scorers: [], picker: { name: "in-order", type: "in-order" } },
    rewrites: [
      {
        name: "food/0",
        models: ["food-review"],
        targets: [
          { name: "v1", weight: 90, share: 0.9, readyEndpoints: 1, onDemandEndpoints: 0, figures: null, guard: null },
          { name: "v2", weight: 10, share: 0.1, readyEndpoints: 0, onDemandEndpoints: 0, figures: null, guard: null },
        ],
        onUnavailable: "refuse",
        mirrors: [],
      },
    ],
    conversations: null,
    stored: null,
    scale: null,
    sessions: null,
    shadow: null,
    kvEvents: null,
    shared: null,
    prefixIndex: { entries: 10, maxEntries: 100, bytes: 4096 },
    memory: { limitBytes: 1000, bodyBytes: 0, unreadBytes: 0, refusals: 0 },
    limits: DEFAULT_LIMITS,
  });
});

describe("warnings", () => {
  const cases: readonly [
    name: string,
    pool: typeof endpoints,
    mappings: readonly TargetMapping[],
    warnings: readonly RegExp[],
  ][] = [
    ["none if all is well", [endpoints[0]!], [makeMapping("food/0", { v1: 1 })], []],
    ["none for a drained target", [endpoints[0]!], [makeMapping("food/0", { v1: 1, v2: 0 })], []],
    ["an empty pool", [], [], [/^The pool has no replicas: add some/]],
    [
      "no replica ready, without the warnings that follow from it",
      [endpoints[1]!],
      [makeMapping("food/0", { v1: 1 })],
      [/^No replica is ready/],
    ],
    [
      "a target that gives way",
      [endpoints[0]!],
      [makeMapping("food/0", { v1: 1, v2: 1 }, { onUnavailable: "redistribute" })],
      [/"v2".*its requests go to its other targets, unless a replica loads it/],
    ],
  ];
  for (const [name, pool, mappings, wanted] of cases) {
    it(name, () => {
      const { warnings } = statusOf(makeSite(makeShownRouter(pool, { config: withMappings(...mappings) })));
      assert.equal(warnings.length, wanted.length);
      for (const [index, pattern] of wanted.entries()) assert.match(warnings[index]!, pattern);
    });
  }

  it("what is wrong with a feature's section, and what features say themselves", () => {
    const pool = [makeEndpoint(0, { models: ["v1"] })];
    const place = { file: "a.yaml", line: 5, column: 3 };
    const unknown = { ...place, path: "spec.guards[0].rule", found: '"foot", which is no rewrite', wanted: "", hint: "" };
    const running = makeShownConfig({}, [unknown, { ...unknown, path: "spec.rules[0]" }]);
    const router = makeShownRouter(pool, { judge: { isPanicking: true } });
    assert.deepEqual(statusOf(makeSite(router, { running })).warnings, [
      'a.yaml:5:3  spec.guards[0].rule  found "foot", which is no rewrite.',
      "More replicas fail than may be ejected, so all that are up are used: the list of replicas says why each was ejected.",
    ]);
  });

  it("slow plugins, and what becomes of them", () => {
    const slow = { isSlow: true, timedRequests: 100, timedMs: 500 } as const;
    const slowPlugins = [
      { ...slow, kind: "filter", name: "mine", meanMs: 3.04, hasNoVote: false },
      { ...slow, kind: "scorer", name: "other", meanMs: 8, hasNoVote: true },
    ] as const;
    const pool = [endpoints[0]!];
    const { warnings } = statusOf(makeSite(makeShownRouter(pool, { times: { slow: slowPlugins } })));
    assert.deepEqual(warnings, [
      'The filter "mine" takes 3.0 ms per request, more than limits.pluginMs.',
      'The scorer "other" takes 8.0 ms per request, more than limits.pluginMs. It has no vote until it is faster.',
    ]);
  });
});
