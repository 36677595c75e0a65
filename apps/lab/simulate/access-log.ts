import { blockEnds } from "../../../core/state/prefix-blocks.ts";
import {
  BlockIds,
  type BlockStart,
  MAX_OUTPUT_TOKENS,
  MAX_PROMPT_TOKENS,
  numberIn,
  Prompt,
  TraceError,
  type TraceFormat,
  type TraceLine,
} from "./trace.ts";

const BYTES_PER_TOKEN = 4;
/** Approximate bytes of one token's event in a streamed response, JSON included. */
const BYTES_PER_EVENT = 240;
/** Approximate bytes of JSON around the text in a response that is not streamed. */
const ENVELOPE_BYTES = 400;
/** Hexadecimal digits of one block in `prefixHashes`. */
const HASH_DIGITS = 8;
const MAX_DURATION_MS = 1e9;

/**
 * Reads a router's own access log. With the observer's parameter `replay: true` the log holds token counts and prefix hashes.
 * Without it, prompt lengths are estimated from request bytes and no two prompts share a prefix.
 */
export function accessLogFormat(): TraceFormat {
  const ids = new BlockIds();
  let startOf: BlockStart | undefined;
  return {
    hasPrefixes: () => startOf !== undefined,
    request(line) {
      if (!isServed(line)) return undefined;
      if (typeof line["prefixHashes"] === "string") startOf ??= growingBlocks(numberIn(line, "prefixBlockTokens", 1, 65_536));
      return {
        atMs: timeOf(line) - numberIn(line, "durationMs", 0, MAX_DURATION_MS),
        prompt: promptOf(line, startOf, ids),
        outputTokens: outputTokens(line),
        model: String(line["model"]),
        served: servedOf(line),
        ...turnOf(line),
      };
    },
  };
}

/** Prompts are counted there, not computed. */
const COUNT_PATH = "/count_tokens";

/** Only a request that a replica has served shows how long its output was. */
function isServed({ method, path, status, model }: TraceLine): boolean {
  if (typeof path === "string" && path.endsWith(COUNT_PATH)) return false;
  return (
    method === "POST" && typeof status === "number" && status >= 200 && status < 300 && typeof model === "string" && model !== ""
  );
}

function servedOf({ path, stream, endpoint, firstByteMs }: TraceLine) {
  return {
    path: typeof path === "string" ? path : "",
    isStream: stream !== false,
    endpoint: typeof endpoint === "string" ? endpoint : "",
    firstByteMs: typeof firstByteMs === "number" && firstByteMs >= 0 ? firstByteMs : undefined,
  };
}

/** Logs of a router that knows sessions say which one a request belongs to. */
function turnOf({ session, durationMs }: TraceLine) {
  return typeof session === "string" && session !== "" ? { turn: { session, tookMs: durationMs as number } } : {};
}

function timeOf({ time }: TraceLine): number {
  const wallMs = typeof time === "string" ? Date.parse(time) : Number.NaN;
  if (Number.isFinite(wallMs)) return wallMs;
  throw new TraceError(`"time" must be a date like 2030-01-01T00:00:00.000Z`);
}

/** Where the blocks of the router's prefix index start. The first blocks have `firstTokens` tokens, later ones more. */
function growingBlocks(firstTokens: number): BlockStart {
  // The index's block schedule scales with its first block. Compute it for blocks of 8 units, then scale to tokens.
  const ends = blockEnds(8, Math.ceil((8 * MAX_PROMPT_TOKENS) / firstTokens));
  return (block) => (block === 0 ? 0 : Math.round(((ends[block - 1] ?? Number.POSITIVE_INFINITY) / 8) * firstTokens));
}

/** The logged blocks. Tokens after the last of them become one more block, shared with no other prompt. */
function promptOf(line: TraceLine, startOf: BlockStart | undefined, ids: BlockIds): Prompt {
  const tokens = promptTokens(line);
  const hashes = startOf === undefined ? [] : hashesOf(line["prefixHashes"]);
  const hashedTokens = startOf?.(hashes.length) ?? 0;
  const blocks = hashes.map((hash) => ids.of(hash));
  if (tokens > hashedTokens) blocks.push(ids.fresh());
  const starts: BlockStart = (block) => (block > hashes.length ? tokens : (startOf?.(block) ?? 0));
  return new Prompt(Math.max(tokens, hashedTokens), Int32Array.from(blocks), starts);
}

function promptTokens(line: TraceLine): number {
  if (isKnown(line["promptTokens"])) return Math.max(1, Math.ceil(numberIn(line, "promptTokens", 0, MAX_PROMPT_TOKENS)));
  return Math.max(1, Math.ceil(numberIn(line, "requestBytes", 0, BYTES_PER_TOKEN * MAX_PROMPT_TOKENS) / BYTES_PER_TOKEN));
}

function hashesOf(text: unknown): readonly string[] {
  if (text === undefined) return [];
  if (typeof text !== "string" || text.length % HASH_DIGITS !== 0) {
    throw new TraceError(`"prefixHashes" must be ${HASH_DIGITS} hexadecimal digits for each block`);
  }
  return text.match(/.{8}/g) ?? [];
}

/** Lines of older versions leave out what is unknown. */
function isKnown(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function outputTokens(line: TraceLine): number {
  if (isKnown(line["outputTokens"])) return Math.max(1, Math.ceil(numberIn(line, "outputTokens", 0, MAX_OUTPUT_TOKENS)));
  const bytes = numberIn(line, "responseBytes", 0, BYTES_PER_EVENT * MAX_OUTPUT_TOKENS);
  const tokens = line["stream"] === false ? (bytes - ENVELOPE_BYTES) / BYTES_PER_TOKEN : bytes / BYTES_PER_EVENT;
  return Math.min(MAX_OUTPUT_TOKENS, Math.max(1, Math.ceil(tokens)));
}
