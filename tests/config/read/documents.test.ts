import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readDocuments } from "../../../config/read/documents.ts";
import { sortByKind } from "../../../config/read/kinds.ts";
import { formatProblem, type Path, type Problem } from "../../../config/read/problems.ts";

function read(text: string) {
  const problems: Problem[] = [];
  const documents = readDocuments("f", text, problems);
  return { documents, lines: problems.map(formatProblem) };
}

const OCTAL =
  "found a number that begins with 0, which YAML 1.1 reads as octal and YAML 1.2 as decimal; wanted the number without that 0, or 0o and its digits if it is octal, or quotes around a text.";

describe("readDocuments gives plain data", () => {
  const cases: readonly (readonly [name: string, text: string, values: readonly unknown[]])[] = [
    ["nothing", "", []],
    ["only comments", "# one\n---\n# two\n", []],
    ["several documents", "a: 1\n---\nb: 2\n---\n", [{ a: 1 }, { b: 2 }]],
    [
      "JSON indented with tabs",
      '{\n\t"a": [1, "x", null, true],\n\t"b": {"c": 1.5}\n}\n',
      [{ a: [1, "x", null, true], b: { c: 1.5 } }],
    ],
    ["a byte order mark", "\ufeffa: 1\n", [{ a: 1 }]],
    ["CRLF", "a: 1\r\nb:\r\n  - 2\r\n", [{ a: 1, b: [2] }]],
    [
      "words that YAML 1.1 took for booleans and times",
      "a: no\nb: on\nc: 2026-01-31T12:00:00Z\n",
      [{ a: "no", b: "on", c: "2026-01-31T12:00:00Z" }],
    ],
    ["the same under a directive", "%YAML 1.1\n---\na: no\n", [{ a: "no" }]],
    [
      "numbers that every reader of YAML takes for the same",
      "a: 0\nb: -0.5\nc: 0o777\nd: 0x1F\ne: 1e3\nf: '0777'\ng: 0777ab\nh: 0.10\n",
      [{ a: 0, b: -0.5, c: 511, d: 31, e: 1000, f: "0777", g: "0777ab", h: 0.1 }],
    ],
    [
      "--- inside of texts",
      "a: |\n  x\n  ---\n  y\nb: >-\n  ---\nc: 'x\n  ---\n  y'\nd: [\"x\n  --- y\"]\n# ---\ne: ---x\n",
      [{ a: "x\n---\ny\n", b: "---", c: "x --- y", d: ["x --- y"], e: "---x" }],
    ],
    ["keys that are numbers", "8: a\n1.0: b\ntrue: c\n", [{ "8": "a", "1.0": "b", true: "c" }]],
    ["aliases", "a: &x { k: 1 }\nb: *x\nc: [*x]\n", [{ a: { k: 1 }, b: { k: 1 }, c: [{ k: 1 }] }]],
    ["a repeated anchor", "a: &x 1\nb: &x 2\nc: *x\n", [{ a: 1, b: 2, c: 2 }]],
  ];
  for (const [name, text, values] of cases) {
    test(name, () => {
      const { documents, lines } = read(text);
      assert.deepEqual(lines, []);
      assert.deepEqual(
        documents.map(({ value }) => value),
        values,
      );
    });
  }

  test("__proto__ is a key like others", () => {
    const [document] = read("__proto__: { polluted: true }\n").documents;
    assert.deepEqual(Object.keys(document?.value as object), ["__proto__"]);
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });
});

