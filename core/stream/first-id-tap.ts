import type { Tap } from "../contract/slots/tap.ts";
import { textAt } from "./text-at.ts";

/** The id stands at the beginning of a response, and in the first event of a stream. */
const MOST_BYTES = 4_096;
export const LONGEST_ID = 256;
const IN_DOCUMENT = ["id"];
const IN_EVENT = ["response", "id"];
const DATA = Buffer.from("data:");
const LF = 0x0a;

/** The id of the response whose first bytes are bytes[start, end); "" if it has not come, or is none that is kept. */
export function idOfDocument(bytes: Uint8Array, start: number, end: number): string {
  return shortId(textAt(bytes, start, Math.min(end, start + MOST_BYTES), IN_DOCUMENT));
}

/** The same of an event that has the response in it: a line, or its beginning, with "data:" in front. */
export function idOfEvent(bytes: Uint8Array, start: number, end: number): string {
  return DATA.equals(bytes.subarray(start, start + DATA.length))
    ? shortId(textAt(bytes, start + DATA.length, Math.min(end, start + MOST_BYTES), IN_EVENT))
    : "";
}

function shortId(id = ""): string {
  return id.length > LONGEST_ID ? "" : id;
}

/**
 * Reads the id of a response: it is told as soon as it has passed, because the client may use it while the stream goes on. Ids elsewhere
 * in a response may be the client's own, and name another client's response.
 */
export class FirstIdTap implements Tap {
  readonly #isEventStream: boolean;
  readonly #found: (id: string) => void;
  #bytes = Buffer.alloc(0);
  #isOver = false;

  constructor(isEventStream: boolean, found: (id: string) => void) {
    this.#isEventStream = isEventStream;
    this.#found = found;
  }

  read(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): void {
    if (this.#isOver) return;
    for (let at = 0; at < spanCount && this.#bytes.length < MOST_BYTES; at++) {
      const start = spans[2 * at]!;
      const end = Math.min(spans[2 * at + 1]!, start + MOST_BYTES - this.#bytes.length);
      this.#bytes = Buffer.concat([this.#bytes, chunk.subarray(start, end)]);
    }
    const id = this.#isEventStream ? this.#firstInEvents() : idOfDocument(this.#bytes, 0, this.#bytes.length);
    this.#isOver = id !== "" || this.#bytes.length >= MOST_BYTES;
    if (this.#isOver) this.#bytes = Buffer.alloc(0);
    if (id !== "") this.#found(id);
  }

  end(): void {}

  #firstInEvents(): string {
    const bytes = this.#bytes;
    let id = "";
    for (let line = 0; line < bytes.length && id === ""; ) {
      const lineEnd = bytes.indexOf(LF, line);
      const end = lineEnd < 0 ? bytes.length : lineEnd;
      id = idOfEvent(bytes, line, end);
      line = end + 1;
    }
    return id;
  }
}
