import { isBlank } from "./json-bytes.ts";
import { Pattern } from "./pattern.ts";

// Why a generation ended is one word. It is read without making the bytes a string.

/** Longer ones are no reason. */
export const LONGEST_WORD = 40;
/** Those of nearly all responses: no string is made for them. */
const USUAL_WORDS = ["stop", "length", "tool_calls", "end_turn", "max_tokens", "tool_use", "completed"];
const USUAL = USUAL_WORDS.map((word) => ({ word, bytes: new Pattern(word) }));

const INDEX = new Pattern('"index"');
/** Each of several choices says its index before its reason; so far back it is looked for. */
const MOST_BYTES_TO_INDEX = 1024;

const COLON = 0x3a;
const ZERO = 0x30;

/** The word in bytes[start, end). */
export function wordIn(bytes: Buffer, start: number, end: number): string {
  for (const usual of USUAL) if (usual.word.length === end - start && usual.bytes.isAt(bytes, start)) return usual.word;
  return bytes.toString("latin1", start, end);
}

/** A letter, "_" or "-". */
export function isWordByte(byte: number): boolean {
  const lower = byte | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || byte === 0x5f || byte === 0x2d;
}

/** Whether the last index before `end` is another one than 0; false if it is not in bytes[start, end), or too far away. */
export function isOfOtherChoice(bytes: Buffer, start: number, end: number): boolean {
  const index = INDEX.lastIn(bytes, end, Math.max(start, end - MOST_BYTES_TO_INDEX));
  if (index < 0) return false;
  let at = index + INDEX.length;
  while (at < end && (isBlank(bytes[at]!) || bytes[at] === COLON)) at += 1;
  return bytes[at] !== ZERO;
}
