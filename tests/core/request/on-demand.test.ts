import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nameSet } from "../../../core/contract/name-set.ts";
import type { OnDemand } from "../../../core/contract/request.ts";
import { mayBeLoaded, onDemand } from "../../../core/request/on-demand.ts";
import { DEFAULT_SETTINGS, type Settings } from "../../../core/settings.ts";
import { factsOf } from "../../../core/state/facts.ts";
import { LoadTable } from "../../../core/state/load.ts";
import { makeActiveConfig } from "../../support/active-config.ts";
import { makeEndpoint } from "../../support/endpoints.ts";

const targets = nameSet(["food-v1", "../secret", "other-base"]);
const endpoints = [makeEndpoint(0), makeEndpoint(1), makeEndpoint(2, { phase: "not-ready", models: ["other-base"] })];

function makePool() {
  const load = new LoadTable();
  load.knowAdapters(0, { names: new Set() });
  load.knowAdapters(2, { names: new Set() });
  return { table: load, load: load.at(0), facts: factsOf(endpoints) };
}

const configOf = (unlisted: Settings["unlisted"]) => makeActiveConfig({ targets, settings: { ...DEFAULT_SETTINGS, unlisted } });

describe("whether a replica that does not list the target may get it", () => {
  const rows: readonly (readonly [unlisted: "targets" | "any" | "none", target: string, answer: OnDemand, why?: string])[] = [
    ["targets", "food-v1", "configured"],
    ["targets", "made-up", "never"],
    ["any", "food-v1", "configured"],
    ["any", "made-up", "asked"],
    ["any", "org/made-up.v1..2", "asked"],
    ["none", "food-v1", "never"],
    ["none", "made-up", "never"],
    ["any", "", "never", "there is no name"],
    ["targets", "../secret", "never", "it leaves the folder"],
    ["any", "a/../../secret", "never", "it leaves the folder"],
    ["any", "a/..", "never", "it leaves the folder"],
    ["any", "/etc", "never", "it leaves the folder"],
    ["any", "a\0", "never", "no file has such a name"],
    ["any", "a".repeat(513), "never", "no file has such a name"],
    ["targets", "other-base", "never", "it is a base model of a replica that is not ready"],
  ];
  for (const [unlisted, target, answer, why = ""] of rows) {
    it(`${unlisted}, ${JSON.stringify(target.slice(0, 20))}: ${answer} ${why}`, () => {
      const { facts, load } = makePool();
      assert.equal(onDemand(target, configOf(unlisted), facts, load), answer);
    });
  }
});

describe("whether a target may be loaded", () => {
  it("until every available replica has refused it, and again when one has rested", () => {
    const { facts, load, table } = makePool();
    const config = configOf("targets");
    assert.equal(mayBeLoaded("food-v1", config, facts, load), true);
    table.unlisted.refused(0, "food-v1", 0);
    assert.equal(mayBeLoaded("food-v1", config, facts, load), true);
    table.unlisted.refused(1, "food-v1", 0);
    assert.equal(mayBeLoaded("food-v1", config, facts, load), false);
    table.unlisted.forget(1, "food-v1");
    assert.equal(mayBeLoaded("food-v1", config, facts, load), true);
  });

  it("not where the config does not allow it", () => {
    const { facts, load } = makePool();
    assert.equal(mayBeLoaded("food-v1", configOf("none"), facts, load), false);
  });
});
