import type { RequestRun } from "../../../core/contract/slots/request-run.ts";
import type { Tap, TappedResponse } from "../../../core/contract/slots/tap.ts";

/** The id stands at the beginning of a response, and in the first event of a stream. */
const MOST_BYTES = 4_096;
const LONGEST_ID = 256;
const ID = new RegExp(`"id"\\s*:\\s*"([^"\\\\]{1,${LONGEST_ID}})"`);

/** Whether the replica stores the response, so that the next turn may name it. */
export function isStored({ ticket, parsed }: RequestRun): boolean {
  return ticket.api === "responses" && parsed?.isRepeatable === false;
}

/** Reads the id of a response that passes. */
export function responseIdTap({ status }: TappedResponse, found: (id: string) => void): Tap | undefined {
  if (status >= 300) return undefined;
  return new ResponseIdTap(found);
}

class ResponseIdTap implements Tap {
  readonly #found: (id: string) => void;
  #text = "";
  #isOver = false;

  constructor(found: (id: string) => void) {
    this.#found = found;
  }

  read(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): void {
    if (this.#isOver) return;
    for (let at = 0; at < spanCount && this.#text.length < MOST_BYTES; at++) {
      const start = spans[2 * at]!;
      const end = Math.min(spans[2 * at + 1]!, start + MOST_BYTES - this.#text.length);
      this.#text += Buffer.from(chunk.buffer, chunk.byteOffset + start, end - start).toString("latin1");
    }
    const id = ID.exec(this.#text)?.[1];
    this.#isOver = id !== undefined || this.#text.length >= MOST_BYTES;
    if (id !== undefined) this.#found(id);
    if (this.#isOver) this.#text = "";
  }

  end(): void {}
}
