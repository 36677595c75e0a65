import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkDefinition } from "../../../config/plugins/check-definition.ts";
import { defineKind, defineScorer } from "../../../core/plugin.ts";

const scorer = defineScorer({ type: "mine", summary: "", create: () => ({ score: () => null }) });
const tokenizers = defineKind<{ count(text: string): number }>("acme/tokenizer");

const NOT = (key: string, wanted: string) =>
  `The plugin mine in /plugin.ts has ${key} that is no ${wanted}: write one, or leave it out.`;

describe("a module's default export", () => {
  it("may be of a kind that the router does not know", () => {
    const words = tokenizers.define({ type: "words", summary: "", create: () => ({ count: (text) => text.length }) });
    assert.equal(checkDefinition({ default: words }, "/plugin.ts").kind, "acme/tokenizer");
  });

  const cases: readonly (readonly [name: string, change: object, message: string])[] = [
    [
      "a mistyped kind",
      { kind: "scorrer" },
      'The default export of /plugin.ts has no known kind, but "scorrer". Did you mean "scorer"?',
    ],
    [
      "a kind of one's own without a slash",
      { kind: "tokenizer" },
      'The default export of /plugin.ts has no known kind, but "tokenizer". The kinds are authenticator, parser, rewriter, filter, scorer, ' +
        "picker, admission, discovery, source, detector, observer, feature; one of a package's own has a slash, as acme/tokenizer.",
    ],
    [
      "a contract that is to come",
      { contract: "99.0" },
      "The plugin mine in /plugin.ts is for contract 99.0, and this router has 1.0: take a newer router.",
    ],
    [
      "a contract that is no text",
      { contract: 10n },
      'The plugin mine in /plugin.ts is for the contract of the type bigint, which is no version: write contract: "1.0".',
    ],
    ["kinds that are no list", { uses: 5 }, NOT("uses", "list of kinds")],
    ["attributes that are no names", { gives: [5] }, NOT("gives", "list of names")],
    ["what it reads as a list", { reads: ["load"] }, NOT("reads", "function")],
  ];
  for (const [name, change, message] of cases)
    it(`is refused for ${name}`, () =>
      assert.throws(() => checkDefinition({ default: { ...scorer, ...change } }, "/plugin.ts"), { message }));
});
