import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import byLabel from "../../../plugins/filters/by-label.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { makeEndpoint, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, issuesOf, makeHost } from "../../support/plugins.ts";

const ROLES = ["decode", "prefill", "encode", "prefill-decode", "encode-prefill", "encode-prefill-decode", "both", "other"];
const pool = [
  ...ROLES.map((role, slot) => makeEndpoint(slot, { labels: { "llm-d.ai/role": role } })),
  makeEndpoint(ROLES.length),
];
const rolesOf = (kept: readonly { readonly labels: Readonly<Record<string, string>> }[]) =>
  kept.map(({ labels }) => labels["llm-d.ai/role"] ?? "none");

describe("the reference's roles", () => {
  const cases: readonly [name: string, kept: readonly string[]][] = [
    ["decode-filter", ["decode", "prefill-decode", "encode-prefill-decode", "both", "none"]],
    ["prefill-filter", ["prefill", "prefill-decode", "encode-prefill", "encode-prefill-decode", "both"]],
    ["encode-filter", ["encode", "encode-prefill", "encode-prefill-decode"]],
  ];
  for (const [name, kept] of cases) {
    it(name, () => {
      const filter = createPlugin(builtIns.get(name) as typeof byLabel);
      assert.deepEqual(rolesOf(filter.filter(makeRequest(), pool, makeLoad(9), Math.random)), kept);
    });
  }

  it("take no parameters", () => assert.equal(issuesOf(builtIns.get("decode-filter")!, { label: "x" }).length, 1));
});

describe("any label", () => {
  const gpus = [makeEndpoint(0, { labels: { gpu: "h100" } }), makeEndpoint(1, { labels: { gpu: "l4" } }), makeEndpoint(2)];
  const cases: readonly [parameters: object, kept: readonly number[]][] = [
    [{ label: "gpu", validValues: ["h100"] }, [0]],
    [{ label: "gpu", validValues: ["h100", "l4"] }, [0, 1]],
    [{ label: "gpu", validValues: ["h100"], allowsNoLabel: true }, [0, 2]],
    [{ label: "gpu", allowsNoLabel: true }, [2]],
    [{ label: "toString", validValues: ["x"] }, []],
  ];
  for (const [parameters, kept] of cases) {
    it(JSON.stringify(parameters), () => {
      const stayed = createPlugin(byLabel, parameters).filter(makeRequest(), gpus, makeLoad(3), Math.random);
      assert.deepEqual(
        stayed.map(({ slot }) => slot),
        kept,
      );
    });
  }
});

test("options that no endpoint can match are refused; the error names the filter", () => {
  assert.deepEqual(
    issuesOf(byLabel, { label: "gpu" }).map(({ message }) => message),
    ["at least one value, or allowsNoLabel: true"],
  );
  const filter = createPlugin(byLabel, { label: "gpu", validValues: ["x"] }, makeHost({ name: "gpus" }));
  assert.match(filter.refuse?.(makeRequest(), []).message ?? "", /"gpus"/);
});
