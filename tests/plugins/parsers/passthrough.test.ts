import assert from "node:assert/strict";
import { test } from "node:test";
import { JsonBody } from "../../../core/body/json-body.ts";
import passthrough from "../../../plugins/parsers/passthrough.ts";
import { createPlugin, issuesOf } from "../../support/plugins.ts";

const routes = [
  { method: "POST", path: "/v1/rerank" },
  { method: "GET", path: "/version" },
];

test("nothing is read", () => {
  const parser = createPlugin(passthrough, { routes });
  assert.deepEqual(parser.routes, routes);
  assert.deepEqual(parser.keys, []);
  const body = new JsonBody(new TextEncoder().encode("not JSON"), 8, { parts: [], spanOf: () => assert.fail("read") });
  const parsed = parser.parse(body, "/v1/rerank", "");
  assert.deepEqual([parsed.model, parsed.modelSpan, parsed.promptSpans, parsed.isRepeatable], ["", [-1, -1], [], false]);
});

test("its routes have no default", () => {
  assert.equal(issuesOf(passthrough, {}).length, 1);
  assert.equal(issuesOf(passthrough, { routes: [] }).length, 1);
  assert.equal(issuesOf(passthrough, { routes: [{ method: "post", path: "v1" }] }).length, 2);
});
