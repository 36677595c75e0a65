import assert from "node:assert/strict";
import type { ReplicaAssertion } from "./checks.ts";
import { fields, jsonOf, list, send, targets } from "./checks.ts";

/** Health and model list. */
export const serviceRows: readonly ReplicaAssertion[] = [
  {
    name: "health is 200 with nothing in it",
    needs: "any",
    async run(baseUrl) {
      const response = await send(baseUrl, "/health");
      assert.equal(response.status, 200);
      assert.match(await response.text(), /^(\{\})?$/);
    },
  },
  {
    name: "the model list has the base and every adapter",
    needs: "any",
    async run(baseUrl, names) {
      const answer = await jsonOf(await send(baseUrl, "/v1/models"));
      assert.equal(answer["object"], "list");
      const cards = list(answer["data"], "data");
      for (const card of cards) fields(card, { id: "string", object: ["model"], created: "number", owned_by: "string" });
      const ids = cards.map((card) => card["id"]);
      for (const name of targets(names)) assert.ok(ids.includes(name), name);
    },
  },
];
