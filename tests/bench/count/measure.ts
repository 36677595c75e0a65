import { type Costs, costsOf } from "./cost.ts";
import { startLockStep, type Traffic } from "./lock-step.ts";
import { startMeasuredRouter } from "./measured-router.ts";

/** What is measured, and how its costs are told. */
interface Measurement {
  readonly traffic: Traffic;
  /** Of each stream that is measured; the costs are those of one of them. */
  readonly chunks: number;
  readonly requests: number;
  /** Until V8 has compiled what it will compile, and all that the router remembers is full: with twice as many the costs are the same. */
  readonly warmUpRequests: number;
}

/** Of each stream of the warm-up, so that there can be many. */
const WARM_UP_CHUNKS = 5;

const JSON_ANSWER = { chunks: 1, requests: 200, warmUpRequests: 6000 };
/** By the names that they have in the file, in the order in which they are printed. */
const MEASUREMENTS: Readonly<Record<string, Measurement>> = {
  "a small chat completion": { traffic: { bodyBytes: 0, isStream: false }, ...JSON_ANSWER },
  "a chat completion of 4 KB": { traffic: { bodyBytes: 4096, isStream: false }, ...JSON_ANSWER },
  "a chunk of a stream of 100": {
    traffic: { bodyBytes: 0, isStream: true },
    ...{ chunks: 100, requests: 100, warmUpRequests: 5000 },
  },
};

/** All of them at once, each with a router and replicas of its own. */
export async function measureAll(): Promise<ReadonlyMap<string, Costs>> {
  const names = Object.entries(MEASUREMENTS);
  return new Map(await Promise.all(names.map(async ([name, measurement]) => [name, await measure(measurement)] as const)));
}

/** Costs of the router alone: the client and the replicas are in this process, the router in another. */
async function measure({ traffic, chunks, requests, warmUpRequests }: Measurement): Promise<Costs> {
  const lockStep = await startLockStep(traffic);
  const router = await startMeasuredRouter(lockStep.urls);
  const ask = (times: number, chunksOfEach: number) => lockStep.ask(router.port, times, chunksOfEach);
  try {
    await router.tell("hold");
    await ask(warmUpRequests, WARM_UP_CHUNKS);
    await router.tell("countBytes");
    await ask(requests, chunks);
    const profile = await router.tell("takeBytes");
    // From here on V8 compiles nothing: that changes what is allocated, and no call.
    await router.tell("countCalls");
    await ask(requests, chunks);
    const coverage = await router.tell("takeCalls");
    if (router.logged < warmUpRequests) throw new Error("The measured router writes no access log, which is not the default.");
    return costsOf(coverage, profile, requests * chunks);
  } finally {
    await router.stop();
    await lockStep.close();
  }
}
