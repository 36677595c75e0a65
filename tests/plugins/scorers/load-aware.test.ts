import assert from "node:assert/strict";
import { describe, it } from "node:test";
import loadAware from "../../../plugins/scorers/load-aware.ts";
import { makeEndpoints, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, issuesOf } from "../../support/plugins.ts";

const { NaN: UNKNOWN } = Number;

describe("load-aware", () => {
  const cases: readonly [parameters: object, waiting: readonly number[], scores: readonly (number | null)[]][] = [
    [{ threshold: 10 }, [2, 0, 15], [0.4, 0.5, 0]],
    [{}, [0, 64, 128, 1000], [0.5, 0.25, 0, 0]],
    [{}, [UNKNOWN, 0], [null, 0.5]],
  ];
  for (const [parameters, waiting, scores] of cases) {
    it(`${JSON.stringify(parameters)} ${waiting.join(", ")}`, () => {
      const candidates = makeEndpoints(waiting.length);
      assert.deepEqual(createPlugin(loadAware, parameters).score(makeRequest(), candidates, makeLoad(4, { waiting })), scores);
    });
  }

  it("wants a threshold above 0", () => assert.equal(issuesOf(loadAware, { threshold: 0 }).length, 1));
});