describe("readDocuments refuses", () => {
  const cases: readonly (readonly [name: string, text: string, lines: readonly (string | RegExp)[]])[] = [
    [
      "each syntax error",
      "a: [1\nb: ]\n---\nc: 'x\n",
      [/^f:\d+:\d+ {2}found invalid YAML: /, /^f:(4|5):\d+ {2}found invalid YAML: Missing closing 'quote/],
    ],
    ...[
      ["a: 1\nb:\n  c: 2\n  ---\nd: 3\n", "4:3"],
      ["a: 1\n ---\nb: 2\n", "2:2"],
      ["a:\n  - b: 1\n    ---\na: 2\n", "3:5"],
      ["a:\n  b:\n    ---\na: 2\n", "3:5"],
      ["a: text\n  --- # next\na: 2\n", "2:3"],
      ["a: 1\r\n  ---\r\nb: 2\r\n", "2:3"],
      ["  ---\n  a: 1\n", "1:3"],
    ].map(
      ([text = "", place = ""]) =>
        [
          `an indented --- at ${place} of ${JSON.stringify(text)}`,
          text,
          [`f:${place}  found an indented "---"; wanted it at the beginning of its line, where it stands between two documents.`],
        ] as const,
    ),
    [
      "tabs as indentation",
      "a:\n\tb: 1\n",
      ["f:2:1  found invalid YAML: Tabs are not allowed as indentation. Indent with spaces."],
    ],
    [
      "a key twice",
      "a: 1\nb: { c: 1, c: 2 }\na: 3\n",
      [/^f:2:12 {2}found the key "c" a second time; wanted each key once\.$/, /^f:3:1 {2}found the key "a"/],
    ],
    ["a repeated key in JSON", '{"a": 1,\n "a": 2}', [/^f:2:2 {2}found the key "a"/]],
    ["a key that is a mapping", "? { a: 1 }\n: 2\n", [/^f:1:3 {2}found a key that is not text/]],
    [
      "a brace that is never closed",
      "a:\n  b: { c: 1, d: [ 2 ]\ne: 3\n",
      [/^f:3:1 {2}found invalid YAML: Flow map .* The \{ begins in line 2\.$/],
    ],
    [
      "a bracket that is never closed, among others",
      "a: [\n  { b: 1 },\n  { c: 2 }\nd: 3\n",
      [/^f:4:1 {2}found invalid YAML: Flow sequence .* The \[ begins in line 1\.$/],
    ],
    ["an unknown tag", "a: !secret x\n", ["f:1:4  found invalid YAML: a tag that can't be resolved."]],
    ["an alias without an anchor", "a: 1\nb: *x\n", ["f:2:4  found an alias without an anchor of its name above it."]],
    ["an alias inside its own anchor", "a: &x\n  b: *x\n", ["f:2:6  found an alias inside its own anchor."]],
    [
      "an alias bomb",
      aliasBomb(),
      [/^f:\d+:\d+ {2}found aliases that expand to more than 100000 values; wanted fewer of them\.$/],
    ],
    ["endless nesting", "[".repeat(100_000), ["f:1:65  found more than 64 levels of nesting; wanted a flatter document."]],
    ["endless nesting in blocks", "- ".repeat(50_000), [/^f:1:129 {2}found more than 64 levels/]],
    ...["0777", "-0777", "+0777", "08", "00", "007.5"].map(
      (number) =>
        [
          `${number}, which is one number to some and another to others`,
          `a: { b: [${number}, x] }\n---\nb: &n ${number}\nc: *n\n`,
          [`f:1:10  ${OCTAL}`, `f:3:7  ${OCTAL}`],
        ] as const,
    ),
    ["a directive alone", "%FOO\n", [/^f:\d+:\d+ {2}found invalid YAML: /]],
  ];
  for (const [name, text, expected] of cases) {
    test(name, () => {
      const { documents, lines } = read(text);
      assert.equal(documents.filter(({ value }) => value === undefined).length, 0);
      assert.ok(lines.length >= expected.length, `too few: ${lines.join("\n")}`);
      for (const line of expected)
        assert.ok(
          lines.some((one) => (typeof line === "string" ? one === line : line.test(one))),
          `${line} is not in\n${lines.join("\n")}`,
        );
    });
  }

  // A path that was meant for a config may lead to a file of secrets.
  for (const text of [
    "hunter2",
    'a: 1 "hunter2"',
    '{"a": 1} hunter2',
    '{"a": 1}\n"hunter2": [',
    "a: | hunter2",
    "a: !hunter2 x",
    "a: !<hunter2 x",
    "!!hunter2 [a]",
    "!h!hunter2 a",
    "%hunter2\n---\na",
    "%YAML hunter2\n---\na",
    "*hunter2",
    "&a [ *hunter2 ]",
    '"\\hunter2"',
    "`hunter2`",
    "@hunter2",
    "key: value\nhunter2",
    "hunter2\n key: x: y",
    "- 1\nhunter2: 3",
    "a: b\n\thunter2",
    "'hunter2",
    "} hunter2",
  ])
    test(`and quotes nothing of ${JSON.stringify(text)}`, () => {
      const problems: Problem[] = [];
      sortByKind(readDocuments("f", text, problems));
      assert.notEqual(problems.length, 0);
      assert.doesNotMatch(problems.map(formatProblem).join("\n"), /hun|ter2/);
    });

  test("only the document with the error", () => {
    const { documents, lines } = read("a: 1\n---\nb: [\n---\nc: 3\n");
    assert.ok(lines.length > 0);
    assert.deepEqual(
      documents.map(({ value }) => value),
      [{ a: 1 }, { c: 3 }],
    );
  });

  test("30,000 different keys are read in linear time", () => {
    const { documents, lines } = read(Array.from({ length: 30_000 }, (_, index) => `k${index}: 1\n`).join(""));
    assert.deepEqual(lines, []);
    assert.equal(Object.keys(documents[0]?.value as object).length, 30_000);
  });
});

describe("positionOf finds", () => {
  const text =
    "# a comment\nspec:\n  pool: { name: llama,\n          labels: { a.b/c: x } }\n  list:\n    - one: 1\n    - &x\n      two: 2\n    - *x\n  empty:\n";
  const cases: readonly (readonly [name: string, path: Path, part: "value" | "key", line: number, column: number])[] = [
    ["the root", [], "value", 2, 1],
    ["a value", ["spec", "pool", "name"], "value", 3, 17],
    ["its key", ["spec", "pool", "name"], "key", 3, 11],
    ["a mapping", ["spec", "pool"], "value", 3, 9],
    ["a key with dots", ["spec", "pool", "labels", "a.b/c"], "key", 4, 21],
    ["an item", ["spec", "list", 0], "value", 6, 7],
    ["inside an item", ["spec", "list", 0, "one"], "value", 6, 12],
    ["what an alias stands for", ["spec", "list", 2, "two"], "value", 8, 12],
    ["the parent of a missing node", ["spec", "pool", "nope"], "value", 3, 9],
    ["the deepest existing ancestor", ["spec", "list", 0, "two", "three", 4], "key", 6, 7],
    ["an alias itself", ["spec", "list", 2], "value", 9, 7],
  ];
  for (const [name, path, part, line, column] of cases) {
    test(name, () => {
      assert.deepEqual(read(text).documents[0]?.positionOf(path, part), { file: "f", line, column });
    });
  }
});

/** Nine levels of ten aliases each expand to a billion values. */
function aliasBomb(): string {
  const levels = Array.from(
    { length: 9 },
    (_, level) => `a${level + 1}: &a${level + 1} [${Array(10).fill(`*a${level}`).join(", ")}]\n`,
  );
  return `a0: &a0 x\n${levels.join("")}`;
}

test("where braces begin is said for the first problems only, however many there are", () => {
  const { lines } = read(`a:\n${Array.from({ length: 2_000 }, (_, n) => `  k${n}: [1, }\n`).join("")}`);
  const said = lines.filter((line) => line.includes(" begins in line ")).length;
  assert.ok(lines.length >= 2_000 && said > 0 && said <= 100, `${said} of ${lines.length}`);
  assert.match(lines[0] ?? "", /^f:2:\d+ .* The \[ begins in line 2\.$/);
});
