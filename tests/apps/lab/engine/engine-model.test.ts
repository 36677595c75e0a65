import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ENGINE_TIMES } from "../../../../apps/lab/engine/engine-times.ts";
import { Engine } from "../../../../apps/lab/mock/engine.ts";
import { settingsOf } from "../../../../apps/lab/mock/options.ts";
import { tokenize } from "../../../../apps/lab/mock/tokens.ts";
import { EventQueue } from "../../../../apps/lab/simulate/events.ts";
import { Job } from "../../../../apps/lab/simulate/job.ts";
import { PromptWriter } from "../../../../apps/lab/simulate/prompt-bytes.ts";
import { Replica } from "../../../../apps/lab/simulate/replica.ts";
import { Prompt, type TraceRequest } from "../../../../apps/lab/simulate/trace.ts";
import { settle } from "../../../support/fake-clock.ts";

/** Tokens of a block that prompts share; a multiple of the engine's own blocks. */
const SHARED_TOKENS = 640;

interface Times {
  readonly cachedTokens: number[];
  readonly firstMs: number[];
  readonly lastMs: number[];
}

const noTimes = (): Times => ({ cachedTokens: [], firstMs: [], lastMs: [] });

function simulated(requests: readonly TraceRequest[]): Times {
  const queue = new EventQueue();
  const times = noTimes();
  const jobs = requests.map((request) => new Job(request));
  const replica = new Replica(ENGINE_TIMES, 1, queue, {
    firstToken: (job) => {
      times.cachedTokens[jobs.indexOf(job)] = job.cachedTokens;
      times.firstMs[jobs.indexOf(job)] = queue.now();
    },
    finished: (job) => {
      times.lastMs[jobs.indexOf(job)] = queue.now();
    },
    decoded() {},
  });
  for (const job of jobs) queue.at(job.request.atMs, () => replica.enqueue(job));
  while (queue.runNext());
  return times;
}

/** The same on the mock's engine, which reads its prompts as text. */
async function mocked(requests: readonly TraceRequest[]): Promise<Times> {
  const clock = new EventQueue();
  const times = noTimes();
  const engine = new Engine(settingsOf({ model: "m", clock, ...ENGINE_TIMES }));
  const writer = new PromptWriter(requests);
  const submit = (request: TraceRequest, at: number) =>
    engine.submit({
      prompt: tokenize(new TextDecoder().decode(writer.write(request))),
      replyTokens: request.outputTokens,
      cacheKey: "",
      adapter: "",
      admitted: (cachedTokens) => void times.cachedTokens.splice(at, 1, cachedTokens),
      token() {
        times.firstMs[at] ??= clock.now();
      },
      finished() {
        times.lastMs[at] = clock.now();
      },
    });
  for (const [at, request] of requests.entries()) {
    times.cachedTokens.push(-1);
    clock.at(request.atMs, () => void submit(request, at));
  }
  while (clock.runNext()) await settle();
  return times;
}

/** Keeps requests from coming at the very moment a step ends, where the last bit of a sum decides which is first. Milliseconds. */
const OFF_BEAT_MS = 0.031;

/** Requests one after another; those of one family share the blocks that the shorter of two has, and none shares its end. */
const traffic = fc
  .array(
    fc.record({
      pauseMs: fc.integer({ min: 1, max: 700 }),
      family: fc.integer({ min: 0, max: 2 }),
      sharedBlocks: fc.integer({ min: 0, max: 10 }),
      ownTokens: fc.integer({ min: 1, max: SHARED_TOKENS }),
      outputTokens: fc.integer({ min: 1, max: 30 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((rows) => {
    let atMs = 0;
    return rows.map(({ pauseMs, family, sharedBlocks, ownTokens, outputTokens }, index): TraceRequest => {
      atMs += pauseMs + OFF_BEAT_MS;
      const shared = Array.from({ length: sharedBlocks }, (_, block) => 1 + 20 * family + block);
      const tokens = sharedBlocks * SHARED_TOKENS + ownTokens;
      const prompt = new Prompt(tokens, Int32Array.from([...shared, 1_000 + index]), (block) => block * SHARED_TOKENS);
      return { line: index + 1, atMs, prompt, outputTokens, model: "m" };
    });
  });

test("the mock's engine finds as much cached and takes as long as the simulator's replica", async () => {
  const rounded = ({ cachedTokens, firstMs, lastMs }: Times) => {
    const micros = (ms: readonly number[]) => ms.map((value) => Math.round(value * 1000));
    return { cachedTokens, first: micros(firstMs), last: micros(lastMs) };
  };
  await fc.assert(
    fc.asyncProperty(traffic, async (requests) => {
      assert.deepEqual(rounded(await mocked(requests)), rounded(simulated(requests)));
    }),
    { numRuns: 40 },
  );
});
