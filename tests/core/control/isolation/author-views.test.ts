import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AuthorViews } from "../../../../core/control/isolation/author-views.ts";

describe("the views of plugins", () => {
  const same: [one: string, other: string][] = [
    ["./scorer.ts", "./observers/observer.ts"],
    ["./scorer.ts", "../scorer.ts"],
    ["./scorer.ts", "/etc/plugins/scorer.ts"],
    ["./scorer.ts", "file:///etc/plugins/scorer.ts"],
    ["./scorer.ts", "C:\\plugins\\scorer.ts"],
    ["mine", "mine"],
    ["mine", "npm:mine"],
    ["mine/scorer", "mine/observer"],
    ["@me/mine/scorer", "@me/mine"],
  ];
  for (const [one, other] of same) {
    it(`are the same for ${one} and ${other}`, () => {
      const views = new AuthorViews();
      assert.equal(views.of(one), views.of(other));
    });
  }

  const others: [one: string, other: string][] = [
    ["./scorer.ts", "mine"],
    ["mine", "others"],
    ["@me/mine", "@me/others"],
    ["@me/mine", "mine"],
  ];
  for (const [one, other] of others) {
    it(`are not the same for ${one} and ${other}`, () => {
      const views = new AuthorViews();
      assert.notEqual(views.of(one), views.of(other));
    });
  }
});
