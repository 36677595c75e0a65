import { NO_PARTS, type PromptPart } from "../contract/prompt-part.ts";
import type { Span } from "../contract/span.ts";
import { duplicateKey } from "./invalid-json.ts";
import { isPlainAscii, isTextAt } from "./json-string.ts";
import { PartFinder } from "./part-finder.ts";

/** Longest spelling of one UTF-16 unit in a JSON string: \u0000. */
const MAX_BYTES_PER_UNIT = 6;
const UTF8 = new TextDecoder();

/** Where a scan found the noted keys. */
export interface KeySpans {
  /** Parts that are not text, in the order of the body. */
  readonly parts: readonly PromptPart[];
  /** Undefined where the body does not have the key. Throws an Error for a key that the scan did not note. */
  spanOf(key: string): Span | undefined;
}

/** Of a body that is not scanned. */
export const NO_KEYS: KeySpans = { parts: NO_PARTS, spanOf: () => undefined };

/** The keys that a scan looks for, where it found their values, and the parts in those that hold a conversation. */
export class NotedKeys implements KeySpans {
  /** What reads the value that is being scanned, if it may hold parts. */
  conversation: PartFinder | undefined;
  #finder: PartFinder | undefined;
  readonly #partKeys: readonly string[];
  readonly #keys: readonly string[];
  readonly #spans: (Span | undefined)[] = [];
  /** Index of the key whose value is being scanned; -1 for a key that is not noted. */
  #open = -1;

  constructor(keys: readonly string[], partKeys: readonly string[]) {
    this.#keys = keys;
    this.#partKeys = partKeys;
  }

  get parts(): readonly PromptPart[] {
    return this.#finder?.parts ?? NO_PARTS;
  }

  spanOf(key: string): Span | undefined {
    const index = this.#keys.indexOf(key);
    if (index < 0) throw new Error(`The key "${key}" was not noted; name it in the parser's keys.`);
    return this.#spans[index];
  }

  /** A top-level key ended; its JSON string is [start, end), quotes included. Throws RouterError when a noted key comes twice. */
  keyEnded(bytes: Uint8Array, start: number, end: number): void {
    const open = matchKey(this.#keys, bytes, start, end);
    this.#open = open;
    if (open < 0) return;
    if (this.#spans[open] !== undefined) throw duplicateKey(this.#keys[open]!, start);
    if (!this.#partKeys.includes(this.#keys[open]!)) return;
    this.#finder ??= PartFinder.take();
    this.conversation = this.#finder;
  }

  /** The value of that key ended. */
  valueEnded(start: number, end: number): void {
    this.conversation = undefined;
    if (this.#open >= 0) this.#spans[this.#open] = [start, end];
  }

  /** The body ended, and is one JSON object. */
  finish(): void {
    if (this.#finder?.giveBack() === true) this.#finder = undefined;
  }
}

/** Index of the key, with or without escapes; -1 if it is none of them. */
function matchKey(keys: readonly string[], bytes: Uint8Array, start: number, end: number): number {
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!;
    if (key.length === end - start - 2 && isTextAt(bytes, start + 1, key)) return index;
  }
  return isPlainAscii(bytes, start, end) ? -1 : matchDecoded(keys, bytes, start, end);
}

function matchDecoded(keys: readonly string[], bytes: Uint8Array, start: number, end: number): number {
  const longest = keys.reduce((most, key) => Math.max(most, key.length), 0);
  if (end - start > longest * MAX_BYTES_PER_UNIT + 2) return -1;
  return keys.indexOf(JSON.parse(UTF8.decode(bytes.subarray(start, end))) as string);
}
