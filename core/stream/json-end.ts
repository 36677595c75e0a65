import { isBlank } from "./json-bytes.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Whether a JSON object ends with these bytes. Where they are all of it, what it opens must be closed too. */
export function endsWhole(bytes: Uint8Array, isAll: boolean): boolean {
  let end = bytes.length;
  while (end > 0 && isBlank(bytes[end - 1]!)) end -= 1;
  return end > 0 && bytes[end - 1] === CLOSE && (!isAll || isClosedAt(bytes, end));
}

/** Whether what opens in bytes[0, end) is closed there, and not before. */
function isClosedAt(bytes: Uint8Array, end: number): boolean {
  let depth = 0;
  for (let at = 0; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) at = endOfString(bytes, at, end);
    else if (byte === OPEN || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE || byte === CLOSE_LIST) {
      depth -= 1;
      if (depth === 0) return at === end - 1;
    }
  }
  return false;
}

/** The index of the quote that ends the string that begins at `start`; `end` without one. */
function endOfString(bytes: Uint8Array, start: number, end: number): number {
  let at = start + 1;
  while (at < end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
