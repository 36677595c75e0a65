import { isBlank } from "./json-bytes.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const STRICT_UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The text that keys lead to from the JSON object in bytes[start, end), of which the end may be missing; undefined as long as the text
 * has not come, and where there is none. Keys and text are read as JSON; what stands inside of other members is passed over.
 */
export function textAt(bytes: Uint8Array, start: number, end: number, path: readonly string[]): string | undefined {
  let level = 0;
  let at = openedAt(bytes, start, end);
  while (at < end && bytes[at] === QUOTE) {
    const keyEnd = stringEnd(bytes, at, end);
    const colon = afterBlanks(bytes, keyEnd, end);
    if (keyEnd < 0 || bytes[colon] !== COLON) return undefined;
    const key = decoded(bytes, at, keyEnd);
    at = afterBlanks(bytes, colon + 1, end);
    if (key === path[level]) {
      level += 1;
      if (level === path.length) return stringAt(bytes, at, end);
      at = openedAt(bytes, at, end);
    } else at = nextMember(bytes, at, end);
  }
  return undefined;
}

/** Where the first member stands of the object that begins at `start`, or behind blanks; `end` if there is no object. */
function openedAt(bytes: Uint8Array, start: number, end: number): number {
  const at = afterBlanks(bytes, start, end);
  return at < end && bytes[at] === OPEN_OBJECT ? afterBlanks(bytes, at + 1, end) : end;
}

function stringAt(bytes: Uint8Array, at: number, end: number): string | undefined {
  const valueEnd = at < end && bytes[at] === QUOTE ? stringEnd(bytes, at, end) : -1;
  return valueEnd < 0 ? undefined : decoded(bytes, at, valueEnd);
}

/** Undefined where it is no JSON string in UTF-8. */
function decoded(bytes: Uint8Array, start: number, end: number): string | undefined {
  try {
    return JSON.parse(STRICT_UTF8.decode(bytes.subarray(start, end))) as string;
  } catch {
    return undefined;
  }
}

/** Where the member behind the value at `at` stands; `end` if there is none, or it has not come. */
function nextMember(bytes: Uint8Array, at: number, end: number): number {
  const comma = afterBlanks(bytes, valueEnd(bytes, at, end), end);
  return comma < end && bytes[comma] === COMMA ? afterBlanks(bytes, comma + 1, end) : end;
}

/** Where the value at `from` ends; `end` if its own end has not come. */
function valueEnd(bytes: Uint8Array, from: number, end: number): number {
  let depth = 0;
  let at = from;
  while (at < end) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = stringEnd(bytes, at, end);
      if (at < 0) return end;
      if (depth === 0) return at;
      continue;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth -= 1;
      if (depth <= 0) return depth < 0 ? at : at + 1;
    } else if (depth === 0 && byte === COMMA) return at;
    at += 1;
  }
  return end;
}

/** Behind the closing quote of the string that begins at `start`; -1 if that has not come. */
function stringEnd(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start + 1; at < end; at++) {
    if (bytes[at] === QUOTE) return at + 1;
    if (bytes[at] === BACKSLASH) at += 1;
  }
  return -1;
}

function afterBlanks(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at >= 0 && at < end && isBlank(bytes[at]!)) at += 1;
  return at;
}
