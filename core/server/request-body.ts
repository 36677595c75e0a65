import { ChunkedDecoder } from "../wire/chunked.ts";
import type { Framing } from "../wire/framing.ts";

/**
 * The most that is read of a body whose request was refused, to keep the connection. It is as much as one read brings, and
 * costs less than the new connection that the client would need. With a longer one, the client is told to stop instead.
 */
const MOST_SKIPPED_BYTES = 64 * 1024;

/** Takes the bytes of a body: chunk[start, end), which are overwritten once this returns. */
export interface BodySink {
  bodyBytes(chunk: Buffer, start: number, end: number): void;
}

/** Where the body of a connection's request ends, and how much of it is still to come. */
export class RequestBody {
  #decoder: ChunkedDecoder | undefined;
  #isChunked = false;
  /** Of a body with a Content-Length. */
  #bytesLeft = 0;
  /** The client sends the body only once it is told to go on (Expect: 100-continue), or perhaps never. */
  isWithheld = false;

  begin(framing: Framing): void {
    this.isWithheld = false;
    this.#isChunked = framing.kind === "chunked";
    this.#bytesLeft = framing.length;
    if (!this.#isChunked) return;
    this.#decoder ??= new ChunkedDecoder("request");
    this.#decoder.reset();
  }

  /** Whether all of it has come. True already while its last bytes are handed over. */
  get isComplete(): boolean {
    return this.#isChunked ? this.#decoder?.isDone === true : this.#bytesLeft === 0;
  }

  /** Whether another request can follow on the connection although nobody wants the rest of this body. */
  get isSkippable(): boolean {
    return this.isComplete || (!this.#isChunked && !this.isWithheld && this.#bytesLeft <= MOST_SKIPPED_BYTES);
  }

  /** Reads from `start` and hands the body's bytes to `sink`; returns the offset after them. Throws WireError. */
  read(chunk: Buffer, start: number, sink: BodySink): number {
    if (this.#isChunked) return this.#readChunks(chunk, start, sink);
    const end = Math.min(chunk.length, start + this.#bytesLeft);
    this.#bytesLeft -= end - start;
    if (end > start) sink.bodyBytes(chunk, start, end);
    return end;
  }

  #readChunks(chunk: Buffer, start: number, sink: BodySink): number {
    const decoder = this.#decoder!;
    decoder.push(chunk, start);
    for (let i = 0; i < decoder.spanCount; i++) sink.bodyBytes(chunk, decoder.spans[2 * i]!, decoder.spans[2 * i + 1]!);
    return decoder.end;
  }
}
