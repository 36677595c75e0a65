import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readJsonBody } from "../../../core/body/json-body.ts";
import modelPaths from "../../../plugins/parsers/model-paths.ts";
import passthrough from "../../../plugins/parsers/passthrough.ts";
import { createPlugin, issuesOf } from "../../support/plugins.ts";

const NO_HEADERS = { get: () => undefined };

/** What the parser reads of a request without a body. */
function parseTarget(path: string, query: string) {
  const routes = [
    { method: "GET", path: "/v1/voices", model: { in: "query" as const }, optional: true },
    { path: "/v2/models/{model}/infer", model: { in: "path" as const } },
    { path: "/v1beta/{kind}/{name}:generate", model: { in: "path" as const, name: "name" } },
  ];
  const parser = createPlugin(modelPaths, { routes });
  const reader = parser.reader!(path, NO_HEADERS)!;
  reader.finish(new Uint8Array(0), 0);
  const body = readJsonBody(Buffer.from("{}"), parser, 8);
  const { model, modelSpan, modelIn } = parser.parse(body, path, query);
  return { model, modelIn, text: `${path}?${query}`.slice(...modelSpan) };
}

describe("a model in the path or the query", () => {
  const FOUND = [
    ["/v2/models/llama/infer", "", "llama", "llama"],
    ["/v2/models/meta%2Fllama%203/infer", "a=1", "meta/llama 3", "meta%2Fllama%203"],
    ["/v1beta/models/llama:8b:generate", "", "llama:8b", "llama:8b"],
    ["/v1/voices", "model=llama", "llama", "llama"],
    ["/v1/voices", "a&b=1&m%6fdel=a%2Fb+c&z", "a/b c", "a%2Fb+c"],
  ] as const;
  for (const [path, query, model, text] of FOUND)
    it(`${path}?${query}`, () => assert.deepEqual(parseTarget(path, query), { model, modelIn: "target", text }));

  it("may be left out where the route says so", () => {
    for (const query of ["", "model=", "model", "models=x"]) assert.equal(parseTarget("/v1/voices", query).model, "");
  });

  it("is refused where it is not clear", () => {
    for (const query of ["model=a&model=b", "model=%ff", "%=1"])
      assert.throws(() => parseTarget("/v1/voices", query), { code: "bad_request" });
    assert.throws(() => parseTarget("/v2/models/%c3/infer", ""), { code: "bad_request" });
  });
});

describe("its routes", () => {
  it("are those of engines, and the config's; one that is listed counts in place of the usual one", () => {
    const at = (parameters: object) =>
      createPlugin(modelPaths, parameters)
        .routes.filter(({ path }) => path.includes("rerank") || path.includes("mine"))
        .map(({ method, path }) => `${method} ${path}`);
    const usual = ["POST /rerank", "POST /v1/rerank", "POST /v2/rerank"];
    assert.deepEqual(at({}), usual);
    assert.deepEqual(at({ routes: [{ path: "/mine" }] }), ["POST /mine", ...usual]);
    assert.deepEqual(at({ routes: [{ method: "PUT", path: "/rerank" }] }), ["PUT /rerank", ...usual.slice(1)]);
  });

  const BAD = [
    ["braces that do not close", { path: "/v1/{id" }],
    ["braces without a name", { path: "/v1/{}" }],
    ["two names without anything between", { path: "/v1/{a}{b}" }],
    ["a closing brace alone", { path: "/v1/}" }],
    ["a query", { path: "/v1/x?y=1" }],
    ["no slash", { path: "v1" }],
  ] as const;
  for (const [name, route] of BAD) {
    it(`are refused with ${name}`, () => {
      assert.equal(issuesOf(modelPaths, { routes: [route] }).length, 1);
      assert.equal(issuesOf(passthrough, { routes: [{ method: "GET", ...route }] }).length, 1);
    });
  }

  it("are refused where the model's name is not in the path, and twice", () => {
    assert.equal(issuesOf(modelPaths, { routes: [{ path: "/v1/{id}", model: { in: "path" } }] }).length, 1);
    assert.equal(issuesOf(modelPaths, { routes: [{ path: "/a" }, { method: "GET", path: "/a" }] }).length, 1);
  });
});
