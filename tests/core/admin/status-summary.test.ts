import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { endpointStatus } from "../../../core/admin/endpoint-status.ts";
import { summaryOf } from "../../../core/admin/status-summary.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { PoolFigures } from "../../../core/state/request-figures.ts";
import { makeEndpoint } from "../../support/endpoints.ts";
import { makeShownRouter, makeView } from "../../support/view.ts";

const up = (slot: number) => makeEndpoint(slot);
const out = (slot: number, phase: Endpoint["phase"]) => makeEndpoint(slot, { phase });
const QUIET = { requests: 0, windowS: 300, routerErrors: 0, replicaErrors: 0 };

describe("one line says whether all is well", () => {
  const cases: readonly [
    endpoints: readonly Endpoint[],
    traffic: Partial<PoolFigures>,
    warnings: readonly string[],
    isWell: boolean,
    summary: string,
  ][] = [
    [[up(0)], {}, [], true, "The replica serves; no requests in the last 5 minutes."],
    [[up(0), up(1)], { requests: 500 }, [], true, "All 2 replicas serve; none of 500 requests failed in the last 5 minutes."],
    [[], { windowS: 60 }, [], false, "The pool has no replicas; no requests in the last 60 s."],
    [
      [up(0), out(1, "ejected")],
      { requests: 100, replicaErrors: 9, routerErrors: 2 },
      [],
      false,
      "1 of 2 replicas serves: e1 is ejected; 11 of 100 requests failed in the last 5 minutes (9 through replicas, 2 in the router).",
    ],
    [
      [up(0), ...[1, 2, 3, 4, 5].map((slot) => out(slot, "not-ready"))],
      {},
      [],
      false,
      "1 of 6 replicas serves: e1 is not-ready, e2 is not-ready, e3 is not-ready, and 2 more do not; no requests in the last 5 minutes.",
    ],
    [
      [up(0)],
      { requests: 1000, replicaErrors: 10 },
      [],
      true,
      "The replica serves; 10 of 1000 requests failed in the last 5 minutes (10 through replicas).",
    ],
    [[up(0)], {}, ["Something."], false, "The replica serves; no requests in the last 5 minutes."],
  ];
  for (const [endpoints, traffic, warnings, isWell, summary] of cases) {
    it(summary, () => {
      const view = makeView(endpoints);
      const shown = endpoints.map((endpoint) => endpointStatus(endpoint, view, makeShownRouter(endpoints)));
      assert.deepEqual(summaryOf(shown, { ...QUIET, ...traffic } as PoolFigures, warnings), { isWell, summary });
    });
  }

  it("what a discovery says is shown: a replica that is taken away is no fault, one that is not ready is", () => {
    const leaving = makeEndpoint(1, { phase: "draining", isAvailable: false, reported: "leaving" });
    const notReady = makeEndpoint(1, { phase: "not-ready", isAvailable: false, reported: "not-ready" });
    for (const [endpoint, why, isWell] of [
      [leaving, "it is being taken away: requests under way finish", true],
      [notReady, "its probes succeed, but its discovery says that it is not ready", false],
    ] as const) {
      const endpoints = [up(0), endpoint];
      const view = makeView(endpoints);
      const shown = endpoints.map((each) => endpointStatus(each, view, makeShownRouter(endpoints)));
      assert.equal(shown[1]?.why, why);
      assert.equal(summaryOf(shown, QUIET as PoolFigures, []).isWell, isWell);
    }
  });

  it("what the operator took out is no fault", () => {
    const endpoints = [up(0), out(1, "draining")];
    const router = makeShownRouter(endpoints);
    router.control.intents.set("e1", { intent: "drain", reason: "new driver", forMs: undefined, graceMs: 0, by: "the test" });
    const view = makeView(endpoints);
    const shown = endpoints.map((endpoint) => endpointStatus(endpoint, view, router));
    assert.equal(shown[1]?.why, "drained by the test; empty, so it can be taken away: new driver");
    assert.equal(summaryOf(shown, QUIET as PoolFigures, []).isWell, true);
    const busy = endpointStatus(endpoints[1]!, view, {
      ...router,
      pool: { ...router.pool, leftOpenAt: () => 3 },
    });
    assert.deepEqual(
      [busy.intent?.isEmpty, busy.inFlight, busy.connections],
      [false, 3, 3],
      "streams from before it left the pool",
    );
  });
});
