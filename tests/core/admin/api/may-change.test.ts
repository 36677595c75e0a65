import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AdminAccess } from "../../../../core/admin/api/may-change.ts";
import { type AskOptions, makeApi } from "../../../support/api.ts";
import { makeEndpoint } from "../../../support/endpoints.ts";

const TOKEN = { from: "env:TOKEN", reveal: () => "correct-horse" };

describe("who may change something", () => {
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  const rows: readonly (readonly [name: string, access: Partial<AdminAccess>, ask: AskOptions, status: number, code: string])[] =
    [
      ["on loopback, anyone", {}, {}, 200, ""],
      ["with a parameter in the content type", {}, { headers: { "content-type": "application/json; charset=utf-8" } }, 200, ""],
      ["a form", {}, { headers: { "content-type": "application/x-www-form-urlencoded" } }, 415, "unsupported_media_type"],
      ["plain text", {}, { headers: { "content-type": "text/plain" }, body: "{}" }, 415, "unsupported_media_type"],
      ["a type that begins alike", {}, { headers: { "content-type": "application/jsonp" } }, 415, "unsupported_media_type"],
      ["read-only", { isReadOnly: true, token: TOKEN }, bearer("correct-horse"), 403, "read_only"],
      ["open to the network, without a token", { isOpenToNetwork: true }, bearer("any"), 403, "token_required"],
      ["the right token", { token: TOKEN, isOpenToNetwork: true }, bearer("correct-horse"), 200, ""],
      ["the scheme in lower case", { token: TOKEN }, { headers: { authorization: "bearer correct-horse" } }, 200, ""],
      ["no token", { token: TOKEN }, {}, 401, "unauthorized"],
      ["a wrong token", { token: TOKEN }, bearer("correct-hors"), 401, "unauthorized"],
      ["a longer token", { token: TOKEN }, bearer("correct-horse1"), 401, "unauthorized"],
      ["two tokens", { token: TOKEN }, bearer("correct-horse correct-horse"), 401, "unauthorized"],
      ["another scheme", { token: TOKEN }, { headers: { authorization: "Basic correct-horse" } }, 401, "unauthorized"],
      ["the generation that runs", {}, { headers: { "if-match": '"1"' } }, 200, ""],
      ["any generation", {}, { headers: { "if-match": "*" } }, 200, ""],
      ["one of several generations", {}, { headers: { "if-match": '"7", "1"' } }, 200, ""],
      ["another generation", {}, { headers: { "if-match": '"2"' } }, 412, "generation_changed"],
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
    const { ask } = await makeApi({ access: { isReadOnly: true, token: TOKEN, isOpenToNetwork: true } });
    for (const path of ["/endpoints", "/rewrites", "/config", "/openapi.json"])
      assert.equal((await ask("GET", path)).status, 200);
  });
});

describe("what of changes is allowed, as GET /access says", () => {
  const rows: readonly (readonly [
    name: string,
    access: Partial<AdminAccess>,
    permission: readonly [boolean, boolean, RegExp],
  ])[] = [
    ["on loopback, anything", {}, [true, false, /^$/]],
    ["with a token", { token: TOKEN, isOpenToNetwork: true }, [true, true, /^$/]],
    ["read-only, token or not", { isReadOnly: true, token: TOKEN }, [false, false, /read-only/]],
    ["open to the network, without a token", { isOpenToNetwork: true }, [false, false, /set spec\.admin\.token/]],
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
