import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isOwnKind, shapeProblem } from "../../../core/contract/kinds.ts";
import { isSectionModule } from "../../../core/control/section-instances.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { createPlugin, issuesOf } from "../../support/plugins.ts";

describe("what create returns", () => {
  const cases: readonly (readonly [kind: Parameters<typeof shapeProblem>[0], plugin: unknown, problem: string])[] = [
    ["scorer", { score: () => null }, ""],
    [
      "scorer",
      new (class {
        score() {
          return null;
        }
      })(),
      "",
    ],
    ["scorer", undefined, "create must return an object with score(…), and returned undefined"],
    ["scorer", () => null, "create must return an object with score(…), and returned a function"],
    ["scorer", { scores: () => null }, "create must return an object with score(…); score(…) is not there"],
    ["scorer", { score: 0.5 }, "create must return an object with score(…); score(…) is not there"],
    [
      "picker",
      Promise.resolve({}),
      "create must return an object with pick(…), not a promise: what takes time belongs into load()",
    ],
    [
      "source",
      { path: "/slots", read: () => ({}) },
      "create must return an object with path, periodMs, read(…); periodMs is not there",
    ],
    ["acme/tokenizer", {}, ""],
    ["acme/tokenizer", null, "create must return an object, and returned null"],
  ];
  for (const [kind, plugin, problem] of cases)
    it(`${kind}: ${problem || "is one"}`, () => assert.equal(shapeProblem(kind, plugin), problem));

  for (const [type, definition] of builtIns) {
    // Those get what their section says, and more of a router.
    if (isSectionModule(definition)) continue;
    if (issuesOf(definition, {}).length > 0 || definition.load !== undefined) continue;
    it(`${type} is a ${definition.kind}`, () => assert.equal(shapeProblem(definition.kind, createPlugin(definition)), ""));
  }
});

it("a kind of one's own has a slash", () => {
  const kinds = ["acme/tokenizer", "tokenizer", "a/b/c", "/x", "x/", "a b/c"];
  assert.deepEqual(kinds.filter(isOwnKind), ["acme/tokenizer"]);
});
