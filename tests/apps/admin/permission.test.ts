import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AdminAccess } from "../../../apps/admin/permission.ts";
import { type AskOptions, makeApi, makeRewrite } from "../../support/api.ts";
import { makeEndpoint } from "../../support/endpoints.ts";

const secret = (text: string) => ({ from: "env:TOKEN", reveal: () => text });
const TOKEN = [{ name: "alice", role: "change", secret: secret("correct-horse") }] as const;
const READER = [{ name: "scraper", role: "read", secret: secret("correct-hors-e") }] as const;
const BOTH = [...READER, ...TOKEN];

describe("who may change something", () => {
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  const rows: readonly (readonly [name: string, access: Partial<AdminAccess>, ask: AskOptions, status: number, code: string])[] =
    [
      ["on loopback, anyone", {}, {}, 200, ""],
      ["with a parameter in the content type", {}, { headers: { "content-type": "application/json; charset=utf-8" } }, 200, ""],
      ["a form", {}, { headers: { "content-type": "application/x-www-form-urlencoded" } }, 415, "unsupported_media_type"],
      ["plain text", {}, { headers: { "content-type": "text/plain" }, body: "{}" }, 415, "unsupported_media_type"],
      ["a type that begins alike", {}, { headers: { "content-type": "application/jsonp" } }, 415, "unsupported_media_type"],
      ["read-only", { isReadOnly: true, tokens: TOKEN }, bearer("correct-horse"), 403, "read_only"],
      ["open to the network, without a token", { isOpenToNetwork: true }, bearer("any"), 403, "token_required"],
      ["the right token", { tokens: TOKEN, isOpenToNetwork: true }, bearer("correct-horse"), 200, ""],
      ["the scheme in lower case", { tokens: TOKEN }, { headers: { authorization: "bearer correct-horse" } }, 200, ""],
      ["no token", { tokens: TOKEN }, {}, 401, "unauthorized"],
      ["a wrong token", { tokens: TOKEN }, bearer("correct-hors"), 401, "unauthorized"],
      ["a longer token", { tokens: TOKEN }, bearer("correct-horse1"), 401, "unauthorized"],
      ["two tokens", { tokens: TOKEN }, bearer("correct-horse correct-horse"), 401, "unauthorized"],
      ["another scheme", { tokens: TOKEN }, { headers: { authorization: "Basic correct-horse" } }, 401, "unauthorized"],
      ["one of two tokens", { tokens: BOTH }, bearer("correct-horse"), 200, ""],
      ["a token that may only read", { tokens: BOTH }, bearer("correct-hors-e"), 403, "may_only_read"],
      ["the generation that runs", {}, { headers: { "if-match": '"1-0"' } }, 200, ""],
      ["any generation", {}, { headers: { "if-match": "*" } }, 200, ""],
      ["one of several generations", {}, { headers: { "if-match": '"7-0", "1-0"' } }, 200, ""],
      ["another generation", {}, { headers: { "if-match": '"2-0"' } }, 412, "generation_changed"],
      ["a generation without quotes", {}, { headers: { "if-match": "1" } }, 400, "bad_if_match"],
    ];
  for (const [name, access, options, status, code] of rows) {
    it(name, async () => {
      const { ask, router } = await makeApi({ endpoints: [makeEndpoint(0)], access });
      const answer = await ask("POST", "/endpoints/e0/drain", options);
      assert.equal(answer.status, status);
      assert.equal(answer.json["code"] ?? "", code);
      assert.equal(router.control.intents.of("e0")?.intent, status === 200 ? "drain" : undefined);
      assert.doesNotMatch(JSON.stringify(answer.json), /correct-hors/);
      assert.equal(answer.headers.get("www-authenticate"), status === 401 ? "Bearer" : null);
    });
  }

  it("shows without any of it", async () => {
    const { ask } = await makeApi({ access: { isReadOnly: true, tokens: TOKEN, isOpenToNetwork: true } });
    for (const path of ["/endpoints", "/rewrites", "/config", "/openapi.json"])
      assert.equal((await ask("GET", path)).status, 200);
  });
});

it("a drain for a version that is over is refused: somebody else has drained meanwhile", async () => {
  const { ask, router } = await makeApi({ endpoints: [makeEndpoint(0), makeEndpoint(1)] });
  const seen = (await ask("GET", "/endpoints")).headers.get("etag")!;
  const drain = (name: string) => ask("POST", `/endpoints/${name}/drain`, { headers: { "if-match": seen } });
  assert.deepEqual([(await drain("e0")).status, (await drain("e1")).status], [200, 412]);
  assert.equal(router.control.intents.of("e1"), undefined);
});

