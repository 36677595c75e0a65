import {
  BlockIds,
  MAX_OUTPUT_TOKENS,
  MAX_PROMPT_TOKENS,
  numberIn,
  Prompt,
  type RecordedRequest,
  TraceError,
  type TraceFormat,
} from "./trace.ts";

const BLOCK_TOKENS = 512;
const MAX_TIME_MS = 1e12;
/** The model of every request, since the trace names none. */
const MODEL = "simulated";

const startOf = (block: number) => block * BLOCK_TOKENS;

/**
 * Mooncake's open traces. A line has timestamp (ms), input_length, output_length and hash_ids, one for each 512-token block;
 * the last block may be partial.
 */
export function mooncakeFormat(): TraceFormat {
  const ids = new BlockIds();
  return {
    hasPrefixes: () => true,
    request(line): RecordedRequest {
      const tokens = Math.ceil(numberIn(line, "input_length", 1, MAX_PROMPT_TOKENS));
      return {
        atMs: numberIn(line, "timestamp", 0, MAX_TIME_MS),
        prompt: new Prompt(tokens, blocksOf(line["hash_ids"], Math.ceil(tokens / BLOCK_TOKENS), ids), startOf),
        outputTokens: Math.max(1, Math.ceil(numberIn(line, "output_length", 0, MAX_OUTPUT_TOKENS))),
        model: MODEL,
      };
    },
  };
}

function blocksOf(names: unknown, wanted: number, ids: BlockIds): Int32Array {
  if (!Array.isArray(names) || names.length !== wanted) {
    throw new TraceError(`"hash_ids" must list one id for each ${BLOCK_TOKENS} tokens of input_length: ${wanted}`);
  }
  const blocks = Int32Array.from(names, (name: unknown) => {
    if (typeof name !== "number" && typeof name !== "string") throw new TraceError(`"hash_ids" must be numbers or strings`);
    return ids.of(name);
  });
  if (new Set(blocks).size !== wanted)
    throw new TraceError(`"hash_ids" must differ: each identifies the whole prompt up to its block`);
  return blocks;
}
