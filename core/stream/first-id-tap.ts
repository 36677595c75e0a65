import type { Tap } from "../contract/slots/tap.ts";

/** The id stands at the beginning of a response, and in the first event of a stream. */
const MOST_BYTES = 4_096;
export const LONGEST_ID = 256;

/**
 * An object's id, with nothing but plain values before it: a list or an object there could be the client's own, with the id of another
 * client's response in it.
 */
const MEMBERS = String.raw`(?:"\w+"\s*:\s*(?:"[^"\\]*"|[-\w.+]+)\s*,\s*)*`;
const ID = String.raw`"id"\s*:\s*"([^"\\]{1,${LONGEST_ID}})"`;
const DOCUMENT = new RegExp(String.raw`^\s*\{\s*${MEMBERS}${ID}`);
const EVENT = new RegExp(String.raw`^(?:[^\n]*\n)*?data:\s*\{\s*${MEMBERS}"response"\s*:\s*\{\s*${MEMBERS}${ID}`);

/** Reads the id of a response: it is told as soon as it has passed, because the client may use it while the stream goes on. */
export class FirstIdTap implements Tap {
  readonly #pattern: RegExp;
  readonly #found: (id: string) => void;
  #text = "";
  #isOver = false;

  constructor(isEventStream: boolean, found: (id: string) => void) {
    this.#pattern = isEventStream ? EVENT : DOCUMENT;
    this.#found = found;
  }

  read(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): void {
    if (this.#isOver) return;
    for (let at = 0; at < spanCount && this.#text.length < MOST_BYTES; at++) {
      const start = spans[2 * at]!;
      const end = Math.min(spans[2 * at + 1]!, start + MOST_BYTES - this.#text.length);
      this.#text += Buffer.from(chunk.buffer, chunk.byteOffset + start, end - start).toString("latin1");
    }
    const id = this.#pattern.exec(this.#text)?.[1];
    this.#isOver = id !== undefined || this.#text.length >= MOST_BYTES;
    if (this.#isOver) this.#text = "";
    if (id !== undefined) this.#found(id);
  }

  end(): void {}
}
