import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { healthOf, pageViewOf } from "../../../apps/admin/health.ts";
import type { RunningConfig } from "../../../config/running/running-config.ts";
import type { Router } from "../../../core/router.ts";
import { makeEndpoint } from "../../support/endpoints.ts";
import { makeShownConfig, makeShownRouter, makeSite } from "../../support/view.ts";

const UP = [makeEndpoint(0), makeEndpoint(1), makeEndpoint(2)];
const DOWN = [UP[0]!, UP[1]!, makeEndpoint(2, { phase: "not-ready" })];
const REFUSED = makeShownConfig({
  lastReload: { generation: 1, atMs: 0, cause: "signal", isApplied: false, changes: [], problems: ["signalbox.yaml:1:1  wrong"] },
});

describe("whether all is well", () => {
  const sound = makeShownRouter(UP);
  const rows: readonly (readonly [name: string, router: Router, running: RunningConfig, warning: string])[] = [
    ["nothing is wrong", sound, makeShownConfig(), ""],
    ["one of three replicas is gone", makeShownRouter(DOWN), makeShownConfig(), ""],
    ["a changed config was refused", sound, REFUSED, "So the changed config can't run"],
    [
      "a plugin breaks its contract",
      makeShownRouter(UP, { faults: { lately: ["mine"] } }),
      makeShownConfig(),
      'The plugin "mine" breaks its contract',
    ],
    [
      "a replica's metrics can't be read any more",
      makeShownRouter(UP, { control: { unreadableSources: ({ slot }) => (slot === 1 ? ["/metrics"] : []) } }),
      makeShownConfig(),
      "The numbers of e1 at /metrics can't be read",
    ],
  ];
  it("of the problems of a refused config the first is told, and how many follow", () => {
    const followed = (problems: readonly string[]) => {
      const running = makeShownConfig({ lastReload: { ...REFUSED.lastReload!, problems } });
      return healthOf(makeSite(sound, { running })).warnings[0];
    };
    const end = "So the changed config can't run, and the one before goes on.";
    assert.equal(followed(["a  wrong."]), `a  wrong. ${end}`);
    assert.equal(followed(["a  wrong.", "b"]), `a  wrong. (1 more problem follows.) ${end}`);
    assert.equal(followed(["a  wrong.", "b", "c"]), `a  wrong. (2 more problems follow.) ${end}`);
  });

  it("what is left out of a replica's list is a warning with the reason", () => {
    const leftOut = ({ slot }: { readonly slot: number }) => (slot > 0 ? ["entry 2 has no id"] : []);
    const { warnings } = healthOf(makeSite(makeShownRouter(UP, { control: { leftOut } })));
    assert.deepEqual(warnings, ["A part of what e1, e2 lists is left out: entry 2 has no id."]);
  });

  it("TLS with a replica that fails is a warning with what mends it", () => {
    const probeFailure = () => "certificate for another name";
    const { warnings } = healthOf(makeSite(makeShownRouter(UP, { control: { probeFailure } })));
    assert.deepEqual(warnings, [
      "Probes of e0, e1, e2 fail (certificate for another name): set tls.serverName to a name that is in it.",
    ]);
  });

  for (const [index, [name, router, running, warning]] of rows.entries()) {
    it(`${name}: the status, its warnings and the metric say the same`, () => {
      const site = makeSite(router, { running });
      const health = healthOf(site);
      const isWell = index === 0;
      assert.equal(health.isWell, isWell);
      assert.ok(warning === "" ? health.warnings.length === 0 : health.warnings[0]?.includes(warning), String(health.warnings));
      const [family] = pageViewOf(site).families();
      assert.deepEqual([family?.name, family?.samples], ["well", [{ values: [], value: isWell ? 1 : 0 }]]);
    });
  }
});
