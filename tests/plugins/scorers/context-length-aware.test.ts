import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import contextLengthAware from "../../../plugins/scorers/context-length-aware.ts";
import { makeEndpoint, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, issuesOf } from "../../support/plugins.ts";

const LABEL = "llm-d.ai/context-length-range";
const labelled = (range: string | undefined, slot = 0) =>
  makeEndpoint(slot, { labels: range === undefined ? {} : { [LABEL]: range } });

/** The score of one endpoint, to twelve digits. */
function scoreOf(range: string | undefined, promptTokens: number): number {
  const scores = createPlugin(contextLengthAware).score(makeRequest({ promptTokens }), [labelled(range)], makeLoad(1));
  return Number(scores?.[0]?.toFixed(12));
}

describe("how well a range fits", () => {
  const inRange = (width: number, headroom: number) => 0.3 + 0.7 * (0.7 / (1 + width / 10_000) + (0.3 * headroom) / width);
  const cases: readonly [range: string | undefined, promptTokens: number, score: number][] = [
    ["0-20", 0, inRange(20, 20)],
    ["0-10000", 0, 0.3 + 0.7 * (0.35 + 0.3)],
    ["500-1000", 0, 0.3 / 1.5],
    [undefined, 0, 0.5],
    ["0-100", 100, inRange(100, 0)],
    ["100-100", 100, 1],
    ["0-2048", 9000, 0.3 / (1 + 6952 / 1000)],
    ["0-8192", 9000, 0.3 / (1 + 808 / 1000)],
    ["500-2048", 50, 0.3 / 1.45],
    ["100-1024", 50, 0.3 / 1.05],
    ["", 5, 0],
    ["0-100-200", 5, 0],
    ["100-50", 60, 0],
    ["abc-100", 5, 0],
    [" 0 - 100 ", 100, inRange(100, 0)],
  ];
  for (const [range, promptTokens, score] of cases) {
    it(`${promptTokens} tokens in ${JSON.stringify(range)}`, () =>
      assert.equal(scoreOf(range, promptTokens), Number(score.toFixed(12))));
  }

  it("a length in range scores higher than every length out of range, even at the upper end", () => {
    assert.ok(scoreOf("0-15000", 14_999) > 0.3);
    assert.ok(scoreOf("15001-20000", 14_999) < 0.3);
  });
});

describe("enableFiltering", () => {
  const pool = [labelled("0-100", 0), labelled("100-500", 1), labelled("0-2000", 2), labelled(undefined, 3), labelled("x", 4)];
  const cases: readonly [promptTokens: number, kept: readonly number[]][] = [
    [0, [0, 2, 3]],
    [100, [0, 1, 2, 3]],
    [4000, [3]],
  ];
  for (const [promptTokens, kept] of cases) {
    it(`${promptTokens} tokens`, () => {
      const { filter } = createPlugin(contextLengthAware, { enableFiltering: true });
      const stayed = filter?.(makeRequest({ promptTokens }), pool, makeLoad(5), Math.random) ?? [];
      assert.deepEqual(
        stayed.map(({ slot }) => slot),
        kept,
      );
    });
  }

  it("is off by default", () => assert.equal(createPlugin(contextLengthAware).filter, undefined));

  it("refuses with a message that says what to change", () => {
    const { refuse } = createPlugin(contextLengthAware, { enableFiltering: true });
    assert.match(refuse?.(makeRequest(), pool).message ?? "", /change its length, or a replica's range/);
  });
});

test("the label's name can be set, but not to an empty one", () => {
  const scorer = createPlugin(contextLengthAware, { label: "length" });
  const pool = [makeEndpoint(0, { labels: { length: "7-7" } }), labelled("7-7", 1)];
  assert.deepEqual(scorer.score(makeRequest({ promptTokens: 7 }), pool, makeLoad(2)), [1, 0.5]);
  assert.equal(issuesOf(contextLengthAware, { label: "" }).length, 1);
});
