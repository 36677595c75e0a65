import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { readDocuments } from "../../../config/read/documents.ts";
import { withComments } from "../../../config/show/format.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { routerCrd } from "./crd.ts";
import { structural } from "./structural.ts";

test("the committed CustomResourceDefinition is current", () => {
  const file = new URL("../../../examples/deploy/crd/routers.yaml", import.meta.url);
  const [committed] = readDocuments("routers.yaml", readFileSync(file, "utf8"), []);
  assert.deepEqual(committed?.value, JSON.parse(JSON.stringify(routerCrd(builtIns))), "run: npm run schema");
});

test("its spec has the sections that a resource may have", () => {
  const text = withComments(routerCrd(builtIns), () => undefined);
  assert.match(text, /^ {16}limits:$/m);
  assert.doesNotMatch(text, /^ {16}(listen|admin|kubernetes):$/m);
});

describe("an API server's schema", () => {
  for (const [what, schema, expected] of [
    ["has one value for a constant", { type: "string", const: "x" }, { type: "string", enum: ["x"] }],
    [
      "leaves out a bound with two keywords",
      { type: "number", exclusiveMinimum: 0, maximum: 100 },
      { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 100 },
    ],
    [
      "takes a whole number or a text with a unit",
      {
        anyOf: [
          { type: "number", minimum: 0.001, maximum: 9 },
          { type: "string", pattern: "s$" },
        ],
        description: "A time.",
      },
      { "x-kubernetes-int-or-string": true, minimum: 1, maximum: 9, pattern: "s$", description: "A time." },
    ],
    [
      "leaves a share to the router",
      {
        anyOf: [
          { type: "number", minimum: 0, exclusiveMaximum: 1 },
          { type: "string", pattern: "%$" },
        ],
      },
      { "x-kubernetes-preserve-unknown-fields": true },
    ],
    [
      "checks a mapping that may be false instead",
      {
        anyOf: [
          { type: "boolean", const: false },
          { type: "object", properties: { a: { type: "integer" } }, additionalProperties: false },
        ],
      },
      { "x-kubernetes-preserve-unknown-fields": true, properties: { a: { type: "integer" } } },
    ],
    [
      "keeps what is in free mappings",
      { type: "object", propertyNames: { type: "string" }, additionalProperties: {} },
      { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    ],
    [
      "checks the values of labels",
      { type: "object", propertyNames: { type: "string" }, additionalProperties: { type: "string" } },
      { type: "object", additionalProperties: { type: "string" } },
    ],
  ] as const) {
    test(what, () => assert.deepEqual(structural(schema), expected));
  }
});
