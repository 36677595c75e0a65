import assert from "node:assert/strict";
import { test } from "node:test";
import { statusText } from "../../../../apps/cli/commands/status.ts";
import { DEFAULT_LIMITS } from "../../../../core/settings.ts";
import type { WholeStatus } from "../../../support/features.ts";
import { NO_FIGURES, NO_HISTORY } from "../../../support/figures.ts";
import { TEXTS } from "../../../support/section-modules.ts";

/** A target without requests and without a guard. */
const UNSEEN = { figures: null, guard: null };

const figures: WholeStatus["endpoints"][number]["figures"] = {
  ...NO_FIGURES,
  windowS: 300,
  replicaErrors: 0,
  overloads: 0,
  isFailing: false,
};

const gpu1: WholeStatus["endpoints"][number] = {
  name: "gpu-1",
  url: "http://gpu1:8000",
  phase: "ready",
  since: "2030-01-01T00:00:00.000Z",
  why: "",
  state: "ready",
  isAvailable: true,
  ejected: "",
  intent: null,
  ejections: 0,
  share: 1,
  failure: "",
  lastCheckAgoMs: 400,
  nextCheckInMs: 600,
  labels: {},
  models: ["base", "v1", "v2", "v3", "v4", "v5"],
  inFlight: 3,
  prefillTokens: 12_345,
  connections: 4,
  waiting: 0,
  running: 3,
  attributes: {},
  kvUsage: 0.456,
  scrapedAgoMs: 400,
  freshness: 1,
  figures,
};
const unknown = { waiting: null, running: null, kvUsage: null, scrapedAgoMs: null, freshness: 0 };

const status: WholeStatus = {
  time: "2030-01-01T00:00:00.000Z",
  startedAt: "2030-01-01T00:00:00.000Z",
  uptimeS: 8_000,
  pool: "llama",
  sources: ["signalbox.yaml", "rewrites.yaml"],
  config: { generation: 1, overlay: [], lastReload: null },
  configText: [],
  listen: { host: "127.0.0.1", port: 8080 },
  clientConnections: 7,
  acceptPauses: 0,
  memory: { limitBytes: 1000, bodyBytes: 0, unreadBytes: 0, refusals: 0 },
  isWell: false,
  summary: "1 of 2 replicas serves.",
  warnings: ["Something is amiss."],
  traffic: {
    ...figures,
    routerErrors: 0,
    history: NO_HISTORY,
  },
  endpoints: [
    gpu1,
    {
      ...gpu1,
      ...unknown,
      name: "gpu-2",
      phase: "not-ready",
      state: "not-ready: refused (its last probe)",
      isAvailable: false,
      failure: "refused",
      models: [],
      inFlight: 0,
      prefillTokens: 0,
      connections: 0,
    },
  ],
  profile: {
    name: "default",
    filters: [
      { name: "ready", type: "ready" },
      { name: "mine", type: "label-selector" },
    ],
    scorers: [{ name: "outstanding-work", type: "outstanding-work", weight: 2 }],
    picker: { name: "max-score", type: "max-score" },
  },
  rewrites: [
    {
      name: "food/0",
      models: ["food"],
      onUnavailable: "refuse",
      targets: [
        { name: "v1", weight: 90, share: 0.9, readyEndpoints: 1, onDemandEndpoints: 0, ...UNSEEN },
        { name: "v9", weight: 10, share: 0.1, readyEndpoints: 0, onDemandEndpoints: 0, ...UNSEEN },
      ],
      mirrors: [],
    },
    {
      name: "all/0",
      models: [],
      onUnavailable: "refuse",
      targets: [{ name: "base", weight: 1, share: 1, readyEndpoints: 1, onDemandEndpoints: 0, ...UNSEEN }],
      mirrors: [],
    },
  ],
  shadow: null,
  prefixIndex: null,
  limits: DEFAULT_LIMITS,
};

test("the state of a router as text", () => {
  assert.equal(
    statusText(status, TEXTS),
    `Pool "llama": 1 of 2 replicas ready, up 2 h 13 min, config: signalbox.yaml, rewrites.yaml
! 1 of 2 replicas serves.
! Something is amiss.

replica  phase                                in flight  prefill tokens  waiting  running  KV cache  connections  models
gpu-2    not-ready: refused (its last probe)          0               0        -        -         -            0
gpu-1    ready                                        3          12,345        0        3     45.6%            4  base, v1, v2, v3 and 2 more

rewrites
  food -> v1 90% on 1, v9 10% on no ready replica  (food/0)
  every model -> base 100% on 1  (all/0)

profile default: filters ready, mine; scorers outstanding-work x 2; picker max-score
`,
  );
});

test("where all replicas serve, the line that says so has no mark, whatever else needs attention", () => {
  const summary = "The replica serves; no requests in the last 5 minutes.";
  const lines = statusText({ ...status, endpoints: [gpu1], summary }, TEXTS).split("\n");
  assert.deepEqual(lines.slice(1, 3), [`  ${summary}`, "! Something is amiss."]);
  const failing = { ...status, endpoints: [gpu1], summary, traffic: { ...status.traffic, isFailing: true } };
  assert.equal(statusText(failing, TEXTS).split("\n")[1], `! ${summary}`);
});

