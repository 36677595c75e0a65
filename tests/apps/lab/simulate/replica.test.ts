import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ENGINE_TIMES, type EngineTimes } from "../../../../apps/lab/engine/engine-times.ts";
import { EventQueue } from "../../../../apps/lab/simulate/events.ts";
import { Job } from "../../../../apps/lab/simulate/job.ts";
import { Replica } from "../../../../apps/lab/simulate/replica.ts";
import type { TraceRequest } from "../../../../apps/lab/simulate/trace.ts";
import { makeTraced } from "./traces.ts";

/** One prompt token per ms, at most 200 per step; a decode step takes 10 ms plus 2 ms for each request; no other overhead. */
const MODEL: EngineTimes = {
  prefillTokensPerS: 1000,
  decodeStepMs: 10,
  decodePerRequestMs: 2,
  overheadMs: 0,
  chunkTokens: 200,
  maxRunning: 256,
  kvTokens: 100_000,
  blockTokens: 100,
  transferMs: 5,
  transferTokensPerS: 10_000,
};

interface Case {
  readonly name: string;
  readonly model?: Partial<EngineTimes>;
  readonly speed?: number;
  /** What is done to it, and when. */
  readonly deeds?: readonly (readonly [atMs: number, deed: (replica: Replica, jobs: readonly Job[]) => void])[];
  readonly requests: readonly TraceRequest[];
  /** When each request's first and last token came. */
  readonly first: readonly number[];
  readonly last: readonly number[];
}

/** When first and last tokens came (-1: never), and what else happened. */
function run({ model, speed = 1, deeds = [], requests }: Pick<Case, "model" | "speed" | "deeds" | "requests">) {
  const queue = new EventQueue();
  const first = requests.map(() => -1);
  const last = requests.map(() => -1);
  const steps: string[] = [];
  const jobs = requests.map((request) => new Job(request));
  const replica = new Replica({ ...MODEL, ...model }, speed, queue, {
    firstToken: (job) => {
      first[jobs.indexOf(job)] = queue.now();
    },
    finished: (job) => {
      last[jobs.indexOf(job)] = queue.now();
    },
    decoded: (batch, count, stepMs) => steps.push(`${count} of ${batch} at ${stepMs} ms`),
  });
  const accepted: boolean[] = [];
  for (const job of jobs) queue.at(job.request.atMs, () => accepted.push(replica.enqueue(job)));
  for (const [atMs, deed] of deeds) queue.at(atMs, () => deed(replica, jobs));
  while (queue.runNext());
  return { first, last, steps, jobs, accepted, replica, endMs: queue.now() };
}

