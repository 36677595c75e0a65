import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { seededRandom } from "../../core/contract/test-kit.ts";
import { growthOf, growthProblems } from "./growth.ts";

/** Samples of a run that leaves `leak` bytes behind per request, at 100 requests each 3 s, with a noise of up to `noise` bytes. */
function samplesOf(leak: number, noise = 0, count = 40) {
  const random = seededRandom(1);
  return Array.from({ length: count }, (_, index) => {
    const requests = index * 300;
    const bytes = () => 80e6 + leak * requests + noise * random();
    return { requests, live: bytes(), resident: bytes() };
  });
}

describe("growth of memory", () => {
  it("is what each request leaves behind", () => {
    const { livePerRequest, residentPerRequest, requests } = growthOf(samplesOf(321));
    assert.deepEqual([livePerRequest, residentPerRequest, requests], [321, 321, 19 * 300]);
  });

  it("is that of the second half: a program may fill its caches first", () => {
    const samples = samplesOf(0).map((each, index) => (index < 20 ? { ...each, live: index * 1e6 } : each));
    assert.equal(growthOf(samples).livePerRequest, 0);
  });

  it("does not follow outliers", () => {
    const samples = samplesOf(0).map((each, index) => (index % 8 === 7 ? { ...each, resident: 500e6 } : each));
    assert.equal(growthOf(samples).residentPerRequest, 0);
  });
});

describe("the bound on growth", () => {
  const cases: readonly (readonly [what: string, leak: number, noise: number, count: number, problems: number])[] = [
    ["allows none", 0, 0, 40, 0],
    ["allows noise", 0, 2e6, 40, 0],
    ["is exceeded by 400 bytes a request within two minutes", 400, 0.2e6, 40, 1],
    ["is exceeded in both numbers by 400 bytes a request within an hour", 400, 2e6, 1200, 2],
    ["is exceeded by 4 KB a request at once", 4_000, 2e6, 40, 2],
    ["counts a run without samples as failed", 0, 0, 1, 1],
  ];
  for (const [what, leak, noise, count, problems] of cases) {
    it(what, () => assert.equal(growthProblems(growthOf(samplesOf(leak, noise, count))).length, problems));
  }
});
