import { readTraceFile } from "../../../apps/cli/simulate/trace-file.ts";
import { Prompt, type Trace, type TraceRequest } from "../../../apps/lab/simulate/trace.ts";
import { seededRandom } from "../../../core/contract/test-kit.ts";

/** As in Mooncake's traces. */
const BLOCK_TOKENS = 512;
/** What all prompts begin with, and what each one has of its own. */
const SHARED_BLOCKS = 16;
const OWN_TOKENS = 64;
const LEAST_OUTPUT = 64;
const MOST_OUTPUT = 192;
/** So many at once bring the shared part to caches; they are less than a hundredth of all, so that p99 tells of what comes after. */
const FIRST = 64;
const PAUSE_MS = 30_000;
const REQUESTS = 8_192;
const STEADY_PER_S = 100;

/** When requests come, if so many come at once, at random moments within a time. */
function bursts(count: number, withinMs: number, random: () => number): readonly number[] {
  return Array.from({ length: REQUESTS }, (_, index) => (1 + Math.floor(index / count)) * PAUSE_MS + withinMs * random());
}

/** Traces that are made here: prompts with one long beginning, when many come at once. */
const MADE: Readonly<Record<string, (random: () => number) => readonly number[]>> = {
  "64 at once": (random) => bursts(64, 0, random),
  "1024 in 1 s": (random) => bursts(1_024, 1_000, random),
  "steady shared": (random) => {
    const times: number[] = [];
    for (let atMs = PAUSE_MS; times.length < REQUESTS; times.push(atMs)) atMs -= (1_000 / STEADY_PER_S) * Math.log(1 - random());
    return times;
  },
};

export const SHARED_PROMPTS: readonly string[] = Object.keys(MADE);

/** One of these traces by its name, or the one in that file. */
export async function readTrace(nameOrFile: string): Promise<Trace> {
  return sharedPromptTrace(nameOrFile) ?? (await readTraceFile(nameOrFile));
}

/** The trace of that name, the same each time; undefined if it is none of these. */
function sharedPromptTrace(name: string): Trace | undefined {
  const random = seededRandom(1);
  const times = MADE[name]?.(random);
  if (times === undefined) return undefined;
  const arrivals = [...new Array<number>(FIRST).fill(0), ...times.toSorted((a, b) => a - b)];
  const requests = arrivals.map((atMs, index) => requestAt(atMs, index, random));
  return { name, requests, hasPrefixes: true, skippedLines: 0 };
}

function requestAt(atMs: number, index: number, random: () => number): TraceRequest {
  const blocks = Int32Array.from({ length: SHARED_BLOCKS + 1 }, (_, at) => at + 1);
  blocks[SHARED_BLOCKS] = SHARED_BLOCKS + 1 + index;
  const prompt = new Prompt(SHARED_BLOCKS * BLOCK_TOKENS + OWN_TOKENS, blocks, (block) => block * BLOCK_TOKENS);
  const outputTokens = Math.round(LEAST_OUTPUT + (MOST_OUTPUT - LEAST_OUTPUT) * random());
  return { line: index + 1, atMs, prompt, outputTokens, model: "simulated" };
}
