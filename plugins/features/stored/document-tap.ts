import type { Tap } from "../../../core/contract/slots/tap.ts";

/** Of a document that is read whole. */
const MOST_DOCUMENT_BYTES = 64 * 1024;
/** Reads a short document whole. */
export class DocumentTap implements Tap {
  readonly #came: (document: Readonly<Record<string, unknown>>) => void;
  readonly #parts: Buffer[] = [];
  #length = 0;

  constructor(came: (document: Readonly<Record<string, unknown>>) => void) {
    this.#came = came;
  }

  read(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): void {
    for (let at = 0; at < spanCount && this.#length <= MOST_DOCUMENT_BYTES; at++) {
      const [start, end] = [spans[2 * at]!, spans[2 * at + 1]!];
      this.#length += end - start;
      if (this.#length <= MOST_DOCUMENT_BYTES) this.#parts.push(Buffer.from(chunk.subarray(start, end)));
      else this.#parts.length = 0;
    }
  }

  end(isWhole: boolean): void {
    if (!isWhole || this.#length > MOST_DOCUMENT_BYTES) return;
    try {
      const document: unknown = JSON.parse(Buffer.concat(this.#parts).toString());
      if (typeof document === "object" && document !== null) this.#came(document as Readonly<Record<string, unknown>>);
    } catch {
      // It is the client's to find that out.
    }
  }
}
