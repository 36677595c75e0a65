import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { makeEndpoint, makeEndpoints, makeLoad, makeRequest, seededRandom } from "../../../core/contract/test-kit.ts";
import { decide } from "../../../core/decide/decide.ts";
import { factsOf } from "../../../core/state/facts.ts";
import { makeActiveConfig } from "../../support/active-config.ts";

const ejection = { reason: "", sinceMs: 0, untilMs: 0 };
const onTrial = makeEndpoint(0, { phase: "ejected", isAvailable: true, isOnTrial: true, ejection });
const three = makeEndpoints(3);

describe("a request with a place at an endpoint", () => {
  const cases: readonly [
    name: string,
    endpoints: readonly Endpoint[],
    placedAt: number | undefined,
    first: number | undefined,
  ][] = [
    ["goes there first", three, 1, 1],
    ["goes where the profile wants where it has none", three, -1, undefined],
    ["goes where the profile wants where nothing is said", three, undefined, undefined],
    ["goes elsewhere where that endpoint is gone", three, 7, undefined],
    ["goes to an endpoint on trial before", [onTrial, ...three.slice(1)], 1, 0],
  ];
  for (const [name, endpoints, placedAt, first] of cases) {
    it(name, () => {
      const request = makeRequest(placedAt === undefined ? {} : { placedAt });
      const legOf = (asked = request) =>
        decide(asked, factsOf(endpoints), makeActiveConfig().profile, makeLoad(8), seededRandom(3)).legs[0]!;
      const orderOf = (asked = request) => legOf(asked).order.map(({ slot }) => slot);
      const order = orderOf();
      assert.equal(order[0], first ?? orderOf(makeRequest())[0]);
      assert.equal(legOf().isPlaced, first === 1);
      assert.deepEqual([...order].sort(), endpoints.map(({ slot }) => slot).sort());
    });
  }
});
