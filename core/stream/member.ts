import { Pattern } from "./pattern.ts";

const QUOTE = 0x22;
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
  readonly #bytes: Uint8Array;
  readonly #key: Pattern;

  constructor(text: string) {
    const key = text.startsWith('"') ? text.slice(0, text.indexOf('"', 1) + 1) : text;
    const bytes = Array.from(text, (char) => char.charCodeAt(0));
    this.name = key;
    this.#key = new Pattern(key);
    this.#bytes = Uint8Array.from(bytes.at(-1) === COLON ? [...bytes, NOT_NULL] : bytes);
  }

  /** The state after which the search is over: all of it is found. */
  get found(): number {
    return this.#bytes.length;
  }

  /** Goes on with chunk[at, end): returns the state behind it, which is `found` as soon as it is. */
  advance(from: number, chunk: Uint8Array, at: number, end: number): number {
    const { found } = this;
    const first = this.#bytes[0];
    let state = from;
    for (let next = at; next < end && state < found; next++) {
      if (state === AT_START) {
        while (next < end && chunk[next] !== first) next += 1;
        if (next === end) return AT_START;
      }
      state = this.#after(state, chunk[next]!);
    }
    return state;
  }

  /** Whether it stands anywhere in the bytes. */
  standsIn(bytes: Uint8Array): boolean {
    for (let at = this.#key.lastIn(bytes, bytes.length); at >= 0; at = this.#key.lastIn(bytes, at))
      if (this.#isAt(bytes, at)) return true;
    return false;
  }

  /** Whether the last one of its keys in the bytes has its value. */
  isLastIn(bytes: Uint8Array): boolean {
    const at = this.#key.lastIn(bytes, bytes.length);
    return at >= 0 && this.#isAt(bytes, at);
  }

  #isAt(bytes: Uint8Array, at: number): boolean {
    let state = this.#key.length;
    for (let next = at + state; next < bytes.length && state < this.found; next++) {
      const after = this.#after(state, bytes[next]!);
      if (after < state) return false;
      state = after;
    }
    return state === this.found;
  }

  /** A byte that can't follow begins a new search; a quote may be the first one of a key. */
  #after(state: number, byte: number): number {
    const wanted = this.#bytes[state];
    if (state >= this.#key.length && isBlank(byte)) return state;
    if (wanted === NOT_NULL ? byte !== SMALL_N : byte === wanted) return state + 1;
    return byte === QUOTE && this.#bytes[0] === QUOTE ? 1 : AT_START;
  }
}

/** White space between the parts of JSON, and between events. */
export function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
