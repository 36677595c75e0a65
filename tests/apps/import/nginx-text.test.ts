import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { directivesIn } from "../../../apps/import/nginx-text.ts";

describe("directives of nginx", () => {
  it("have names, words, lines and blocks; comments and quotes are understood", () => {
    const text = "a 1; # none\nhttp {\n  b \"x; {y}\" 'z';\n  upstream u {\n    server c:1 weight=2;\n  }\n}";
    const plain = (all: ReturnType<typeof directivesIn>): unknown =>
      all.map(({ name, words, line, block }) => [name, words, line, ...(block === undefined ? [] : [plain(block)])]);
    assert.deepEqual(plain(directivesIn("f", text)), [
      ["a", ["1"], 1],
      [
        "http",
        [],
        2,
        [
          ["b", ["x; {y}", "z"], 3],
          ["upstream", ["u"], 4, [["server", ["c:1", "weight=2"], 5]]],
        ],
      ],
    ]);
  });

  const BROKEN = [
    { name: "a { that does not end", text: "http {\n", says: "f:2: a { that does not end" },
    { name: "a } without its {", text: "a 1;\n}", says: "f:2: a } without its {" },
    { name: "no semicolon before a }", text: "http { a 1 }", says: 'f:1: "a" does not end with a semicolon' },
    { name: "no semicolon at the end", text: "a 1", says: "f:1: the last directive does not end with a semicolon" },
    { name: "a quote that does not end", text: 'a "x;\n}', says: "f:1: a quote that does not end" },
    { name: "a { without a name", text: "{ }", says: "f:1: a { without a name in front of it" },
    { name: "a thousand levels", text: "a {".repeat(1000), says: "f:1: more than 32 levels of braces" },
  ];
  for (const { name, text, says } of BROKEN)
    it(`with ${name} are refused with their line`, () =>
      assert.throws(
        () => directivesIn("f", text),
        (thrown: Error) => thrown.message === `${says}.`,
      ));
});
