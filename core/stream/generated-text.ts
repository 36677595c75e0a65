import { isBlank, isDigit } from "./json-bytes.ts";
import { KeySearch } from "./key-search.ts";
import { TEXT_MEMBERS, valueStart } from "./text-members.ts";

const QUOTE = 0x22;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
/** Behind a backslash: \n, \r, \t. */
const ESCAPED_BLANKS = [0x6e, 0x72, 0x74];

/** Members in which the APIs that are served have what was generated: text, calls of tools, sound, tokens. */
const KEYS = new KeySearch([...TEXT_MEMBERS, "input", "name", "refusal", "data", "result", "token_ids"]);

/** Whether bytes[start, end) of a response have anything that was generated, but white space. A member that is cut is not found. */
export function hasGenerated(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = KEYS.firstIn(bytes, start, end); at >= 0; at = KEYS.firstIn(bytes, at + 1, end))
    if (isFilled(bytes, valueStart(bytes, at, end), end)) return true;
  return false;
}

/** Whether the value that begins at `from` is a text that is not blank, or a list of numbers. */
function isFilled(bytes: Uint8Array, from: number, end: number): boolean {
  let at = from;
  if (at < 0) return false;
  if (bytes[at] === OPEN_LIST) {
    do at += 1;
    while (at < end && isBlank(bytes[at]!));
    return at < end && isDigit(bytes[at]!);
  }
  if (bytes[at] !== QUOTE) return false;
  at += 1;
  while (at < end) {
    if (bytes[at] === BACKSLASH && ESCAPED_BLANKS.includes(bytes[at + 1]!)) at += 2;
    else if (isBlank(bytes[at]!)) at += 1;
    else return bytes[at] !== QUOTE;
  }
  return false;
}
