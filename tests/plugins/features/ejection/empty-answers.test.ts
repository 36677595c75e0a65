import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import { makeEndpoint, makeEndpoints, seededRandom } from "../../../../core/contract/test-kit.ts";
import { EmptyAnswers } from "../../../../plugins/features/ejection/empty-answers.ts";

/** What the detector asks for by default. */
const PROOF = 1e4;
const POOL = makeEndpoints(4);
const [first, second] = POOL as [Endpoint, Endpoint];

/** Gives answers in turn; `isEmpty` says which are empty. Returns how many the first endpoint gave until it is proven bad, if it is. */
function untilProof(
  isEmpty: (index: number, turn: number) => boolean,
  turns: number,
  empty = new EmptyAnswers(),
): number | undefined {
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, endpoint] of POOL.entries()) empty.answered("m", endpoint, isEmpty(index, turn), true);
    if (empty.evidence(first) >= PROOF) return turn + 1;
  }
  return undefined;
}

describe("answers that are empty", () => {
  it("at one of four, which others' never are, prove it bad after so many", () => {
    assert.equal(
      untilProof((index) => index === 0, 100),
      19,
    );
  });

  it("everywhere prove nothing, whatever their share", () => {
    const random = seededRandom(1);
    assert.equal(
      untilProof(() => true, 10_000),
      undefined,
    );
    for (const share of [0.001, 0.01, 0.1, 0.5, 0.9])
      assert.equal(
        untilProof(() => random() < share, 10_000),
        undefined,
        `${share}`,
      );
  });

  it("half of the time prove it bad too", () => {
    const turns = untilProof((index, turn) => index === 0 && turn % 2 === 0, 100);
    assert.ok(turns !== undefined && turns < 60, `${turns}`);
  });

  it("twice as often as elsewhere prove nothing", () => {
    const random = seededRandom(2);
    assert.equal(
      untilProof((index) => random() < (index === 0 ? 0.1 : 0.05), 20_000),
      undefined,
    );
  });

  it("for a target that only it serves prove nothing", () => {
    const empty = new EmptyAnswers();
    for (let n = 0; n < 1_000; n++) {
      empty.answered("mine", first, true, true);
      for (const endpoint of POOL.slice(1)) empty.answered("m", endpoint, false, true);
    }
    assert.equal(empty.evidence(first), 1);
  });

  it("to requests that were drawn to it are not compared, but give reason to doubt it", () => {
    const empty = new EmptyAnswers();
    for (let n = 0; n < 10; n++) {
      empty.answered("m", first, true, false);
      empty.answered("m", second, false, true);
    }
    assert.deepEqual([empty.evidence(first), empty.isDoubtful(first)], [1, true]);
  });

  it("of another replica in the same slot do not count", () => {
    const empty = new EmptyAnswers();
    untilProof((index) => index === 0, 100, empty);
    const next = makeEndpoint(first.slot, { generation: first.generation + 1 });
    assert.equal(empty.isDoubtful(next), false);
    empty.answered("m", next, false, true);
    assert.deepEqual([empty.evidence(next), empty.share(next)], [1, 0]);
  });

  it("count no more when they are forgiven, also for whom the others are compared with", () => {
    const empty = new EmptyAnswers();
    untilProof((index) => index === 0, 100, empty);
    empty.forgive(first);
    assert.deepEqual([empty.evidence(first), empty.isDoubtful(first)], [1, false]);
    for (let n = 0; n < 100; n++) empty.answered("m", second, false, true);
    assert.equal(empty.isUsual("m", second), false);
  });
});

describe("a doubt", () => {
  it("comes with the third empty answer in a row, and goes with one that is not, or when others' are empty too", () => {
    const empty = new EmptyAnswers();
    const seen: boolean[] = [];
    const answer = (endpoint: Endpoint, isEmpty: boolean) => {
      empty.answered("m", endpoint, isEmpty, true);
      seen.push(empty.isDoubtful(first));
    };
    for (let n = 0; n < 3; n++) answer(first, true);
    answer(first, false);
    assert.deepEqual(seen.splice(0), [false, false, true, false]);
    for (let n = 0; n < 3; n++) answer(first, true);
    answer(second, true);
    assert.deepEqual(seen, [false, false, true, false]);
  });

  it("counts each other endpoint once, however quick it is", () => {
    const empty = new EmptyAnswers();
    for (let n = 0; n < 1_000; n++) empty.answered("m", second, true, true);
    for (let n = 0; n < 10; n++) for (const endpoint of POOL.slice(2)) empty.answered("m", endpoint, false, true);
    for (let n = 0; n < 7; n++) empty.answered("m", first, true, true);
    assert.deepEqual([empty.isDoubtful(first), empty.isUsual("m", first)], [true, false]);
  });

  const healthy = [2, 3, 8].flatMap((endpoints) => [0.01, 0.1, 0.2, 0.5, 0.9, 0.99, 1].map((share) => ({ endpoints, share })));
  for (const { endpoints, share } of healthy) {
    it(`comes rarely at one of ${endpoints} healthy endpoints, where ${100 * share} % of the answers are empty everywhere`, () => {
      const pool = makeEndpoints(endpoints);
      const random = seededRandom(3);
      const empty = new EmptyAnswers();
      let doubts = 0;
      let isDoubted = false;
      for (let n = 0; n < 20_000; n++) {
        empty.answered("m", pool[Math.floor(random() * endpoints)]!, random() < share, true);
        const was = isDoubted;
        isDoubted = empty.isDoubtful(pool[0]!);
        if (isDoubted && !was) doubts += 1;
      }
      // Each of its answers begins one with a probability of a thousandth at most; the first answers know little of the others.
      assert.ok(doubts <= 2 + (1.5 * 20_000) / endpoints / 1_000, `${doubts}`);
    });
  }
});

describe("what is usual", () => {
  it("is said by the others, of the same target", () => {
    const empty = new EmptyAnswers();
    assert.equal(empty.isUsual("m", first), false);
    for (const endpoint of POOL) empty.answered("m", endpoint, true, true);
    assert.deepEqual([empty.isUsual("m", first), empty.isUsual("other", first)], [true, false]);
  });

  it("changes when enough others came", () => {
    const empty = new EmptyAnswers();
    untilProof(() => true, 3_000, empty);
    assert.equal(empty.isUsual("m", first), true);
    untilProof(() => false, 6_000, empty);
    assert.equal(empty.isUsual("m", first), false);
  });
});
