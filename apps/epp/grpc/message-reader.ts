import type { MemoryBudget } from "../../../core/body/memory-budget.ts";
import { BodyBuffer, type BodyOwner } from "../../../core/body/receive.ts";

/** A byte that says whether the message is compressed, and its length. */
const PREFIX_BYTES = 5;
/** What stands around a body in a message. */
const AROUND_BODY_BYTES = 64 * 1024;

export interface MessageSink extends BodyOwner {
  /** The bytes are overwritten once this returns. */
  message(bytes: Buffer): void;
  /** A compressed message, which nobody has asked for. */
  compressed(): void;
}

/** Cuts the data of a stream into messages. One that came in pieces is gathered in memory that counts in the budget. */
export class MessageReader {
  readonly #sink: MessageSink;
  readonly #memory: MemoryBudget;
  readonly #maxBytes: number;
  readonly #prefix = Buffer.alloc(PREFIX_BYTES);
  #prefixBytes = 0;
  /** Of the message whose prefix is complete. */
  #length = 0;
  #gathered: BodyBuffer | undefined;
  #isOver = false;

  /** Messages with longer bodies than `maxBodyBytes` are refused. */
  constructor(sink: MessageSink, memory: MemoryBudget, maxBodyBytes: number) {
    this.#sink = sink;
    this.#memory = memory;
    this.#maxBytes = maxBodyBytes + AROUND_BODY_BYTES;
  }

  /** Throws RouterError for a message that is too large, or for which there is no memory. */
  push(chunk: Buffer, start: number, end: number): void {
    let at = start;
    while (at < end && !this.#isOver)
      at = this.#prefixBytes < PREFIX_BYTES ? this.#readPrefix(chunk, at, end) : this.#read(chunk, at, end);
  }

  /** No more is read. */
  close(): void {
    this.#isOver = true;
    this.#gathered?.release();
    this.#gathered = undefined;
  }

  #readPrefix(chunk: Buffer, start: number, end: number): number {
    const taken = Math.min(end - start, PREFIX_BYTES - this.#prefixBytes);
    chunk.copy(this.#prefix, this.#prefixBytes, start, start + taken);
    this.#prefixBytes += taken;
    if (this.#prefixBytes < PREFIX_BYTES) return start + taken;
    if (this.#prefix[0] !== 0) {
      this.close();
      this.#sink.compressed();
    }
    this.#length = this.#prefix.readUInt32BE(1);
    if (this.#length === 0) this.#complete(chunk.subarray(0, 0));
    return start + taken;
  }

  #read(chunk: Buffer, start: number, end: number): number {
    const left = this.#length - (this.#gathered?.length ?? 0);
    const to = Math.min(end, start + left);
    if (this.#gathered === undefined && to - start === left) {
      this.#complete(chunk.subarray(start, to));
      return to;
    }
    this.#gathered ??= new BodyBuffer(this.#length, this.#maxBytes, this.#memory, this.#sink);
    this.#gathered.append(chunk, start, to);
    if (this.#gathered.length === this.#length) this.#completeGathered(this.#gathered);
    return to;
  }

  #completeGathered(gathered: BodyBuffer): void {
    const { buffer, byteOffset } = gathered.bytes;
    this.#gathered = undefined;
    this.#complete(Buffer.from(buffer, byteOffset, gathered.length));
    gathered.release();
  }

  #complete(bytes: Buffer): void {
    this.#prefixBytes = 0;
    if (!this.#isOver) this.#sink.message(bytes);
  }
}
