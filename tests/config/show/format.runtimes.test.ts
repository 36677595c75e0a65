import assert from "node:assert/strict";
import { test } from "node:test";
import { formatted, withComments } from "../../../config/show/format.ts";

test("formats YAML, keeps comments and documents, and changes nothing the second time", () => {
  const text = `# top
a:   1   # one
list:
- {b: "x",c: [1,2]}

---
# second
d: |
  text
`;
  const once = formatted("a.yaml", text);
  assert.equal(
    once,
    `# top
a: 1 # one
list:
  - { b: "x", c: [ 1, 2 ] }
---
# second
d: |
  text
`,
  );
  assert.equal(formatted("a.yaml", once), once);
});

test("JSON stays JSON", () => {
  assert.equal(formatted("a.json", '{"a":[1,"x"]}'), '{\n  "a": [\n    1,\n    "x"\n  ]\n}\n');
});

test("plain data with a comment on each value that has one", () => {
  const comments = new Map([
    ["a.b", "here"],
    ["a.list", "there"],
  ]);
  const text = withComments({ a: { b: 1, c: "x: y", list: ["p", "q"] } }, (path) => comments.get(path));
  assert.equal(text, 'a:\n  b: 1 # here\n  c: "x: y"\n  list: [ p, q ] # there\n');
});
