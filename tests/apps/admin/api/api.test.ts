import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { adminApi } from "../../../../apps/admin/api/api.ts";
import { route } from "../../../../apps/admin/api/route.ts";
import { EventStreams } from "../../../../apps/admin/event-streams.ts";
import { z } from "../../../../core/contract/options.ts";
import { makeApi } from "../../../support/api.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const manyKeys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 0]));

describe("what is refused is a problem document", () => {
  const tooLong = JSON.stringify({ reason: "x".repeat(1024 * 1024) });
  const rows: readonly (readonly [name: string, method: string, path: string, body: unknown, status: number, code: string])[] = [
    ["an unknown path", "GET", "/nope", undefined, 404, "unknown_path"],
    ["a path that leads upwards", "GET", "/../../status", undefined, 404, "unknown_path"],
    ["another method", "DELETE", "/endpoints", undefined, 405, "method_not_allowed"],
    ["a name that is not well encoded", "POST", "/endpoints/%zz/drain", undefined, 400, "bad_path"],
    ["no JSON", "POST", "/endpoints/e0/drain", "{", 400, "invalid_json"],
    ["a body of another shape", "POST", "/endpoints/e0/drain", { forSeconds: -1, until: 3 }, 400, "invalid_body"],
    ["a list", "POST", "/endpoints/e0/drain", [], 400, "invalid_json"],
    ["what is nested deeply", "POST", "/endpoints/e0/drain", `{"a":${"[".repeat(500_000)}`, 400, "invalid_json"],
    ["a body that is too long", "POST", "/endpoints/e0/drain", tooLong, 413, "body_too_large"],
    ["a body with many values", "POST", "/endpoints/e0/drain", { faults: new Array(2_000).fill({}) }, 413, "too_many_values"],
    ["a body with many keys", "POST", "/endpoints/e0/drain", manyKeys(2_001), 413, "too_many_values"],
    [
      "what looks like many values inside a text",
      "POST",
      "/endpoints/e0/drain",
      { what: `\\"${",[{".repeat(2_000)}` },
      400,
      "invalid_body",
    ],
    ["an endpoint that is not there", "POST", "/endpoints/e0/drain", {}, 404, "unknown_endpoint"],
  ];
  for (const [name, method, path, body, status, code] of rows) {
    it(name, async () => {
      const { ask } = await makeApi();
      const { headers, json, ...answer } = await ask(method, path, { body });
      assert.deepEqual([answer.status, json["code"]], [status, code]);
      assert.equal(headers.get("content-type"), "application/problem+json");
      assert.deepEqual([json["status"], json["type"]], [status, `urn:signalbox:problem:${code}`]);
      assert.match(String(json["detail"]), /^[A-Z].*\.$/);
      assert.equal(headers.get("allow"), status === 405 ? "GET, HEAD" : null);
    });
  }

  it("names the first faults of a body that has many", async () => {
    const { ask } = await makeApi();
    const targets = new Array(600).fill({ weight: "much" });
    const { status, json } = await ask("PATCH", "/rewrites/food-review", { body: { targets } });
    const faults = json["faults"] as string[];
    assert.deepEqual([status, faults.length, faults.at(-1)], [400, 21, "and 1180 more"]);
  });

  it("bytes that are not UTF-8", async () => {
    const { api } = await makeApi();
    const request = new Request("http://localhost/api/v1/endpoints/e0/drain", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: Uint8Array.of(0x22, 0xff, 0x22),
    });
    const response = await api(request, "");
    assert.equal(response.status, 400);
    assert.equal(((await response.json()) as { code: string }).code, "invalid_json");
  });

  it("a fault of a route, without its cause", async () => {
    const broken = route({
      method: "GET",
      path: "/broken",
      id: "broken",
      summary: "Breaks.",
      response: z.unknown(),
      run: () => {
        throw new Error("PRIVATE");
      },
    });
    const logged: unknown[] = [];
    const log = { info() {}, warn() {}, error: (...words: unknown[]) => void logged.push(words) };
    const access = () => ({ isReadOnly: false, tokens: [], isOpenToNetwork: false });
    const streams = new EventStreams({ observers: () => [], clock: new FakeClock(), log });
    const api = adminApi({ routes: [broken], streams, access, generation: () => 1, turn: async () => {}, log });
    const response = await api(new Request("http://localhost/api/v1/broken"), "");
    const text = await response.text();
    assert.equal(response.status, 500);
    assert.doesNotMatch(text, /PRIVATE/);
    assert.match(JSON.stringify(logged), /PRIVATE/);
  });
});

test("HEAD is GET; both carry the generation", async () => {
  const { ask } = await makeApi();
  const [head, get] = [await ask("HEAD", "/endpoints"), await ask("GET", "/endpoints")];
  assert.deepEqual([head.status, get.status], [200, 200]);
  assert.deepEqual([head.headers.get("etag"), get.headers.get("etag")], ['"1-0"', '"1-0"']);
});

test("the OpenAPI document describes every route, with its schemas", async () => {
  const { ask } = await makeApi();
  const { json } = await ask("GET", "/openapi.json");
  assert.equal(json["openapi"], "3.1.0");
  const paths = json["paths"] as Record<string, Record<string, { operationId: string; requestBody?: object; security?: object }>>;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
  );
  assert.deepEqual(operations.map(({ name }) => name).sort(), [
    "delete /rewrites/{name}",
    "get /access",
    "get /adapters",
    "get /config",
    "get /config/history",
    "get /endpoints",
    "get /explain/{id}",
    "get /facts",
    "get /openapi.json",
    "get /rewrites",
    "get /rewrites/{name}",
    "get /traffic",
    "patch /rewrites/{name}",
    "post /adapters/{name}/load",
    "post /adapters/{name}/unload",
    "post /config/reload",
    "post /config/rollback",
    "post /endpoints/{name}/cordon",
    "post /endpoints/{name}/drain",
    "post /endpoints/{name}/undrain",
    "post /explain",
    "post /rewrites/{name}/revert",
    "put /rewrites/{name}",
  ]);
  assert.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length);
  const isRead = (name: string) => name.startsWith("get") || name === "post /explain";
  for (const { name, operation } of operations) assert.equal(operation.security !== undefined, !isRead(name), name);
  const drain = JSON.stringify(paths["/endpoints/{name}/drain"]?.["post"]);
  assert.match(drain, /"graceSeconds":\{/);
  assert.match(drain, /"in":"path"/);
  assert.match(drain, /"name":"If-Match","in":"header"/);
  assert.match(JSON.stringify(paths["/rewrites/{name}"]?.["put"]?.requestBody), /"modelRewrite":\{/);
});
