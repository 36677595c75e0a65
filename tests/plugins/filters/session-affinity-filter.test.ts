import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import sessionAffinityFilter from "../../../plugins/filters/session-affinity-filter.ts";
import { makeEndpoint, makeEndpoints, makeHeaders, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, issuesOf } from "../../support/plugins.ts";

const pool = makeEndpoints(2);
const tokenOf = (name: string) => Buffer.from(name).toString("base64");

describe("session-affinity-filter", () => {
  const token = "x-session-token";
  const custom = { headerName: "X-Custom-Session" };
  const cases: readonly [name: string, parameters: object, headers: Readonly<Record<string, string>>, kept: readonly number[]][] =
    [
      ["the session's endpoint", {}, { [token]: tokenOf("e1") }, [1]],
      ["by another header", custom, { "x-custom-session": tokenOf("e1") }, [1]],
      ["the default header when another is configured", custom, { [token]: tokenOf("e1") }, [0, 1]],
      ["no token", {}, {}, [0, 1]],
      ["an empty token", {}, { [token]: "" }, [0, 1]],
      ["garbage", {}, { [token]: "garbage-token" }, [0, 1]],
      ["an endpoint that is gone", {}, { [token]: tokenOf("missing") }, [0, 1]],
    ];
  for (const [name, parameters, headers, kept] of cases) {
    it(name, () => {
      const request = makeRequest({ headers: makeHeaders(headers) });
      const stayed = createPlugin(sessionAffinityFilter, parameters).filter(request, pool, makeLoad(2), Math.random);
      assert.deepEqual(
        stayed.map(({ slot }) => slot),
        kept,
      );
    });
  }
});

test("the response has the token; names may have any characters", () => {
  const { responseHeader } = createPlugin(sessionAffinityFilter);
  const endpoint = makeEndpoint(0, { name: "größe-1" });
  assert.deepEqual(responseHeader?.(makeRequest(), endpoint), ["x-session-token", tokenOf("größe-1")]);
});

test("a header name that is not valid is refused", () => {
  for (const headerName of ["", "x y", "x:y", "x\r\n"]) assert.equal(issuesOf(sessionAffinityFilter, { headerName }).length, 1);
});
