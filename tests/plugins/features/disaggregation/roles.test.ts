import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { labelSelector } from "../../../../core/contract/label-selector.ts";
import { makeEndpoint, makeLoad, makeRequest } from "../../../../core/contract/test-kit.ts";
import type { PoolRoles } from "../../../../core/router-config.ts";
import { Roles } from "../../../../plugins/features/disaggregation/roles.ts";

const select = (selector: object) => labelSelector.parse(selector);

/** What an endpoint with these labels may do, and whether it is left for each leg. */
function rolesOf(labels: Readonly<Record<string, string>>, selectors?: PoolRoles): string {
  const roles = new Roles(selectors);
  const endpoint = makeEndpoint(0, { labels });
  const isLeft = (leg: "prefill" | "decode") =>
    roles[`${leg}Filter`].plugin.filter(makeRequest(), [endpoint], makeLoad(1), Math.random).length > 0;
  return [
    ...(roles.isPrefill(endpoint) ? ["prefill"] : []),
    ...(roles.isDecode(endpoint) ? ["decode"] : []),
    ...(isLeft("prefill") ? ["takes prompts"] : []),
    ...(isLeft("decode") ? ["takes answers"] : []),
  ].join(", ");
}

describe("by label", () => {
  const rows: readonly (readonly [value: string | undefined, roles: string])[] = [
    ["prefill", "prefill, takes prompts"],
    ["encode-prefill", "prefill, takes prompts"],
    ["decode", "decode, takes answers"],
    ["prefill-decode", "prefill, decode, takes prompts, takes answers"],
    ["both", "prefill, decode, takes prompts, takes answers"],
    ["encode-prefill-decode", "prefill, decode, takes prompts, takes answers"],
    [undefined, "takes answers"],
    ["", "takes answers"],
    ["Prefill", "takes answers"],
    ["toString", "takes answers"],
  ];
  for (const [value, roles] of rows)
    it(`${value}`, () => assert.equal(rolesOf(value === undefined ? {} : { "llm-d.ai/role": value }), roles));
});

describe("by selector", () => {
  const selectors: PoolRoles = {
    prefill: select({ matchLabels: { gpu: "big" } }),
    both: select({ matchExpressions: [{ key: "any", operator: "Exists" }] }),
  };
  it("the label says nothing any more", () => assert.equal(rolesOf({ "llm-d.ai/role": "prefill" }, selectors), "takes answers"));
  it("one", () => assert.equal(rolesOf({ gpu: "big" }, selectors), "prefill, takes prompts"));
  it("both", () => assert.equal(rolesOf({ any: "1" }, selectors), "prefill, decode, takes prompts, takes answers"));
  it("none", () => assert.equal(rolesOf({ gpu: "small" }, selectors), "takes answers"));
  it("no selector selects nobody", () => assert.equal(rolesOf({ gpu: "big" }, {}), "takes answers"));
  it("an empty one selects all", () => assert.equal(rolesOf({}, { decode: select({}) }), "decode, takes answers"));
});

it("a refusal names the label and the config", () => {
  for (const leg of ["prefill", "decode"] as const) {
    const { code, message } = new Roles(undefined)[`${leg}Filter`].plugin.refuse!(makeRequest(), []);
    assert.equal(code, "no_ready_endpoint");
    assert.ok(message.includes(`llm-d.ai/role: ${leg}`) && message.includes("spec.pool.roles"), message);
  }
});
