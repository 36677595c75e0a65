import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { healthOf, pageViewOf } from "../../../core/admin/health.ts";
import type { ShownConfig, ShownRouter } from "../../../core/admin/router-view.ts";
import { makeEndpoint } from "../../support/endpoints.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { makeShownRouter, makeView, UNCHANGED } from "../../support/view.ts";

const UP = [makeEndpoint(0), makeEndpoint(1), makeEndpoint(2)];
const DOWN = [UP[0]!, UP[1]!, makeEndpoint(2, { phase: "not-ready" })];
const REFUSED: ShownConfig = {
  ...UNCHANGED,
  lastReload: { generation: 1, atMs: 0, cause: "signal", isApplied: false, changes: [], problems: ["signalbox.yaml:1:1  wrong"] },
};

function withParts(router: ShownRouter, parts: Partial<ShownRouter>): ShownRouter {
  return { ...router, ...parts };
}

describe("whether all is well", () => {
  const sound = makeShownRouter(UP);
  const rows: readonly (readonly [
    name: string,
    router: ShownRouter,
    endpoints: typeof UP,
    running: ShownConfig,
    warning: string,
  ])[] = [
    ["nothing is wrong", sound, UP, UNCHANGED, ""],
    ["one of three replicas is gone", makeShownRouter(DOWN), DOWN, UNCHANGED, ""],
    ["a changed config was refused", sound, UP, REFUSED, "The changed config can't run"],
    [
      "a plugin breaks its contract",
      withParts(sound, { plugins: { ...sound.plugins, faults: { counts: new Map(), lately: ["mine"] } } }),
      UP,
      UNCHANGED,
      'The plugin "mine" breaks its contract',
    ],
    [
      "a replica's metrics can't be read any more",
      withParts(sound, { control: { ...sound.control, unreadableSources: ({ slot }) => (slot === 1 ? ["/metrics"] : []) } }),
      UP,
      UNCHANGED,
      "The numbers of e1 at /metrics can't be read",
    ],
  ];
  it("TLS with a replica that fails is a warning with what mends it", () => {
    const probeFailure = () => "certificate for another name";
    const { warnings } = healthOf(sound, makeView(UP, { pool: { probeFailure } }), UNCHANGED);
    assert.deepEqual(warnings, [
      "Probes of e0, e1, e2 fail (certificate for another name): set tls.serverName to a name that is in it.",
    ]);
  });

  for (const [index, [name, router, endpoints, running, warning]] of rows.entries()) {
    it(`${name}: the status, its warnings and the metric say the same`, () => {
      const health = healthOf(router, makeView(endpoints), running);
      const isWell = index === 0;
      assert.equal(health.isWell, isWell);
      assert.ok(warning === "" ? health.warnings.length === 0 : health.warnings[0]?.startsWith(warning), String(health.warnings));
      const site = { router, running, clock: new FakeClock(), droppedLogLines: () => 0, acceptPauses: () => 0 };
      const [family] = pageViewOf(site).families();
      assert.deepEqual([family?.name, family?.samples], ["well", [{ values: [], value: isWell ? 1 : 0 }]]);
    });
  }
});
