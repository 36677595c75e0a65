import { Prompt, type Trace, type TraceRequest } from "../../../../apps/lab/simulate/trace.ts";

/** A prompt of these blocks; each has 100 tokens, except the last. */
export function makePrompt(blocks: readonly number[], tokens = 100 * blocks.length): Prompt {
  return new Prompt(tokens, Int32Array.from(blocks), (block) => 100 * block);
}

export function makeTraced(atMs: number, blocks: readonly number[], outputTokens = 1, tokens?: number): TraceRequest {
  return { line: 1, atMs, prompt: makePrompt(blocks, tokens), outputTokens, model: "simulated" };
}

export function makeTrace(requests: readonly TraceRequest[]): Trace {
  return {
    name: "made",
    requests: requests.map((request, index) => ({ ...request, line: index + 1 })),
    hasPrefixes: true,
    skippedLines: 0,
  };
}
