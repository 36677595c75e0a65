import assert from "node:assert/strict";
import { describe, it } from "node:test";
import servesModel from "../../../plugins/filters/serves-model.ts";
import { makeEndpoint, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

const both = makeEndpoint(0, { models: ["base", "adapter"] });
const base = makeEndpoint(1);
const unread = makeEndpoint(2, { models: [] });
const pool = [both, base, unread];

describe("which endpoints stay", () => {
  const cases: readonly [unlisted: string, target: string, kept: readonly number[]][] = [
    ["refuse", "base", [0, 1]],
    ["refuse", "adapter", [0]],
    ["refuse", "other", []],
    ["refuse", "", [0, 1, 2]],
    ["forward", "adapter", [0]],
    ["forward", "other", [0, 1, 2]],
    ["forward", "org/other.v1..2", [0, 1, 2]],
    ["forward", "../secret", []],
    ["forward", "a/../../secret", []],
    ["forward", "a/..", []],
    ["forward", "/etc", []],
    ["forward", "a\0", []],
  ];
  for (const [unlisted, target, kept] of cases) {
    it(`${unlisted} ${JSON.stringify(target)}: ${kept.join(", ") || "none"}`, () => {
      const filter = createPlugin(servesModel, { unlisted });
      const stayed = filter.filter(makeRequest({ target }), pool, makeLoad(3), Math.random);
      assert.deepEqual(
        stayed.map(({ slot }) => slot),
        kept,
      );
    });
  }
});

describe("the refusal", () => {
  const { refuse } = createPlugin(servesModel);

  it("names the target and the rule that drew it", () => {
    const error = refuse!(makeRequest({ model: "food", target: "food-v2", rule: "food-review/0" }), pool);
    assert.deepEqual([error.code, error.status, error.retryAfterS], ["target_unavailable", 503, 1]);
    assert.match(error.message, /"food-v2".*"food-review\/0".*load it/);
  });

  it("says to try again while a replica that lists it is not ready", () => {
    const error = refuse!(makeRequest({ model: "late" }), [base, makeEndpoint(3, { phase: "not-ready", models: ["late"] })]);
    assert.deepEqual([error.code, error.status, error.retryAfterS], ["no_ready_endpoint", 503, 1]);
  });

  it("lists the available names, never the requested one", () => {
    const error = refuse!(makeRequest({ model: "secret-name" }), pool);
    assert.deepEqual([error.code, error.status, error.retryAfterS], ["model_not_found", 404, 0]);
    assert.match(error.message, /set "model" to one of: adapter, base\.$/);
    assert.doesNotMatch(error.message, /secret/);
  });

  it("lists eight names at most", () => {
    const models = Array.from({ length: 11 }, (_, index) => `m${String(index).padStart(2, "0")}`);
    const { message } = refuse!(makeRequest({ model: "x" }), [makeEndpoint(0, { models })]);
    assert.match(message, /m00, .*m07 and 3 more/);
    assert.doesNotMatch(message, /m08/);
  });

  it("says so when no list was read yet", () => {
    assert.match(refuse!(makeRequest({ model: "x" }), [unread]).message, /none has listed a model yet/);
  });
});
