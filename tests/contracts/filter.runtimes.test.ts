import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RouterError } from "../../core/contract/errors.ts";
import { situations } from "../../core/test-kit/situations.ts";
import { builtInsOf, checkBuiltIns } from "./pools.ts";

checkBuiltIns("filter");

for (const [type, create] of builtInsOf("filter")) {
  describe(`the filter ${type}`, () => {
    it("says whether it expresses a need or a wish, and leaves a candidate if it is a wish", () => {
      const plugin = create();
      assert.ok(plugin.expresses === "need" || plugin.expresses === "wish");
      if (plugin.expresses === "need") return;
      for (const { name, request, candidates, load } of situations()) {
        const kept = plugin.filter(request, candidates, load, () => 0.5);
        assert.ok(kept.length > 0 || candidates.length === 0, name);
      }
    });

    it("refuses with a sentence that shows no address", () => {
      for (const { name, request, candidates } of situations()) {
        const error = create().refuse?.(request, candidates);
        if (error === undefined) continue;
        assert.ok(error instanceof RouterError, name);
        assert.match(error.message, /^[A-Z].{20,600}\.$/, name);
        assert.doesNotMatch(error.message, /127\.0\.0\.1/, name);
      }
    });
  });
}