test("what was changed through the admin API", () => {
  const change = { rewrite: "food", by: "10.0.0.1", reason: "", since: "2030-01-01T00:00:00.000Z" };
  const overlay = [
    { ...change, by: "guard food/0 v2", reason: "v2 fails.", isDeleted: false, until: null },
    { ...change, isDeleted: false, until: "2030-01-01T01:00:00.000Z" },
    { ...change, isDeleted: true, until: null },
  ];
  const lines = statusText({ ...status, config: { ...status.config, overlay } }, TEXTS).split("\n");
  assert.deepEqual(
    lines.filter((line) => line.startsWith("rewrite ")),
    [
      'rewrite food changed beside the files by guard food/0 v2 at 2030-01-01T00:00:00.000Z, until "signalbox revert rewrite food": v2 fails.',
      "rewrite food changed beside the files by 10.0.0.1 at 2030-01-01T00:00:00.000Z, until 2030-01-01T01:00:00.000Z",
      'rewrite food deleted beside the files by 10.0.0.1 at 2030-01-01T00:00:00.000Z, until "signalbox revert rewrite food"',
    ],
  );
});

test("what the operator wants of an endpoint", () => {
  const intent = {
    kind: "drain",
    reason: "new driver",
    by: "",
    since: "2030-01-01T00:00:00.000Z",
    until: null,
    isEmpty: false,
  } as const;
  const state = "draining: new driver; asked by the operator; requests are under way";
  const draining = { ...gpu1, phase: "draining", isAvailable: false, intent, state } as const;
  assert.match(
    statusText({ ...status, endpoints: [draining] }, TEXTS),
    /^gpu-1 +draining: new driver; asked by the operator; requests are under way /m,
  );
});

test("the state of a router without endpoints, just started", () => {
  assert.equal(
    statusText(
      {
        ...status,
        uptimeS: 5,
        warnings: [],
        endpoints: [],
        rewrites: [],
        profile: { ...status.profile, filters: [], scorers: [] },
      },
      TEXTS,
    ),
    `Pool "llama": 0 of 0 replicas ready, up 5 s, config: signalbox.yaml, rewrites.yaml
! 1 of 2 replicas serves.

replica  phase  in flight  prefill tokens  waiting  running  KV cache  connections  models

profile default: filters none; scorers none; picker max-score
`,
  );
});

/** The replicas' names, in the order in which they are shown. */
const shownNames = (text: string) => text.split("\n").flatMap((line) => /^(r\d+) /.exec(line)?.[1] ?? []);

const bad = (phase: (typeof gpu1)["phase"], why = "") =>
  ({ phase, why, state: why === "" ? phase : `${phase}: ${why}`, isAvailable: phase === "cordoned" }) as const;

test("the status has the worst replicas first, as the page does", () => {
  const states = [
    {},
    bad("draining"),
    bad("ejected", "5 resets"),
    bad("not-ready"),
    { why: "80 % of its share" },
    bad("not-ready", "refused"),
  ];
  const endpoints = states.map((state, index) => ({ ...gpu1, name: `r${index}`, ...state }));
  assert.deepEqual(shownNames(statusText({ ...status, endpoints }, TEXTS)), ["r5", "r3", "r2", "r1", "r4", "r0"]);
});

test("in 80 columns names are cut in their middle, and why a replica is out of use is never cut", () => {
  const why = "connect ECONNREFUSED 10.0.0.7:8000 (its last probe); it has been so since the node was replaced";
  const name = "vllm-llama-3-70b-instruct-7f9c5d-abcde.default";
  const endpoints = [{ ...gpu1, name, ...bad("not-ready", why) }, gpu1];
  const lines = statusText({ ...status, endpoints }, TEXTS, 80).split("\n");
  const at = lines.findIndex((line) => line.startsWith("vllm-"));
  assert.match(lines[at]!, /^vllm-l…fault +not-ready +3 .*…/);
  assert.match(lines[at + 1]!, /^ {2}not-ready: connect ECONNREFUSED/);
  assert.equal(
    lines
      .slice(at + 1, at + 3)
      .join(" ")
      .replaceAll(/ +/g, " ")
      .trim(),
    `not-ready: ${why}`,
  );
  assert.match(lines[at + 3]!, /^gpu-1 +ready /);
  for (const line of lines.slice(at - 2, at + 4)) assert.ok(line.length <= 80, line);
});

test("a large pool is shortened, and the status says how to see all of it", () => {
  const endpoints = Array.from({ length: 70 }, (_, index) => ({
    ...gpu1,
    name: `r${index}`,
    ...(index % 7 === 0 && bad("not-ready")),
  }));
  const text = statusText({ ...status, endpoints }, TEXTS, undefined, 8);
  assert.deepEqual(shownNames(text), ["r0", "r7", "r14", "r21", "r28", "r35", "r42", "r49"]);
  assert.match(text, /^… and 62 more replicas, 2 of them not in service: signalbox status --all shows them$/m);
  assert.match(statusText({ ...status, endpoints }, TEXTS, undefined, 20), /^… and 50 more replicas, all in service: /m);
  assert.equal(shownNames(statusText({ ...status, endpoints }, TEXTS)).length, 70);
});
