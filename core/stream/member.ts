import { isBlank } from "./json-bytes.ts";
import { Pattern } from "./pattern.ts";

const COLON = 0x3a;
const SMALL_N = 0x6e;
/** Stands in a member's bytes for the first byte of any value but null. */
const NOT_NULL = 0;

/** Of one Member's search through bytes that come in pieces: nothing of it is found yet. */
export const AT_START = 0;

/**
 * A text that is looked for in a response, as a ResponseShape has it: `"choices":[{"` is a key and how its value begins, with white
 * space between them or not. Inside of JSON strings quotes are escaped, so generated text can't be mistaken for a key.
 */
export class Member {
  /** As people read it: the key, if it is one. */
  readonly name: string;
  /** It is a key with its value, or the beginning of that. */
  readonly isMember: boolean;
  /** Any value that begins so: `"stop_reason":"`. */
  readonly isOpen: boolean;
  /** Its value is a list without elements, which stands for others where there is nothing to say: `"data":[]`. */
  readonly isEmptyList: boolean;
  /** The text of the value; "" without one. */
  readonly value: string;
  /** The state after which the search is over: all of it is found. */
  readonly found: number;
  readonly #bytes: Uint8Array;
  readonly #key: Pattern;

  constructor(text: string) {
    const key = text.startsWith('"') ? text.slice(0, text.indexOf('"', 1) + 1) : text;
    const bytes = Array.from(text, (char) => char.charCodeAt(0));
    this.name = key;
    this.isMember = key !== text;
    this.isEmptyList = this.isMember && text.endsWith("[]");
    this.value = /:"(.+)"$/.exec(text)?.[1] ?? "";
    this.isOpen = this.isMember && this.value === "";
    this.#key = new Pattern(key);
    this.#bytes = Uint8Array.from(bytes.at(-1) === COLON ? [...bytes, NOT_NULL] : bytes);
    this.found = this.#bytes.length;
  }

  /**
   * Goes on with chunk[at, end): returns the state behind it, which is `found` as soon as it is. A byte that can't follow begins a new
   * search. One loop without calls, because each byte goes through it.
   */
  advance(from: number, chunk: Uint8Array, at: number, end: number): number {
    const wanted = this.#bytes;
    const first = wanted[0]!;
    const found = wanted.length;
    const keyEnd = this.#key.length;
    let state = from;
    for (let next = at; next < end; next++) {
      const byte = chunk[next]!;
      const due = wanted[state]!;
      if (byte === due || (due === NOT_NULL && byte !== SMALL_N && !isBlank(byte))) {
        state += 1;
        if (state === found) break;
      } else if (state < keyEnd || !isBlank(byte)) state = byte === first ? 1 : AT_START;
    }
    return state;
  }

  /** Whether it stands anywhere in the bytes. */
  standsIn(bytes: Uint8Array): boolean {
    for (let at = this.#key.lastIn(bytes, bytes.length); at >= 0; at = this.#key.lastIn(bytes, at))
      if (this.#isAt(bytes, at)) return true;
    return false;
  }

  #isAt(bytes: Uint8Array, at: number): boolean {
    const { found } = this;
    let state = this.#key.length;
    for (let next = at + state; next < bytes.length && state < found; next++) {
      const after = this.advance(state, bytes, next, next + 1);
      if (after < state) return false;
      state = after;
    }
    return state === found;
  }
}
