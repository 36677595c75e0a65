import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RouterError } from "../../core/contract/errors.ts";
import { seededRandom } from "../support/endpoints.ts";
import { builtInsOf, situations } from "./pools.ts";

for (const [type, create] of builtInsOf("filter")) {
  describe(`the filter ${type}`, () => {
    it("keeps some of the candidates, in their order", () => {
      for (const { name, request, candidates, load } of situations()) {
        const kept = create().filter(request, candidates, load, seededRandom(1));
        const stayed = new Set(kept);
        assert.deepEqual(
          kept.map((endpoint) => endpoint.name),
          candidates.filter((endpoint) => stayed.has(endpoint)).map((endpoint) => endpoint.name),
          name,
        );
      }
    });

    it("gives the same result again for the same inputs", () => {
      const filter = create();
      for (const { name, request, candidates, load } of situations()) {
        const ask = () => filter.filter(request, candidates, load, seededRandom(3));
        assert.deepEqual(ask(), ask(), name);
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
