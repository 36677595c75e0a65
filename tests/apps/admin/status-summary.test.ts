import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { endpointStatus } from "../../../apps/admin/endpoint-status.ts";
import type { PoolFigures } from "../../../apps/admin/figures/request-figures.ts";
import { healthOf } from "../../../apps/admin/health.ts";
import { summaryOf } from "../../../apps/admin/status-summary.ts";
import { phaseText } from "../../../apps/cli/show/endpoint-table.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { makeEndpoint } from "../../support/endpoints.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { makeShownRouter, makeSite } from "../../support/view.ts";

const up = (slot: number) => makeEndpoint(slot);
const out = (slot: number, phase: Endpoint["phase"]) => makeEndpoint(slot, { phase });
const QUIET = { requests: 0, windowS: 300, routerErrors: 0, replicaErrors: 0, isFailing: false };

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
      { requests: 100, replicaErrors: 9, routerErrors: 2, isFailing: true },
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
      const site = makeSite(makeShownRouter(endpoints));
      const shown = endpoints.map((endpoint) => endpointStatus(endpoint, site));
      assert.deepEqual(summaryOf(shown, { ...QUIET, ...traffic } as PoolFigures, warnings), { isWell, summary });
    });
  }

  it("the state of a replica is one text: its phase once, and the cause first", async () => {
    const ejection = { reason: "5xx", sinceMs: 0, untilMs: 30_000 };
    const rows: readonly (readonly [endpoint: Endpoint, failure: string, state: string])[] = [
      [
        makeEndpoint(0, { phase: "ejected", isAvailable: false, ejection }),
        "",
        "ejected 9 s ago: 5xx; back in 21 s if one request succeeds then",
      ],
      [out(0, "not-ready"), "refused", "not-ready: refused (its last probe)"],
      [out(0, "not-ready"), "", "not-ready: its probes fail"],
      [out(0, "starting"), "status 503", "starting: status 503 (its last probe)"],
      [out(0, "starting"), "", "starting: no probe has ended yet"],
      [out(0, "asleep"), "", "asleep: it gets requests once its engine is woken"],
      [
        makeEndpoint(0, { phase: "draining", reported: "leaving" }),
        "",
        "draining: it is being taken away; requests under way finish",
      ],
      [up(0), "timeout", "ready: timeout (its last probe), still in service"],
      [makeEndpoint(0, { share: 0.25 }), "", "ready: 25 % of its share, until it has shown that it serves"],
      [up(0), "", "ready"],
    ];
    const clock = new FakeClock();
    await clock.advance(9_000);
    for (const [endpoint, failure, state] of rows) {
      const router = makeShownRouter([endpoint], { control: { probeFailure: () => failure } });
      const shown = endpointStatus(endpoint, { ...makeSite(router), clock });
      assert.equal(shown.state, state);
      assert.equal(phaseText(shown), state);
      assert.equal(state.split(endpoint.phase).length, 2, "its phase is said once");
    }
  });

  it("what a discovery says is shown: a replica that is taken away is no fault, one that is not ready is", () => {
    const leaving = makeEndpoint(1, { phase: "draining", isAvailable: false, reported: "leaving" });
    const notReady = makeEndpoint(1, { phase: "not-ready", isAvailable: false, reported: "not-ready" });
    for (const [endpoint, why, isWell] of [
      [leaving, "it is being taken away; requests under way finish", true],
      [notReady, "its discovery says so, though its probes succeed", false],
    ] as const) {
      const endpoints = [up(0), endpoint];
      const site = makeSite(makeShownRouter(endpoints));
      const shown = endpoints.map((each) => endpointStatus(each, site));
      assert.equal(shown[1]?.why, why);
      assert.equal(summaryOf(shown, QUIET as PoolFigures, []).isWell, isWell);
    }
  });

  it("what the operator took out is no fault", () => {
    const endpoints = [up(0), out(1, "draining")];
    const router = makeShownRouter(endpoints);
    router.control.intents.set("e1", { intent: "drain", reason: "new driver", forMs: undefined, graceMs: 0, by: "the test" });
    const shown = endpoints.map((endpoint) => endpointStatus(endpoint, makeSite(router)));
    assert.equal(shown[1]?.why, "new driver; asked by the test; empty, so it can be taken away");
    assert.equal(summaryOf(shown, QUIET as PoolFigures, []).isWell, true);
    // It may stop, and its probes fail as they will: nobody needs to look.
    const { control } = router;
    const stopped = out(1, "not-ready");
    for (const failure of ["refused", "status 401", "certificate expired"]) {
      const probed = { intents: control.intents, probeFailure: ({ name }: Endpoint) => (name === "e1" ? failure : "") };
      const { isWell, warnings } = healthOf(
        makeSite(makeShownRouter([up(0), stopped], { control: { ...probed, unreadableSources: () => [] } })),
      );
      assert.deepEqual([isWell, warnings], [true, []], failure);
    }
    const alone = healthOf(makeSite(makeShownRouter([stopped], { control: { intents: control.intents } })));
    assert.deepEqual(
      [alone.isWell, alone.warnings],
      [false, ["Every replica was taken out, so requests get 503: undrain one, or add one."]],
    );
    const leaving = makeShownRouter(endpoints, { control: { intents: control.intents }, connections: { leftOpenAt: () => 3 } });
    const busy = endpointStatus(endpoints[1]!, makeSite(leaving));
    assert.deepEqual(
      [busy.intent?.isEmpty, busy.inFlight, busy.connections],
      [false, 3, 3],
      "streams from before it left the pool",
    );
  });
});
