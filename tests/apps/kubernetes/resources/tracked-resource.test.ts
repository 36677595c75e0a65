import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { POOL_KINDS } from "../../../../apps/kubernetes/resources/kinds.ts";
import { trackedResource } from "../../../../apps/kubernetes/resources/tracked-resource.ts";

describe("the status that a resource has", () => {
  const good = { type: "Accepted", status: "True" };
  const rows: readonly (readonly [what: string, status: unknown, conditions: unknown])[] = [
    ["conditions", { conditions: [good] }, [good]],
    ["no list", { conditions: "x" }, []],
    ["entries that are none", { conditions: [null, {}, "x", good] }, [good]],
    ["no status", "x", undefined],
  ];
  for (const [what, status, conditions] of rows)
    it(`with ${what}`, () => {
      const tracked = trackedResource(POOL_KINDS[0]!, "llm", { metadata: { name: "food" }, status });
      assert.deepEqual(tracked.status.conditions, conditions);
    });
});
