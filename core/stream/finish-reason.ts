import type { Dialect } from "../contract/errors.ts";
import { Pattern } from "./pattern.ts";

// Why a generation ended, read from the last bytes of a response without making them a string. Inside a JSON string quotes are
// escaped, so generated text can't be mistaken for a key. Messages hold the generated input of a tool as bare JSON, but before their
// own keys.

const FINISH_REASON = new Pattern('"finish_reason"');
const INDEX = new Pattern('"index"');
/** The responses API has a reason only for what is incomplete, and a status. */
const OTHER_KEYS = {
  anthropic: [new Pattern('"stop_reason"')],
  responses: [new Pattern('"incomplete_details":{"reason"'), new Pattern('"status"')],
};
const LONGEST_WORD = 40;
/** Those of nearly all responses: no string is made for them. */
const USUAL_WORDS = ["stop", "length", "tool_calls", "end_turn", "max_tokens", "tool_use", "completed"];
const USUAL = USUAL_WORDS.map((word) => ({ word, bytes: new Pattern(word) }));

const SPACE = 0x20;
const QUOTE = 0x22;
const COLON = 0x3a;
const ZERO = 0x30;

/** Why the generation of the first choice ended; "" if the bytes, the end of the response, do not say. */
export function finishReasonIn(bytes: Buffer, dialect: Dialect): string {
  if (dialect === "openai") return reasonOfFirst(bytes);
  for (const key of OTHER_KEYS[dialect]) {
    const at = key.lastIn(bytes, bytes.length);
    const word = at < 0 ? "" : wordAt(bytes, at + key.length);
    if (word !== "") return word;
  }
  return "";
}

/** Each of several choices says its own reason, behind its index; most responses have one. */
function reasonOfFirst(bytes: Buffer): string {
  let last = "";
  for (let at = FINISH_REASON.lastIn(bytes, bytes.length); at >= 0; at = FINISH_REASON.lastIn(bytes, at)) {
    const reason = wordAt(bytes, at + FINISH_REASON.length);
    if (reason === "") continue;
    const index = INDEX.lastIn(bytes, at);
    if (index < 0 || isZero(bytes, index + INDEX.length)) return reason;
    if (last === "") last = reason;
  }
  return last;
}

/** The short word that is the value of the key that ends at `from`; "" for any other value. */
function wordAt(bytes: Buffer, from: number): string {
  const start = valueAt(bytes, from);
  if (start < 0 || bytes[start] !== QUOTE) return "";
  let end = start + 1;
  const limit = Math.min(bytes.length, end + LONGEST_WORD + 1);
  while (end < limit && isWordByte(bytes[end]!)) end += 1;
  return end < limit && end > start + 1 && bytes[end] === QUOTE ? textOf(bytes, start + 1, end) : "";
}

function textOf(bytes: Buffer, start: number, end: number): string {
  for (const usual of USUAL) if (usual.word.length === end - start && usual.bytes.isAt(bytes, start)) return usual.word;
  return bytes.toString("latin1", start, end);
}

function isZero(bytes: Buffer, from: number): boolean {
  const start = valueAt(bytes, from);
  return start >= 0 && bytes[start] === ZERO;
}

/** Where the value of a key that ends at `from` begins; -1 without a colon. */
function valueAt(bytes: Buffer, from: number): number {
  const colon = bytes[from] === SPACE ? from + 1 : from;
  if (bytes[colon] !== COLON) return -1;
  return bytes[colon + 1] === SPACE ? colon + 2 : colon + 1;
}

/** A letter, "_" or "-". */
function isWordByte(byte: number): boolean {
  const lower = byte | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || byte === 0x5f || byte === 0x2d;
}
