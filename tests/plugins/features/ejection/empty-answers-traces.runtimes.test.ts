import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { gunzipSync } from "node:zlib";
import { makeEndpoints, seededRandom } from "../../../../core/contract/test-kit.ts";
import { EmptyAnswers } from "../../../../plugins/features/ejection/empty-answers.ts";
import { sharedPath } from "../../../support/shared.ts";

interface Row {
  readonly output_length: number;
  readonly hash_ids: readonly number[];
}

/** What the detector asks for by default, and what no healthy replica comes near. */
const PROOF = 1e4;
const MOST_HEALTHY = 100;
const REPLICAS = 8;
/** Requests that go where most of their prompt is cached; the others go anywhere. */
const STICKING = 0.9;
const BROKEN = 3;

/**
 * How much speaks against any replica in the end, at most, where an answer is empty if its prompt wants it, or if the replica is broken.
 * What was empty is in no cache, unless that is usual, as in the router. Nobody is ejected.
 */
function judge(rows: readonly Row[], isEmpty: (row: Row, slot: number) => boolean) {
  const random = seededRandom(1);
  const answers = new EmptyAnswers();
  const pool = makeEndpoints(REPLICAS);
  const held = pool.map(() => new Set<number>());
  let most = 0;
  let provenAfter = 0;
  for (const row of rows) {
    const cached = held
      .map((blocks) => row.hash_ids.findIndex((id) => !blocks.has(id)))
      .map((n) => (n < 0 ? row.hash_ids.length : n));
    const longest = Math.max(...cached);
    const isStuck = longest > 0 && random() < STICKING;
    const { slot } = pool.filter((each) => !isStuck || cached[each.slot] === longest).sort(() => random() - 0.5)[0]!;
    const endpoint = pool[slot]!;
    const isOne = isEmpty(row, slot);
    const hasRival = cached.some((blocks, other) => other !== slot && blocks >= cached[slot]!);
    if (!isOne || answers.isUsual("m", endpoint)) for (const id of row.hash_ids) held[slot]!.add(id);
    answers.answered("m", endpoint, isOne, !isOne || cached[slot] === 0 || hasRival);
    if (slot === BROKEN && answers.evidence(endpoint) < PROOF) provenAfter += 1;
    most = Math.max(most, answers.evidence(endpoint));
  }
  return { most, provenAfter };
}

for (const name of ["mooncake_conversation_trace", "agentic_coding_trace"]) {
  const path = sharedPath(`traces/${name}.jsonl.gz`);
  const rows: readonly Row[] =
    path === undefined
      ? []
      : gunzipSync(readFileSync(path))
          .toString()
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as Row);
  describe(`on the requests of ${name}`, { skip: path === undefined && "the trace is not beside the checkout" }, () => {
    const lengths = rows.map(({ output_length }) => output_length).sort((a, b) => a - b);

    for (const share of [0.01, 0.05, 0.5]) {
      it(`no healthy replica is nearly proven bad where the ${100 * share} % shortest answers are empty`, () => {
        const longest = lengths[Math.floor(share * lengths.length)]!;
        const { most } = judge(rows, ({ output_length }) => output_length <= longest);
        assert.ok(most < MOST_HEALTHY, `${most}`);
      });

      it(`nor where ${100 * share} % of the conversations want empty answers only`, () => {
        const wants = ({ hash_ids }: Row) => seededRandom(hash_ids[Math.min(1, hash_ids.length - 1)]!)() < share;
        const { most } = judge(rows, wants);
        assert.ok(most < MOST_HEALTHY, `${most}`);
      });
    }

    it("one of eight that is broken is proven bad, beside prompts that want empty answers", () => {
      const longest = lengths[Math.floor(0.05 * lengths.length)]!;
      const { provenAfter } = judge(rows, ({ output_length }, slot) => slot === BROKEN || output_length <= longest);
      assert.ok(provenAfter <= 40, `${provenAfter}`);
    });
  });
}