const cases: readonly Case[] = [
  { name: "a prompt of one chunk, an output of one token", requests: [makeTraced(5, [1])], first: [105], last: [105] },
  {
    name: "a prompt of three chunks, an output of three tokens",
    requests: [makeTraced(0, [1, 2, 3, 4, 5], 3)],
    first: [500],
    last: [524],
  },
  { name: "half the speed", speed: 0.5, requests: [makeTraced(0, [1, 2, 3, 4, 5], 3)], first: [1000], last: [1048] },
  {
    name: "a fixed cost of every step",
    model: { overheadMs: 1 },
    requests: [makeTraced(0, [1, 2, 3], 3)],
    first: [302],
    last: [328],
  },
  {
    name: "two prompts share a chunk, the first one first",
    requests: [makeTraced(0, [1, 2, 3]), makeTraced(0, [4, 5])],
    // 200 of the first, then its last 100 with 100 of the second.
    first: [400, 500],
    last: [400, 500],
  },
  {
    name: "prompts that fit into one step end with it",
    requests: [makeTraced(0, [9, 8]), makeTraced(0, [1]), makeTraced(0, [2])],
    first: [200, 400, 400],
    last: [200, 400, 400],
  },
  {
    name: "each step yields one token for each request whose prompt is done",
    requests: [makeTraced(0, [1], 4), makeTraced(1, [2, 3, 4, 5], 1)],
    // 100, then two steps of 200 + 12, then one of 12.
    first: [100, 524],
    last: [536, 524],
  },
  {
    name: "a prompt that arrives during a decode step waits for its end",
    requests: [makeTraced(0, [1], 100), makeTraced(130, [2], 1)],
    // 100, 112, 124, 136, then 100 + 12.
    first: [100, 248],
    last: [100 + 98 * 12 + 112, 248],
  },
  {
    name: "a prompt that arrives exactly between two steps",
    requests: [makeTraced(0, [1], 100), makeTraced(124, [2], 1)],
    first: [100, 236],
    last: [100 + 98 * 12 + 112, 236],
  },
  {
    name: "two prompts that arrive at the same time",
    requests: [makeTraced(0, [1], 100), makeTraced(124, [2], 1), makeTraced(124, [3], 1)],
    first: [100, 336, 336],
    last: [100 + 98 * 12 + 212, 336, 336],
  },
  {
    name: "a cached prefix takes no time, except its last token",
    requests: [makeTraced(0, [1, 2]), makeTraced(0, [1, 2])],
    first: [200, 201],
    last: [200, 201],
  },
  {
    name: "the number of running requests is limited",
    model: { maxRunning: 1 },
    requests: [makeTraced(0, [1], 3), makeTraced(0, [2], 1)],
    first: [100, 224],
    last: [124, 224],
  },
  {
    name: "a request waits for blocks, and so do those behind it",
    model: { kvTokens: 400 },
    requests: [makeTraced(0, [1, 2], 101), makeTraced(0, [3, 4, 6], 1), makeTraced(0, [5], 1)],
    // 200, then 100 steps of 12; then both prompts, in steps of 200 tokens.
    first: [200, 1800, 1800],
    last: [1400, 1800, 1800],
  },
  {
    name: "half the pace in the middle of a prompt",
    deeds: [[50, (replica) => replica.changePace(0.5)]],
    requests: [makeTraced(0, [1], 2)],
    first: [150],
    last: [174],
  },
  {
    name: "a quarter of the pace in the middle of decoding, then all of it again",
    // At 148 four of nine steps are done; at 244 two more, and a quarter of one at 256.
    deeds: [
      [148, (replica) => replica.changePace(0.25)],
      [256, (replica) => replica.changePace(1)],
    ],
    requests: [makeTraced(0, [1], 10)],
    first: [100],
    last: [256 + 9 + 24],
  },
  {
    name: "a standstill, in which a request comes and another is given up",
    deeds: [
      [50, (replica) => replica.changePace(0)],
      [300, (replica, jobs) => replica.cancel(jobs[1]!)],
      [1050, (replica) => replica.changePace(1)],
    ],
    requests: [makeTraced(0, [1]), makeTraced(200, [2]), makeTraced(250, [3])],
    first: [1100, -1, 1200],
    last: [1100, -1, 1200],
  },
  {
    name: "one that is given up while its prompt is worked on leaves its step as it is",
    deeds: [[50, (replica, jobs) => replica.cancel(jobs[0]!)]],
    requests: [makeTraced(0, [1, 2, 3]), makeTraced(0, [4])],
    first: [-1, 300],
    last: [-1, 300],
  },
  {
    name: "one that is given up while it decodes makes the others' steps shorter from the next on",
    deeds: [[235, (replica, jobs) => replica.cancel(jobs[1]!)]],
    requests: [makeTraced(0, [1], 100), makeTraced(0, [2], 100)],
    // The last step of two ends at 240.
    first: [100, 212],
    last: [240 + 96 * 12, -1],
  },
  {
    name: "one that is given up makes room for another",
    model: { kvTokens: 500 },
    deeds: [[205, (replica, jobs) => replica.cancel(jobs[0]!)]],
    requests: [makeTraced(0, [1, 2], 101), makeTraced(0, [3, 4], 1)],
    first: [200, 412],
    last: [-1, 412],
  },
  {
    name: "a restart loses all that is under way and waits, and what comes later finds an idle replica",
    deeds: [[150, (replica) => replica.restart()]],
    requests: [makeTraced(0, [1], 9), makeTraced(120, [2, 3]), makeTraced(130, [4]), makeTraced(400, [1, 2])],
    first: [100, -1, -1, 600],
    last: [-1, -1, -1, 600],
  },
];

