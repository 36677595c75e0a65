import type { Usage } from "../contract/outcome.ts";

// Replicas say at the end of an answer what it took: {"prompt_tokens":…,"completion_tokens":…}, with what came out of their
// cache. To know it, nobody has to parse the answer: its last bytes are kept, and the last "usage" object among them is read.
// The text of an answer can't pass for one: inside a JSON string its quotes are escaped.

/** Bytes kept of an answer's end. */
export const TAIL_BYTES = 2048;
/** Longest `usage` object that is read. */
const MAX_USAGE_CHARS = 1024;
/** Rings kept for the next answers. */
const MAX_SPARE = 256;

const KEY = Array.from('"usage"', (char) => char.charCodeAt(0));
const QUOTE = 0x22;
const COLON = 0x3a;
const BRACE = 0x7b;

const PROMPT = /"(?:prompt|input)_tokens"\s*:\s*(\d{1,9})\b/;
const OUTPUT = /"(?:completion|output)_tokens"\s*:\s*(\d{1,9})\b/;
const CACHED = /"cached_tokens"\s*:\s*(\d{1,9})\b/;
/** Messages count apart what `input_tokens` leaves out. */
const CACHE_READ = /"cache_read_input_tokens"\s*:\s*(\d{1,9})\b/;
const CACHE_CREATED = /"cache_creation_input_tokens"\s*:\s*(\d{1,9})\b/;

const spare: Buffer[] = [];
const straight = Buffer.alloc(TAIL_BYTES);

/** Keeps the end of an answer, whatever its length, to find there what the replica reports. */
export class UsageTap {
  #ring: Buffer | undefined;
  /** Where the next byte goes; all bytes so far. */
  #total = 0;

  /** Body bytes as [start, end) pairs into `chunk`, of which only the last can matter. */
  read(chunk: Buffer, spans: ArrayLike<number>, spanCount: number): void {
    this.#ring ??= spare.pop() ?? Buffer.allocUnsafeSlow(TAIL_BYTES);
    let first = spanCount;
    let bytes = 0;
    while (first > 0 && bytes < TAIL_BYTES) {
      first -= 1;
      bytes += spans[2 * first + 1]! - spans[2 * first]!;
    }
    for (let i = first; i < spanCount; i++) this.#keep(this.#ring, chunk, spans[2 * i]!, spans[2 * i + 1]!);
  }

  /** What the replica reported, and the end of the tap; undefined where nothing is found. */
  finish(): Usage | undefined {
    const ring = this.#ring;
    if (ring === undefined) return undefined;
    const total = this.#total;
    this.close();
    if (total <= TAIL_BYTES) return readUsage(ring, total);
    const at = total % TAIL_BYTES;
    straight.set(ring.subarray(at));
    straight.set(ring.subarray(0, at), TAIL_BYTES - at);
    return readUsage(straight, TAIL_BYTES);
  }

  /** Lets go of the memory. */
  close(): void {
    if (this.#ring !== undefined && spare.length < MAX_SPARE) spare.push(this.#ring);
    this.#ring = undefined;
    this.#total = 0;
  }

  #keep(ring: Buffer, chunk: Buffer, start: number, end: number): void {
    const from = Math.max(start, end - TAIL_BYTES);
    const at = this.#total % TAIL_BYTES;
    const untilWrap = Math.min(end, from + TAIL_BYTES - at);
    ring.set(chunk.subarray(from, untilWrap), at);
    if (untilWrap < end) ring.set(chunk.subarray(untilWrap, end));
    this.#total += end - from;
  }
}

/** Reads the last `"usage":{…}` among the first `length` bytes. */
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

/** Where the object of the last `"usage"` key begins; -1 without one. */
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

/** The object with what is nested in it, as far as braces tell; engines put numbers into it and nothing else. */
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
