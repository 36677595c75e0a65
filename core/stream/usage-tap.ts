import type { Usage } from "../contract/outcome.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { EventCount } from "./event-count.ts";
import { finishReasonIn } from "./finish-reason.ts";

// Replicas report usage at the end of a response: {"prompt_tokens":…,"completion_tokens":…}, with the tokens that their cache
// held. To read it without parsing the whole response, the last bytes are kept, and the last "usage" object in them is read.
// Generated text can't be mistaken for one: inside a JSON string its quotes are escaped.

/** Bytes kept from a response's end. */
export const TAIL_BYTES = 2048;
/** Longest `usage` object that is read. */
const MAX_USAGE_CHARS = 1024;
/** Most rings kept for later responses. */
const MAX_SPARE = 256;

const KEY = Array.from('"usage"', (char) => char.charCodeAt(0));
const QUOTE = 0x22;
const COLON = 0x3a;
const BRACE = 0x7b;

const PROMPT = /"(?:prompt|input)_tokens"\s*:\s*(\d{1,9})\b/;
const OUTPUT = /"(?:completion|output)_tokens"\s*:\s*(\d{1,9})\b/;
const CACHED = /"cached_tokens"\s*:\s*(\d{1,9})\b/;
/** The messages API counts cached tokens separately: `input_tokens` does not include them. */
const CACHE_READ = /"cache_read_input_tokens"\s*:\s*(\d{1,9})\b/;
const CACHE_CREATED = /"cache_creation_input_tokens"\s*:\s*(\d{1,9})\b/;

/** What a response, or what came of it, says of its generation. Plain data; the fields are those of an Outcome. */
export interface Generated {
  readonly usage: Usage | undefined;
  readonly outputTokens: number;
  readonly isOutputEstimated: boolean;
  readonly finishReason: string;
}

export const NOTHING_GENERATED: Generated = {
  usage: undefined,
  outputTokens: Number.NaN,
  isOutputEstimated: false,
  finishReason: "",
};

const spare: Buffer[] = [];
const straight = Buffer.alloc(TAIL_BYTES);

/**
 * Keeps the end of a response of any length, to find what the replica reports there. Counts the events of an event stream, in
 * case that it reports no usage.
 */
export class UsageTap {
  #ring: Buffer | undefined;
  /** Bytes kept so far; modulo TAIL_BYTES, the index of the next byte. */
  #kept = 0;
  #total = 0;
  readonly #events: EventCount | undefined;

  constructor(isEventStream: boolean) {
    if (isEventStream) this.#events = new EventCount();
  }

  /** Reads body bytes: `spanCount` [start, end) pairs into `chunk`. Keeps only the last TAIL_BYTES. */
  read(chunk: Buffer, spans: ArrayLike<number>, spanCount: number): void {
    this.#ring ??= spare.pop() ?? Buffer.allocUnsafeSlow(TAIL_BYTES);
    let first = spanCount;
    let bytes = 0;
    while (first > 0 && bytes < TAIL_BYTES) {
      first -= 1;
      bytes += spans[2 * first + 1]! - spans[2 * first]!;
    }
    for (let i = 0; i < spanCount; i++) {
      const start = spans[2 * i]!;
      const end = spans[2 * i + 1]!;
      this.#total += end - start;
      this.#events?.read(chunk, start, end);
      if (i >= first) this.#keep(this.#ring, chunk, start, end);
    }
  }

  /** Returns what is known and frees the memory. `isComplete` is false if the response broke off: it has no usage then. */
  finish(isComplete: boolean): Generated {
    const ring = this.#ring;
    if (ring === undefined) return NOTHING_GENERATED;
    const kept = this.#kept;
    this.#free(ring);
    if (kept <= TAIL_BYTES) return this.#report(ring, kept, isComplete);
    const at = kept % TAIL_BYTES;
    straight.set(ring.subarray(at));
    straight.set(ring.subarray(0, at), TAIL_BYTES - at);
    return this.#report(straight, TAIL_BYTES, isComplete);
  }

  #report(bytes: Buffer, length: number, isComplete: boolean): Generated {
    const usage = isComplete ? readUsage(bytes, length) : undefined;
    const reported = usage?.outputTokens ?? Number.NaN;
    // Without any event it may be compressed, or nothing came.
    const events = this.#events?.ended ?? 0;
    const isOutputEstimated = Number.isNaN(reported) && events > 0;
    return {
      usage,
      outputTokens: isOutputEstimated ? estimateTokens(bytes.toString("latin1", 0, length), events, this.#total) : reported,
      isOutputEstimated,
      finishReason: finishReasonIn(bytes, length),
    };
  }

  #free(ring: Buffer): void {
    if (spare.length < MAX_SPARE) spare.push(ring);
    this.#ring = undefined;
    this.#kept = 0;
  }

  #keep(ring: Buffer, chunk: Buffer, start: number, end: number): void {
    const from = Math.max(start, end - TAIL_BYTES);
    const at = this.#kept % TAIL_BYTES;
    const untilWrap = Math.min(end, from + TAIL_BYTES - at);
    ring.set(chunk.subarray(from, untilWrap), at);
    if (untilWrap < end) ring.set(chunk.subarray(untilWrap, end));
    this.#kept += end - from;
  }
}

/** Reads the last `"usage":{…}` in the first `length` bytes; undefined if there is none. */
export function readUsage(bytes: Buffer, length: number): Usage | undefined {
  const start = lastUsage(bytes, length);
  if (start < 0) return undefined;
  const text = objectText(bytes, start, Math.min(length, start + MAX_USAGE_CHARS));
  const read = numberIn(text, CACHE_READ);
  const created = numberIn(text, CACHE_CREATED);
  const apart = (Number.isNaN(read) ? 0 : read) + (Number.isNaN(created) ? 0 : created);
  const promptTokens = numberIn(text, PROMPT) + apart;
  const outputTokens = numberIn(text, OUTPUT);
  if (Number.isNaN(promptTokens) && Number.isNaN(outputTokens)) return undefined;
  return { promptTokens, outputTokens, cachedTokens: Number.isNaN(read) ? numberIn(text, CACHED) : read };
}

/** Index at which the object of the last `"usage"` key begins; -1 without one. */
function lastUsage(bytes: Uint8Array, length: number): number {
  for (let at = length - KEY.length - 2; at >= 0; at--) {
    if (bytes[at] !== QUOTE || !isKey(bytes, at)) continue;
    const colon = skipSpace(bytes, at + KEY.length, length);
    const value = skipSpace(bytes, colon + 1, length);
    if (value < length && bytes[colon] === COLON && bytes[value] === BRACE) return value;
  }
  return -1;
}

function isKey(bytes: Uint8Array, at: number): boolean {
  for (let i = 1; i < KEY.length; i++) if (bytes[at + i] !== KEY[i]) return false;
  return true;
}

function skipSpace(bytes: Uint8Array, from: number, length: number): number {
  let at = from;
  while (at < length && (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09)) at += 1;
  return at;
}

/** The text of the object, nested objects included, found by counting braces: engines put no strings into it. */
function objectText(bytes: Buffer, start: number, end: number): string {
  let depth = 0;
  for (let at = start; at < end; at++) {
    if (bytes[at] === BRACE) depth += 1;
    else if (bytes[at] === BRACE + 2) depth -= 1;
    if (depth === 0) return bytes.toString("latin1", start, at + 1);
  }
  return "";
}

function numberIn(text: string, pattern: RegExp): number {
  const digits = pattern.exec(text)?.[1];
  return digits === undefined ? Number.NaN : Number(digits);
}