describe("a modelled replica", () => {
  for (const { name, first, last, ...setup } of cases) {
    it(name, () => {
      const ran = run(setup);
      assert.deepEqual({ first: ran.first, last: ran.last }, { first, last });
    });
  }

  it("measures its busy time", () => {
    const { replica, endMs } = run({ requests: [makeTraced(50, [1]), makeTraced(400, [2])] });
    assert.deepEqual([replica.busyMs, endMs], [200, 500]);
  });

  it("refuses a request that can never fit", () => {
    const { accepted, first } = run({ model: { kvTokens: 200 }, requests: [makeTraced(0, [1, 2, 3]), makeTraced(0, [4])] });
    assert.deepEqual({ accepted, first }, { accepted: [false, true], first: [-1, 100] });
  });

  it("reports every decode step with its duration and batch", () => {
    const { steps } = run({ requests: [makeTraced(0, [1], 4), makeTraced(0, [2], 3)] });
    assert.deepEqual(steps, ["1 of 1 at 112 ms", "2 of 2 at 14 ms"]);
  });

  it("counts requests as waiting until a step includes them", () => {
    const queue = new EventQueue();
    const replica = new Replica(MODEL, 1, queue, { firstToken() {}, finished() {}, decoded() {} });
    for (const block of [10, 20, 30]) replica.enqueue(new Job(makeTraced(0, [block, block + 1, block + 2])));
    assert.deepEqual([replica.size, replica.untouched], [3, 2]);
    queue.runNext();
    assert.deepEqual([replica.size, replica.untouched], [3, 1]);
  });

  it("notes the cached tokens of each request", () => {
    const { jobs } = run({ requests: [makeTraced(0, [1, 2]), makeTraced(900, [1, 2, 3])] });
    assert.deepEqual(
      jobs.map((job) => job.cachedTokens),
      [0, 200],
    );
  });

  it("has nothing in its cache after a restart", () => {
    const { jobs, replica } = run({
      deeds: [[500, (restarted) => restarted.restart()]],
      requests: [makeTraced(0, [1, 2]), makeTraced(900, [1, 2])],
    });
    assert.deepEqual([jobs[1]?.cachedTokens, replica.cache.usage], [0, 0]);
  });

  it("knows when its last token came, steps that were run in one go included", () => {
    const seen: number[] = [];
    const look = (atMs: number) => [atMs, (replica: Replica) => void seen.push(replica.lastTokenMs)] as const;
    run({
      deeds: [
        ...[50, 105, 130].map(look),
        [140, (replica) => replica.changePace(0)],
        look(500),
        [600, (replica) => replica.changePace(0.5)],
        ...[610, 620, 2_000].map(look),
      ],
      requests: [makeTraced(0, [1], 6)],
    });
    // Tokens at 100, 112, 124, 136; a third of the next step is done when it stops, the rest of it takes 16 ms; then 24.
    assert.deepEqual(seen, [Number.NEGATIVE_INFINITY, 100, 124, 136, 136, 616, 640]);
  });

  it("knows which prompt tokens are still to be computed, and which need not be", () => {
    const seen: (readonly [left: number, cached: number])[] = [];
    const { prompt } = makeTraced(0, [1, 2, 9]);
    const look = (atMs: number) =>
      [atMs, (replica: Replica) => void seen.push([replica.prefillLeft, replica.cachedTokens(prompt)])] as const;
    run({
      model: { maxRunning: 1 },
      // The second one waits until the first has its three tokens, after steps of 200, 100, 12 and 12 ms; 100 of its 300 are cached then.
      requests: [makeTraced(0, [1, 3, 4], 3), makeTraced(50, [1, 2, 5], 1)],
      deeds: [0, 40, 100, 250, 310, 424, 600].map(look),
    });
    assert.deepEqual(seen, [
      [300, 100],
      [260, 100],
      [400, 200],
      [250, 200],
      [200, 200],
      [100, 200],
      [0, 200],
    ]);
  });

  it("has the published parameters by default", () => {
    assert.deepEqual(ENGINE_TIMES, {
      prefillTokensPerS: 8_000,
      decodeStepMs: 6,
      decodePerRequestMs: 0.35,
      overheadMs: 1,
      chunkTokens: 2_048,
      maxRunning: 256,
      kvTokens: 524_288,
      blockTokens: 16,
      transferMs: 10,
      transferTokensPerS: 200_000,
    });
  });
});