it("of drains for one version, sent at the same time, one is done", async () => {
  const endpoints = [0, 1, 2, 3].map((slot) => makeEndpoint(slot));
  const { ask } = await makeApi({ endpoints });
  const seen = (await ask("GET", "/endpoints")).headers.get("etag")!;
  const asked = endpoints.map(({ name }) => ask("POST", `/endpoints/${name}/drain`, { body: {}, headers: { "if-match": seen } }));
  assert.deepEqual((await Promise.all(asked)).map(({ status }) => status).sort(), [200, 412, 412, 412]);
});

describe("who may read", () => {
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  const work = { body: { path: "/v1/completions" } };
  const rows: readonly (readonly [
    name: string,
    access: Partial<AdminAccess>,
    method: string,
    path: string,
    ask: AskOptions,
    isRefused: boolean,
  ])[] = [
    ["without tokens, anyone", { isOpenToNetwork: true }, "GET", "/endpoints", {}, false],
    ["where tokens are for changes, anyone", { tokens: TOKEN, isOpenToNetwork: true }, "GET", "/endpoints", {}, false],
    ["with a reader's token, only who brings one", { tokens: BOTH }, "GET", "/endpoints", {}, true],
    ["the reader", { tokens: BOTH }, "GET", "/endpoints", bearer("correct-hors-e"), false],
    ["who may change", { tokens: BOTH }, "GET", "/endpoints", bearer("correct-horse"), false],
    ["nobody else", { tokens: BOTH }, "GET", "/endpoints", bearer("horse"), true],
    ["streams need it too", { tokens: BOTH }, "GET", "/decisions/stream", {}, true],
    ["what is needed is told to all", { tokens: BOTH }, "GET", "/access", {}, false],
    [
      "work for the network needs a token where there is one",
      { tokens: TOKEN, isOpenToNetwork: true },
      "POST",
      "/explain",
      work,
      true,
    ],
    ["on loopback it does not", { tokens: TOKEN }, "POST", "/explain", work, false],
    [
      "work with a token",
      { tokens: TOKEN, isOpenToNetwork: true },
      "POST",
      "/explain",
      { ...work, ...bearer("correct-horse") },
      false,
    ],
  ];
  for (const [name, access, method, path, options, isRefused] of rows)
    it(name, async () => {
      const stream = { path: "/decisions/stream", summary: "x", parameters: [], listen: () => () => {} };
      const plugin = { finished() {}, streams: [stream] };
      const { ask } = await makeApi({ endpoints: [makeEndpoint(0)], access, observers: [{ name: "d", type: "d", plugin }] });
      assert.equal((await ask(method, path, options)).status === 401, isRefused);
    });
});

it("a change names whose token it was: in the state of the endpoint, with the rewrite, and in the log", async () => {
  const { ask, router, logged } = await makeApi({ endpoints: [makeEndpoint(0)], access: { tokens: TOKEN } });
  const headers = { authorization: "Bearer correct-horse" };
  const by = "alice (192.0.2.7)";
  await ask("POST", "/endpoints/e0/drain", { headers });
  assert.equal(router.control.intents.of("e0")?.by, by);
  const { endpoints } = (await ask("GET", "/endpoints")).json as { endpoints: readonly { intent: { by: string } }[] };
  assert.equal(endpoints[0]?.intent.by, by);
  await ask("PUT", "/rewrites/food", { headers, body: makeRewrite("food", { v1: 1 }) });
  const { json } = await ask("GET", "/rewrites/food");
  assert.equal((json["change"] as { by: string }).by, by);
  await ask("POST", "/config/reload", { headers });
  const changes = logged.filter(({ message }) => message === "Changed through the admin API").map(({ fields }) => fields);
  assert.deepEqual(
    changes.map((fields) => [fields?.["what"], fields?.["by"]]),
    [
      ["rewrite food", by],
      ["config", by],
    ],
  );
  assert.doesNotMatch(JSON.stringify([logged, json]), /correct-horse/);
});

describe("what of changes is allowed, as GET /access says", () => {
  const rows: readonly (readonly [
    name: string,
    access: Partial<AdminAccess>,
    permission: readonly [boolean, boolean, RegExp],
  ])[] = [
    ["on loopback, anything", {}, [true, false, /^$/]],
    ["with a token", { tokens: TOKEN, isOpenToNetwork: true }, [true, true, /^$/]],
    ["read-only, token or not", { isReadOnly: true, tokens: TOKEN }, [false, false, /read-only/]],
    ["open to the network, without a token", { isOpenToNetwork: true }, [false, false, /set spec\.admin\.token/]],
    ["with tokens that may only read", { tokens: READER }, [false, false, /may only read/]],
  ];
  for (const [name, access, [mayChange, needsToken, reason]] of rows) {
    it(name, async () => {
      const { ask } = await makeApi({ access });
      const { json } = await ask("GET", "/access");
      assert.deepEqual([json["mayChange"], json["needsToken"]], [mayChange, needsToken]);
      assert.match(String(json["reason"]), reason);
      assert.doesNotMatch(JSON.stringify(json), /correct-horse/);
    });
  }
});
