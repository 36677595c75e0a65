import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { RouterError } from "../../../core/contract/errors.ts";
import { hasTargets, invalidTarget, isInvalid, targetReader } from "../../../plugins/scorers/latency-targets.ts";
import { makeHeaders, makeRequest } from "../../support/endpoints.ts";

const NONE = Number.POSITIVE_INFINITY;
const read = targetReader({ ttftMs: 2_000, models: { chat: { ttftMs: 500, tpotMs: 50 }, batch: { tpotMs: 200 } } });

function targetsOf(model: string, headers: Readonly<Record<string, string>> = {}) {
  const { firstTokenMs, tokenMs } = read(makeRequest({ model, headers: makeHeaders(headers) }));
  return [firstTokenMs, tokenMs];
}

describe("a request's targets", () => {
  const cases: readonly [name: string, model: string, headers: Record<string, string>, wanted: readonly number[]][] = [
    ["those of all", "other", {}, [2_000, NONE]],
    ["its model's", "chat", {}, [500, 50]],
    ["its model's, and what that leaves out", "batch", {}, [2_000, 200]],
    ["its header's", "chat", { "x-llm-d-slo-ttft-ms": "300" }, [300, 50]],
    ["the older header's", "chat", { "x-slo-tpot-ms": " 12.5 " }, [500, 12.5]],
    ["the newer header's, of both", "chat", { "x-slo-ttft-ms": "1", "x-llm-d-slo-ttft-ms": "2" }, [2, 50]],
    ["a double's, as Python prints it", "chat", { "x-slo-ttft-ms": "33.333333333333336" }, [33.333333333333336, 50]],
    ["one with an exponent or a bare point", "chat", { "x-slo-ttft-ms": "1e3", "x-slo-tpot-ms": "50." }, [1_000, 50]],
    ["none, for 0", "chat", { "x-slo-ttft-ms": "0", "x-slo-tpot-ms": "0.0" }, [NONE, NONE]],
  ];
  for (const [name, model, headers, wanted] of cases) it(name, () => assert.deepEqual(targetsOf(model, headers), wanted));

  for (const value of ["", "fast", "-1", "NaN", "Infinity", "1e", "1e300", "0x10", "5, 6", "1 2", "9".repeat(40), ".5", "٣"]) {
    it(`is invalid for the header ${JSON.stringify(value)}`, () => {
      const targets = read(makeRequest({ headers: makeHeaders({ "x-slo-ttft-ms": value }) }));
      assert.equal(isInvalid(targets), true);
      const error = invalidTarget(targets);
      assert.ok(error instanceof RouterError);
      assert.deepEqual([error.code, error.status], ["invalid_value", 400]);
      assert.match(error.message, /x-llm-d-slo-ttft-ms \(or x-slo-ttft-ms\) must be a number of milliseconds/);
      assert.ok(value.length < 3 || !error.message.includes(value), "the request is not quoted");
    });
  }
});

test("no target is no target", () => {
  assert.equal(hasTargets(targetReader({ models: {} })(makeRequest())), false);
  assert.equal(hasTargets(targetReader({ tpotMs: 5, models: {} })(makeRequest())), true);
  assert.match(invalidTarget({ firstTokenMs: 1, tokenMs: Number.NaN }).message, /x-llm-d-slo-tpot-ms/);
});
