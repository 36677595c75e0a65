import { KubernetesError } from "./kubernetes-error.ts";

const LINE_FEED = 10;

/** Cuts a stream of bytes into the JSON documents of its lines, however the bytes are split. */
export class JsonLines {
  readonly #mostBytes: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;

  /** `mostBytes`: the longest line that is accepted. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** The documents that these bytes complete. Throws a KubernetesError for a line that is too long or no JSON. */
  push(chunk: Uint8Array): readonly unknown[] {
    const documents: unknown[] = [];
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      this.#keep(chunk.subarray(from, end));
      const line = this.#take();
      if (line.trim() !== "") documents.push(parsed(line));
      from = end + 1;
    }
    // A copy: a runtime may use the chunk's memory again.
    if (from < chunk.length) this.#keep(chunk.slice(from));
    return documents;
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#mostBytes)
      throw new KubernetesError(0, "", `A line of the watch has more than ${this.#mostBytes} bytes.`);
    this.#parts.push(part);
  }

  #take(): string {
    const line = Buffer.concat(this.#parts).toString("utf8");
    this.#parts = [];
    this.#bytes = 0;
    return line;
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new KubernetesError(0, "", "A line of the watch is not JSON.");
  }
}
