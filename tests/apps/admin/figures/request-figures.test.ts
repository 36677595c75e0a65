import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { RequestFigures } from "../../../../apps/admin/figures/request-figures.ts";
import type { Outcome } from "../../../../core/contract/outcome.ts";
import { makeOutcome } from "../../../../core/test-kit/records.ts";
import { makeEndpoint, makeRequest } from "../../../support/endpoints.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const e0 = makeEndpoint(0);
const e1 = makeEndpoint(1);

const at = (endpoint: string, result: number | "reset" | "aborted") => ({ endpoint, result, startedMs: 0, endedMs: 1 });

function figuresAfter(...outcomes: readonly Partial<Outcome>[]): RequestFigures {
  const clock = new FakeClock();
  const figures = new RequestFigures(clock);
  figures.follow([e0, e1]);
  for (const outcome of outcomes) figures.ended(makeOutcome(outcome), clock.now());
  return figures;
}

describe("a request counts where it ended, and against whoever failed it", () => {
  const none = { requests: 0, clientErrors: 0, clientsLeft: 0, replicaErrors: 0, overloads: 0 };
  const nobody = { requests: 1, clientErrors: 0, clientsLeft: 0, routerErrors: 0, replicaErrors: 0 };
  type Row = typeof none;
  const cases: readonly [
    name: string,
    outcome: Partial<Outcome>,
    e0: Partial<Row>,
    e1: Partial<Row>,
    pool: Partial<typeof nobody>,
  ][] = [
    ["served", {}, {}, { requests: 1 }, {}],
    ["a bad request", { status: 400, attempts: [at("e0", 400)] }, { requests: 1, clientErrors: 1 }, {}, { clientErrors: 1 }],
    [
      "the client left",
      { status: 0, ending: "client-left", attempts: [at("e0", "aborted")] },
      { requests: 1, clientErrors: 1, clientsLeft: 1 },
      {},
      { clientErrors: 1, clientsLeft: 1 },
    ],
    ["a replica's 500", { status: 500, attempts: [at("e0", 500)] }, { requests: 1, replicaErrors: 1 }, {}, { replicaErrors: 1 }],
    [
      "one replica refused, another one served",
      { attempts: [at("e0", 503), at("e1", 200)] },
      { overloads: 1 },
      { requests: 1 },
      {},
    ],
    [
      "one replica failed, another one served",
      { attempts: [at("e0", "reset"), at("e1", 200)] },
      { replicaErrors: 1 },
      { requests: 1 },
      {},
    ],
    [
      "nobody was there",
      { status: 503, error: { code: "no_ready_endpoint", message: "" }, attempts: [] },
      {},
      {},
      { routerErrors: 1 },
    ],
    ["an endpoint that has left the pool", { attempts: [at("gone", 500)], status: 500 }, {}, {}, { replicaErrors: 1 }],
    ["a health probe", { api: "", attempts: [] }, {}, {}, { requests: 0 }],
  ];
  for (const [name, outcome, first, second, pool] of cases) {
    it(name, () => {
      const figures = figuresAfter(outcome);
      const picked = (shown: object, keys: object) =>
        Object.fromEntries(Object.keys(keys).map((key) => [key, Reflect.get(shown, key)]));
      assert.deepEqual(picked(figures.of(e0), none), { ...none, ...first });
      assert.deepEqual(picked(figures.of(e1), none), { ...none, ...second });
      assert.deepEqual(picked(figures.pool, nobody), { ...nobody, ...pool });
    });
  }
});

describe("failures are an alarm by a share of the requests and a time", () => {
  const failed = { status: 502, attempts: [at("e1", 500)] };
  /** So many requests and failures, and how many seconds later the next. */
  type Step = readonly [served: number, failed: number, laterS: number];
  const cases: readonly [name: string, steps: readonly Step[], isFailing: boolean][] = [
    ["nothing was asked", [], false],
    ["the only one failed", [[0, 1, 0]], true],
    ["one of 4,188", [[4_187, 1, 0]], false],
    ["one in a hundred", [[99, 1, 0]], false],
    ["two in a hundred", [[98, 2, 0]], true],
    ["two in a hundred, and nothing was asked since", [[98, 2, 120]], true],
    [
      "a burst, and a minute and a half without a failure",
      [
        [50, 50, 90],
        [10, 0, 0],
      ],
      false,
    ],
    [
      "a burst, and half a minute without a failure",
      [
        [50, 50, 30],
        [10, 0, 0],
      ],
      true,
    ],
    [
      "a burst, and one more failure two minutes later",
      [
        [50, 50, 120],
        [10, 1, 0],
      ],
      true,
    ],
    ["a burst that is older than the figures", [[0, 50, 300]], false],
  ];
  for (const [name, steps, isFailing] of cases) {
    it(name, async () => {
      const clock = new FakeClock();
      const figures = new RequestFigures(clock);
      figures.follow([e0, e1]);
      for (const [served, bad, laterS] of steps) {
        for (let n = 0; n < served + bad; n++) figures.ended(makeOutcome(n < served ? {} : failed), clock.now());
        await clock.advance(laterS * 1000);
      }
      assert.deepEqual(
        [figures.pool.isFailing, figures.of(e1).isFailing, figures.of(e0).isFailing],
        [isFailing, isFailing, false],
      );
    });
  }
});

test("an engine that reports no tokens has no speed, and one without requests has none to report", () => {
  const figures = figuresAfter({ outputTokens: Number.NaN });
  assert.deepEqual([figures.of(e1).outputTokensPerS, figures.of(e0).outputTokensPerS], [null, 0]);
});

test("times and tokens count at the last endpoint; the first byte of an error is no token", () => {
  const usage = { promptTokens: 100, cachedTokens: 60, outputTokens: 10 };
  const request = makeRequest({ isStream: true });
  const figures = figuresAfter({ usage, outputTokens: 10, request }, { status: 500, attempts: [at("e1", 500)], firstByteMs: 1 });
  assert.equal(figures.of(e1).hitRate, 0.6);
  assert.ok((figures.of(e1).ttftP50Ms ?? 0) > 80);
  assert.equal(figures.of(e1).outputTokensPerS, 10);
  assert.equal(figures.of(e0).hitRate, null);
});

test("a response that is not streamed shows no time to the first token", () => {
  assert.equal(figuresAfter({ request: makeRequest({ isStream: false }) }).of(e1).ttftP50Ms, null);
});

test("no more tokens are cached than the prompt has, whatever a replica reports", () => {
  const usage = { promptTokens: 100, cachedTokens: 500, outputTokens: 10 };
  assert.equal(figuresAfter({ usage }).of(e1).hitRate, 1);
});

test("only streams show how fast tokens come one after another", () => {
  const times = { ...makeOutcome().times, firstByteMs: 100, endMs: 600 };
  const of = (isStream: boolean) =>
    figuresAfter({ times, outputTokens: 51, request: makeRequest({ isStream }) }).of(e1).streamTokensPerS;
  assert.equal(of(true), 100);
  assert.equal(of(false), null);
});

test("a replica that reports no cached tokens has no hit rate", () => {
  const usage = { promptTokens: 100, cachedTokens: undefined, outputTokens: 10 };
  assert.equal(figuresAfter({ usage }).of(e1).hitRate, null);
});

test("figures stay while an endpoint is listed, and go with it", () => {
  const figures = figuresAfter({});
  figures.follow([e1]);
  assert.equal(figures.of(e1).requests, 1);
  figures.follow([e0]);
  figures.follow([e0, e1]);
  assert.equal(figures.of(e1).requests, 0);
  assert.equal(figures.pool.requests, 1);
});
