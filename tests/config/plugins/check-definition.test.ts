import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkDefinition } from "../../../config/plugins/check-definition.ts";
import { defineKind, defineScorer } from "../../../core/plugin.ts";

const scorer = defineScorer({ type: "mine", summary: "", create: () => ({ score: () => null }) });
const tokenizers = defineKind<{ count(text: string): number }>("acme/tokenizer");

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
        "picker, admission, discovery, source, detector, observer; one of a package's own has a slash, as acme/tokenizer.",
    ],
    [
      "a contract that is to come",
      { contract: "99.0" },
      "The plugin mine in /plugin.ts is for contract 99.0, and this router has 1.0: take a newer router.",
    ],
  ];
  for (const [name, change, message] of cases)
    it(`is refused for ${name}`, () =>
      assert.throws(() => checkDefinition({ default: { ...scorer, ...change } }, "/plugin.ts"), { message }));
});
