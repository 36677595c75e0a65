import type { Usage } from "../contract/outcome.ts";
import { Pattern } from "./pattern.ts";

// Replicas report usage at the end of a response: {"prompt_tokens":…,"completion_tokens":…}, with the tokens that their cache
// held. It is read from the bytes themselves, because making strings of them takes longer. Generated text can't be mistaken for
// it: inside a JSON string quotes are escaped.

/** Longest `usage` object that is read. */
const MAX_USAGE_BYTES = 1024;
/** Numbers with more digits are no counts of tokens. */
const MAX_DIGITS = 9;

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const ZERO = 0x30;

const KEY = new Pattern('"usage"');

// What a field of the object says.
const PROMPT = 0;
const OUTPUT = 1;
const CACHED = 2;
/** The messages API counts cached tokens apart: its `input_tokens` does not include them. */
const CACHE_READ = 3;
const CACHE_CREATED = 4;
/** Summed over all such fields: vLLM has one for each kind of part that is not text. */
const PARTS = 5;
const MEANINGS = 6;

const FIELDS = Object.entries({
  prompt_tokens: PROMPT,
  input_tokens: PROMPT,
  completion_tokens: OUTPUT,
  output_tokens: OUTPUT,
  cached_tokens: CACHED,
  cache_read_input_tokens: CACHE_READ,
  cache_creation_input_tokens: CACHE_CREATED,
  image: PARTS,
  audio: PARTS,
  video: PARTS,
}).map(([name, meaning]) => ({ name: new Pattern(name), meaning }));
const LONGEST_NAME = Math.max(...FIELDS.map(({ name }) => name.length));
/** The fields with a name of that many bytes. */
const BY_LENGTH = Array.from({ length: LONGEST_NAME + 1 }, (_, length) => FIELDS.filter(({ name }) => name.length === length));

/** Stands for a number that the object does not have. */
const ABSENT = -1;

/**
 * By meaning; used again by each call. A plain array: of a Float64Array JavaScriptCore reads whole numbers as integers at first, and as
 * doubles in compiled code, and then compiles again whatever works with them.
 */
const numbers: number[] = new Array<number>(MEANINGS).fill(ABSENT);

/** Reads the last `"usage":{…}` in the bytes; undefined if there is none. */
export function readUsage(bytes: Uint8Array): Usage | undefined {
  const start = lastUsage(bytes);
  if (start < 0 || !readNumbers(bytes, start, Math.min(bytes.length, start + MAX_USAGE_BYTES))) return undefined;
  const cacheRead = numbers[CACHE_READ]!;
  const cacheCreated = numbers[CACHE_CREATED]!;
  const prompt = numbers[PROMPT]!;
  const output = numbers[OUTPUT]!;
  const parts = numbers[PARTS]!;
  if (prompt === ABSENT && output === ABSENT) return undefined;
  const promptTokens = prompt === ABSENT ? Number.NaN : prompt + Math.max(cacheRead, 0) + Math.max(cacheCreated, 0);
  const outputTokens = output === ABSENT ? Number.NaN : output;
  const cached = cacheRead === ABSENT ? numbers[CACHED]! : cacheRead;
  const usage = { promptTokens, outputTokens, cachedTokens: cached === ABSENT ? undefined : cached };
  return parts === ABSENT ? usage : { ...usage, partTokens: parts };
}

/** Index at which the object of the last `"usage"` key begins; -1 without one. */
function lastUsage(bytes: Uint8Array): number {
  for (let at = KEY.lastIn(bytes, bytes.length); at >= 0; at = KEY.lastIn(bytes, at)) {
    const value = valueAt(bytes, at + KEY.length, bytes.length);
    if (bytes[value] === OPEN) return value;
  }
  return -1;
}

/** Fills `numbers` from the object that begins at `start`, nested objects included. False if it does not end before `end`. */
function readNumbers(bytes: Uint8Array, start: number, end: number): boolean {
  for (let meaning = 0; meaning < MEANINGS; meaning++) numbers[meaning] = ABSENT;
  let depth = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte === OPEN) depth += 1;
    else if (byte === CLOSE) depth -= 1;
    if (depth === 0) return true;
    if (byte !== QUOTE) continue;
    const from = at + 1;
    for (at = from; at < end && bytes[at] !== QUOTE; ) at += 1;
    readField(bytes, from, at, end);
  }
  return false;
}

/**
 * Reads the field whose name is the bytes in [from, to), if it is a known one with a number. The first number of each meaning counts;
 * those of PARTS are added.
 */
function readField(bytes: Uint8Array, from: number, to: number, end: number): void {
  const meaning = meaningOf(bytes, from, to - from);
  if (meaning < 0) return;
  const before = numbers[meaning]!;
  if (before !== ABSENT && meaning !== PARTS) return;
  const value = numberAt(bytes, valueAt(bytes, to + 1, end), end);
  if (before === ABSENT) numbers[meaning] = value;
  else if (value !== ABSENT) numbers[meaning] = before + value;
}

/** What the field means whose name stands at `from`; -1 if it is no known one. */
function meaningOf(bytes: Uint8Array, from: number, length: number): number {
  const fields = BY_LENGTH[length];
  if (fields !== undefined) for (const { name, meaning } of fields) if (name.isAt(bytes, from)) return meaning;
  return -1;
}

/** Where the value of a key begins that ends at `from`; `length` if there is no colon. */
function valueAt(bytes: Uint8Array, from: number, length: number): number {
  const colon = skipSpace(bytes, from, length);
  return colon < length && bytes[colon] === COLON ? skipSpace(bytes, colon + 1, length) : length;
}

function skipSpace(bytes: Uint8Array, from: number, length: number): number {
  let at = from;
  while (at < length && (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09)) at += 1;
  return at;
}

/** The whole number at `from`; ABSENT for any other value, and for one that is too long. */
function numberAt(bytes: Uint8Array, from: number, end: number): number {
  let value = 0;
  let at = from;
  for (; at < end && isDigit(bytes[at]!); at++) value = value * 10 + (bytes[at]! - ZERO);
  return at === from || at - from > MAX_DIGITS ? ABSENT : value;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= ZERO + 9;
}
