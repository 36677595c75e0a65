import assert from "node:assert/strict";
import { describe, it } from "node:test";
import activeRequest from "../../../plugins/scorers/active-request.ts";
import { makeEndpoints, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

describe("active-request", () => {
  const cases: readonly [parameters: object, inFlight: readonly number[], scores: readonly number[]][] = [
    [{}, [0, 0, 0], [1, 1, 1]],
    [{}, [0, 5, 10], [1, 0.5, 0]],
    [{}, [3, 3, 3], [0, 0, 0]],
    [{ idleThreshold: 2 }, [1, 2, 8], [1, 1, 0]],
    [{ idleThreshold: 2 }, [1, 2, 2], [1, 1, 1]],
    [{ maxBusyScore: 0.5 }, [0, 5, 10], [1, 0.25, 0]],
    [{}, [3, 0, 6], [0.5, 1, 0]],
    [{}, [4, 0, 1], [0, 1, 0.75]],
    [{ idleThreshold: 0, maxBusyScore: 0 }, [1, 0, 0], [0, 1, 1]],
    [{ idleThreshold: 1, maxBusyScore: 0.5 }, [1, 2, 0], [1, 0, 1]],
    [{}, [3, 11, 11], [8 / 11, 0, 0]],
  ];
  for (const [parameters, inFlight, scores] of cases) {
    it(`${JSON.stringify(parameters)} ${inFlight.join(", ")}`, () => {
      const load = makeLoad(3, { inFlight });
      assert.deepEqual(createPlugin(activeRequest, parameters).score(makeRequest(), makeEndpoints(3), load), scores);
    });
  }
});
