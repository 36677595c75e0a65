import type { Tap } from "signalbox/plugin";

/** A whole response with status 200. */
interface CachedResponse {
  /** Its Content-Type. */
  readonly type: string;
  readonly body: Uint8Array;
  readonly atMs: number;
}

/** Responses by what was asked, within bounds: the one that was used the longest time ago goes first. */
export class ResponseStore {
  /** In the order in which they were used. */
  readonly #entries = new Map<string, CachedResponse>();
  #bytes = 0;
  #maxBytes = 0;
  #maxEntries = 0;

  get entries(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  bound(maxBytes: number, maxEntries: number): void {
    this.#maxBytes = maxBytes;
    this.#maxEntries = maxEntries;
    this.#shrink();
  }

  find(key: string, sinceMs: number): CachedResponse | undefined {
    const found = this.#entries.get(key);
    if (found === undefined) return undefined;
    this.#remove(key, found);
    if (found.atMs < sinceMs) return undefined;
    this.add(key, found);
    return found;
  }

  add(key: string, response: CachedResponse): void {
    const known = this.#entries.get(key);
    if (known !== undefined) this.#remove(key, known);
    this.#entries.set(key, response);
    this.#bytes += sizeOf(key, response);
    this.#shrink();
  }

  /** Keeps the bytes of a response as they pass, up to `maxBytes`. `whole` gets them if it came whole. */
  recorder(maxBytes: number, whole: (body: Uint8Array) => void): Tap {
    let parts: Uint8Array[] = [];
    let length = 0;
    return {
      read(chunk, spans, spanCount) {
        for (let i = 0; i < spanCount; i++) {
          const part = new Uint8Array(chunk.subarray(spans[2 * i], spans[2 * i + 1]));
          length += part.length;
          // What is too long is not kept, nor the memory for what was read of it.
          if (length > maxBytes) parts = [];
          else parts.push(part);
        }
      },
      end(isWhole) {
        if (isWhole && length <= maxBytes) whole(joined(parts, length));
      },
    };
  }

  #shrink(): void {
    for (const [key, oldest] of this.#entries) {
      if (this.#bytes <= this.#maxBytes && this.#entries.size <= this.#maxEntries) return;
      this.#remove(key, oldest);
    }
  }

  #remove(key: string, response: CachedResponse): void {
    this.#entries.delete(key);
    this.#bytes -= sizeOf(key, response);
  }
}

/** A character takes up to two bytes. */
const sizeOf = (key: string, { body }: CachedResponse) => 2 * key.length + body.length;

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
