import type { PromptPart } from "../contract/prompt-part.ts";
import { isTextAt } from "./json-string.ts";
import { isInline, kindOfPart, MEDIA_KEY_ENDS, MEDIA_KEYS, PATH_KEYS, type PartObject } from "./part-rules.ts";

const SPACE = 0x20;
const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;

/** Strings looked at more closely in one body; what comes after them counts as text. Public APIs take 100 to 600 images. */
const MOST_STRINGS = 640;
/** Containers between the conversation and a part. Engines need eight: a document in the result of a tool. */
const MOST_LEVELS = 16;
/** Bytes of a part object besides its string. */
const MOST_OTHER_BYTES = 2_048;
const MOST_KEY_BYTES = 16;
/** Spaces between a key and its value. */
const MOST_SPACES = 64;
/** Bytes of a string that tell what it is: "data:application/vnd.openxmlformats-officedocument…". */
const HEAD_BYTES = 64;
const UTF8 = new TextDecoder();
/** Finders of bodies without parts, so that text makes none. */
const spare: PartFinder[] = [];
const MOST_SPARE = 64;

/**
 * Finds images, audio, videos and files in a conversation while it is scanned. A string counts as one where an engine takes it as
 * one (part-rules.ts), and only the whole part object says so: members come in any order. Whatever is unclear stays text.
 *
 * For text it costs a look at the last letter of each string's key, and a number for each container.
 */
export class PartFinder {
  /** In the order of the body. */
  readonly parts: PromptPart[] = [];
  /** Where each open container of the conversation begins. */
  readonly #begins: number[] = [];
  #depth = 0;
  #looks = 0;
  /** The string that was found in the open part object: its span, and its path in that object. */
  #start = 0;
  #end = 0;
  #place = "";
  /** Level of that object; -1 without one. */
  #level = -1;
  #isUnclear = false;

  /** One to use for a body. */
  static take(): PartFinder {
    return spare.pop() ?? new PartFinder();
  }

  /** The body is scanned. Returns true if it had no parts: then the next body's scan may use the finder. */
  giveBack(): boolean {
    if (this.parts.length > 0) return false;
    this.#looks = 0;
    if (spare.length < MOST_SPARE) spare.push(this);
    return true;
  }

  /** An object or array begins at `at`. */
  opened(at: number): void {
    this.#begins[this.#depth++] = at;
  }

  /** The innermost object or array ended at `end`. */
  closed(bytes: Uint8Array, end: number): void {
    if (--this.#depth === this.#level) this.#decide(bytes, this.#begins[this.#depth]!, end);
  }

  /** A string that is no key is [start, end), quotes included. */
  stringEnded(bytes: Uint8Array, start: number, end: number): void {
    const at = keyQuoteBefore(bytes, start);
    if (at < 0) return;
    const last = bytes[at - 1];
    if (last === MEDIA_KEY_ENDS[0] || last === MEDIA_KEY_ENDS[1] || last === MEDIA_KEY_ENDS[2]) this.#look(bytes, at, start, end);
  }

  /** Notes the string if its key, and its place in the conversation, may be those of a part. */
  #look(bytes: Uint8Array, keyQuote: number, start: number, end: number): void {
    const key = mediaKeyEndingAt(bytes, keyQuote);
    if (key === undefined || this.#depth < 2 || this.#depth > MOST_LEVELS || this.#looks++ >= MOST_STRINGS) return;
    const inner = this.#depth - 1;
    const isHeld = bytes[this.#begins[inner - 1]!] === OPEN_OBJECT;
    const level = isHeld ? inner - 1 : inner;
    if (!this.#isPartAt(bytes, level)) return;
    this.#isUnclear = level === this.#level;
    this.#level = level;
    this.#place = isHeld ? `${this.#keyOf(bytes, inner)}.${key}` : key;
    this.#start = start;
    this.#end = end;
  }

  /** Whether the object at this level is an item of a list that the conversation's own keys lead to. */
  #isPartAt(bytes: Uint8Array, level: number): boolean {
    if (level < 1 || bytes[this.#begins[level - 1]!] !== OPEN_ARRAY) return false;
    for (let at = level - 1; at > 0; at--) {
      const isItem = bytes[this.#begins[at - 1]!] === OPEN_ARRAY;
      const isAllowed = isItem ? bytes[this.#begins[at]!] === OPEN_OBJECT : PATH_KEYS.includes(this.#keyOf(bytes, at));
      if (!isAllowed) return false;
    }
    return true;
  }

  /** Key of the open container at this level; "" if it has none, or one that is not plain. */
  #keyOf(bytes: Uint8Array, level: number): string {
    const quote = keyQuoteBefore(bytes, this.#begins[level]!);
    return quote < 0 ? "" : keyEndingAt(bytes, quote);
  }

  /** The part object is complete. */
  #decide(bytes: Uint8Array, begin: number, end: number): void {
    this.#level = -1;
    const span = [this.#start, this.#end] as const;
    if (this.#isUnclear || end - begin - (span[1] - span[0]) > MOST_OTHER_BYTES) return;
    const text = `${UTF8.decode(bytes.subarray(begin, span[0]))}0${UTF8.decode(bytes.subarray(span[1], end))}`;
    const head = headOf(bytes, span[0] + 1, span[1] - 1);
    const kind = kindOfPart(JSON.parse(text) as PartObject, this.#place, head);
    if (kind !== undefined) this.parts.push({ kind, span, isInline: isInline(this.#place, head) });
  }
}

/** Index of the closing quote of the key before a value that begins at `start`; -1 if the value has no key. */
function keyQuoteBefore(bytes: Uint8Array, start: number): number {
  let at = start - 1;
  if (bytes[at] !== COLON) at = beforeSpaces(bytes, at);
  if (bytes[at] !== COLON) return -1;
  at--;
  if (bytes[at] !== QUOTE) at = beforeSpaces(bytes, at);
  return bytes[at] === QUOTE ? at : -1;
}

function beforeSpaces(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at]! <= SPACE && from - at < MOST_SPACES) at--;
  return at;
}

/** The media key whose closing quote is at `quote`. Text has many keys that end alike ("id"), so no string is made of each. */
function mediaKeyEndingAt(bytes: Uint8Array, quote: number): string | undefined {
  for (const key of MEDIA_KEYS) {
    const start = quote - key.length;
    if (bytes[start - 1] === QUOTE && bytes[start - 2] !== BACKSLASH && isTextAt(bytes, start, key)) return key;
  }
  return undefined;
}

/** The key whose closing quote is at `quote`; "" if it is long or has escapes. */
function keyEndingAt(bytes: Uint8Array, quote: number): string {
  let at = quote - 1;
  while (bytes[at] !== QUOTE) {
    if (quote - at > MOST_KEY_BYTES || bytes[at] === BACKSLASH) return "";
    at--;
  }
  return bytes[at - 1] === BACKSLASH ? "" : String.fromCharCode(...bytes.subarray(at + 1, quote));
}

/** The beginning of a string, without the backslash that some encoders put before each slash. */
function headOf(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, Math.min(end, start + HEAD_BYTES))).replaceAll("\\/", "/");
}
