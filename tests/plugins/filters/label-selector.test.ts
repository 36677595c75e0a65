import assert from "node:assert/strict";
import { describe, it } from "node:test";
import labelSelector from "../../../plugins/filters/label-selector.ts";
import { makeEndpoint, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, issuesOf, makeHost } from "../../support/plugins.ts";

const pool = [
  makeEndpoint(0, { labels: { gpu: "h100", zone: "a" } }),
  makeEndpoint(1, { labels: { gpu: "l4", zone: "b" } }),
  makeEndpoint(2, { labels: { zone: "a" } }),
];

describe("which endpoints match", () => {
  const cases: readonly [selector: object, kept: readonly number[]][] = [
    [{}, [0, 1, 2]],
    [{ matchLabels: { gpu: "h100" } }, [0]],
    [{ matchLabels: { gpu: "l4", zone: "a" } }, []],
    [{ matchExpressions: [{ key: "gpu", operator: "In", values: ["h100", "l4"] }] }, [0, 1]],
    [{ matchExpressions: [{ key: "gpu", operator: "NotIn", values: ["l4"] }] }, [0, 2]],
    [{ matchExpressions: [{ key: "gpu", operator: "Exists" }] }, [0, 1]],
    [{ matchExpressions: [{ key: "gpu", operator: "DoesNotExist" }] }, [2]],
    [{ matchExpressions: [{ key: "toString", operator: "Exists" }] }, []],
    [{ matchLabels: { zone: "a" }, matchExpressions: [{ key: "gpu", operator: "Exists" }] }, [0]],
  ];
  for (const [selector, kept] of cases) {
    it(JSON.stringify(selector), () => {
      const stayed = createPlugin(labelSelector, selector).filter(makeRequest(), pool, makeLoad(3), Math.random);
      assert.deepEqual(
        stayed.map(({ slot }) => slot),
        kept,
      );
    });
  }
});

describe("a selector that makes no sense is refused", () => {
  const wrong = [
    { matchLabels: { gpu: 1 } },
    { matchExpressions: [{ key: "gpu", operator: "In" }] },
    { matchExpressions: [{ key: "gpu", operator: "In", values: [] }] },
    { matchExpressions: [{ key: "gpu", operator: "Exists", values: ["x"] }] },
    { matchExpressions: [{ key: "gpu", operator: "Like", values: ["x"] }] },
    { matchLables: {} },
  ];
  for (const selector of wrong) it(JSON.stringify(selector), () => assert.ok(issuesOf(labelSelector, selector).length > 0));
});

it("the refusal names the filter, not the labels", () => {
  const filter = createPlugin(labelSelector, { matchLabels: { gpu: "h100" } }, makeHost({ name: "only-h100" }));
  const error = filter.refuse!(makeRequest(), pool);
  assert.equal(error.code, "no_ready_endpoint");
  assert.match(error.message, /"only-h100"/);
});
