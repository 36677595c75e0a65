/**
 * Loaded in front of the program in the process of a router whose costs are counted: it asks V8 for them when the bench says so. What a
 * request costs must not depend on how fast the machine is, so the router's clock moves a little each time that it is read, and by nothing
 * else; from `hold` on no timer of it runs, so that probes and what is done once a second take no part.
 */
import { type HeapProfiler, type Profiler, Session } from "node:inspector";
import { systemClock } from "../../../core/contract/clock.ts";

/** What the bench asks for, and what it gets; each order is answered. */
export interface Answers {
  readonly hold: true;
  readonly countBytes: true;
  readonly takeBytes: HeapProfiler.SamplingHeapProfile;
  readonly countCalls: true;
  readonly takeCalls: readonly Profiler.ScriptCoverage[];
}

/** A power of two, so that the same span has the same length whenever it begins; with it a request takes about a millisecond. */
const STEP_MS = 1 / 16;
const START_MS = Date.UTC(2030, 0, 1);

let passedMs = 0;
let isHeld = false;
const passed = () => {
  passedMs += STEP_MS;
  return passedMs;
};
const { after, every } = systemClock;
Object.assign(systemClock, {
  now: passed,
  wall: () => START_MS + Math.floor(passed()),
  after: (ms: number, run: () => void) => after(ms, () => isHeld || run()),
  every: (ms: number, run: () => void) => every(ms, () => isHeld || run()),
} satisfies typeof systemClock);

const session = new Session();
session.connect();

/** V8 answers before it returns. */
function asked(method: string, parameters: object = {}): unknown {
  let answer: unknown;
  session.post(method, parameters, (error, result) => {
    if (error !== null) throw error;
    answer = result;
  });
  return answer;
}

const orders: { readonly [Order in keyof Answers]: () => Answers[Order] } = {
  hold() {
    isHeld = true;
    return true;
  },
  countBytes() {
    // Each object is a sample, also one that is garbage by the end.
    const samplingInterval = 1;
    const flags = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
    asked("HeapProfiler.startSampling", { samplingInterval, ...flags });
    return true;
  },
  takeBytes: () => (asked("HeapProfiler.stopSampling") as HeapProfiler.StopSamplingReturnType).profile,
  countCalls() {
    asked("Profiler.enable");
    asked("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    return true;
  },
  takeCalls: () => (asked("Profiler.takePreciseCoverage") as Profiler.TakePreciseCoverageReturnType).result,
};

process.on("message", (order: keyof Answers) => void process.send?.(orders[order]()));
process.on("disconnect", () => process.exit());
