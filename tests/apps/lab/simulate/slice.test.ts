import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { TraceReader } from "../../../../apps/lab/simulate/read-trace.ts";
import { sliceOf } from "../../../../apps/lab/simulate/slice.ts";

const reader = new TraceReader("minutes");
for (let minute = 0; minute < 10; minute++)
  reader.push(
    `${JSON.stringify({ timestamp: minute * 60_000, input_length: 1 + minute, output_length: 1, hash_ids: [minute] })}\n`,
  );
const trace = reader.end();

const CASES = [
  { slice: { fromMinute: 0, minutes: 3, mostRequests: 100 }, atMs: [0, 60_000, 120_000], tokens: [1, 2, 3] },
  { slice: { fromMinute: 4, minutes: 2, mostRequests: 100 }, atMs: [0, 60_000], tokens: [5, 6] },
  { slice: { fromMinute: 3.5, minutes: 1, mostRequests: 100 }, atMs: [0], tokens: [5] },
  { slice: { fromMinute: 8, minutes: 60, mostRequests: 100 }, atMs: [0, 60_000], tokens: [9, 10] },
  { slice: { fromMinute: 2, minutes: 8, mostRequests: 2 }, atMs: [0, 60_000], tokens: [3, 4] },
];

describe("a slice of a trace", () => {
  for (const { slice, atMs, tokens } of CASES) {
    it(`${slice.minutes} minutes from minute ${slice.fromMinute} on, at most ${slice.mostRequests} requests`, () => {
      const { requests } = sliceOf(trace, slice);
      assert.deepEqual(
        requests.map((request) => request.atMs),
        atMs,
      );
      assert.deepEqual(
        requests.map(({ prompt }) => prompt.tokens),
        tokens,
      );
    });
  }

  it("that holds no request is an error that names the switch", () => {
    assert.throws(() => sliceOf(trace, { fromMinute: 10, minutes: 5, mostRequests: 100 }), /choose others with --from/);
  });
});
