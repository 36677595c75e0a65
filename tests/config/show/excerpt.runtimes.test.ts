import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { problemAt } from "../../../config/read/problems.ts";
import { excerptOf } from "../../../config/show/excerpt.ts";

const at = (line: number, column: number) => problemAt({ file: "a.yaml", line, column }, [], { found: "x" });
const LONG = `  list: [ ${"a, ".repeat(60)}wrong${", a".repeat(60)} ]`;

describe("the line of a problem", () => {
  const rows: readonly (readonly [name: string, line: number, column: number, text: string, shown: readonly string[]])[] = [
    ["is marked below its place", 2, 7, "a: 1\n  b:  x\nc: 2\n", ["    2 |   b:  x", "      |       ^"]],
    ["has no line break of another system", 1, 4, "a: x\r\nb: y\r\n", ["    1 | a: x", "      |    ^"]],
    ["is marked behind ideographs", 10, 5, `${"\n".repeat(9)}模型: x`, ["    10 | 模型: x", "       |       ^"]],
    ["can't steer a terminal", 1, 10, '"\u009b2J": [ x', ['    1 | "?2J": [ x', "      |          ^"]],
    ["is not shown where the file has none", 0, 0, "a: 1\n", []],
    ["is not shown beyond the end", 9, 1, "a: 1\n", []],
    ["is not shown where it may hold a key", 1, 1, "bearer: sk-1234\n", []],
    ["is not shown where it may hold a password", 1, 1, "- { url: http://ada:pass@gpu1:8000 }\n", []],
    ["is not shown where a made-up key may hold a secret", 1, 1, "  { api_key: sk-1234 }\n", []],
  ];
  for (const [name, line, column, text, shown] of rows)
    it(name, () => assert.deepEqual(excerptOf(at(line, column), text), shown));

  it("is cut around its place where it is long", () => {
    const [text = "", mark = ""] = excerptOf(at(1, LONG.indexOf("wrong") + 1), LONG);
    assert.ok(text.length < 120);
    assert.equal(text.slice(mark.indexOf("^"), mark.indexOf("^") + 5), "wrong");
    assert.match(text, / \| ….*…$/);
  });

  it("is not there for a file that was not read", () => assert.deepEqual(excerptOf(at(1, 1), undefined), []));
});
