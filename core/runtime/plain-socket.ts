import { Socket } from "node:net";

// A stream makes an object for each write and calls back when the write is complete, but nearly all writes are complete at once. A
// PlainSocket hands its bytes to the connection itself, with one such object for all writes; the stream learns of a write only if the
// kernel did not take it whole. Of reading and writing a small chunk, that saves 7 % on Node 24 and 6 % on Deno
// (tests/bench/socket-write.ts).

/** What the connection needs to report the end of a write. */
interface WriteRequest {
  oncomplete: (status: number) => void;
  /** Set only to keep the bytes from being collected during the write. */
  buffer?: Buffer;
}

/** Undocumented parts of node:net: the same on Node and Deno; Bun has none of them. */
interface StreamBinding {
  readonly WriteWrap: new () => WriteRequest;
  readonly streamBaseState: ArrayLike<number>;
  readonly kLastWriteWasAsync: number;
}

interface HandleOwner {
  readonly _handle?: { writeBuffer(request: WriteRequest, bytes: Buffer): number } | null;
}

type Written = (error?: Error | null) => void;

const binding = findBinding();
let unused = binding && newRequest(binding);

/** A socket over bare TCP, without TLS. */
export class PlainSocket extends Socket {
  /** A write that `send` began and the kernel did not take whole; the stream takes it over in `_write`. */
  #begun: WriteRequest | undefined;

  /** Does what `write` does at a lower cost: false when the caller should wait for "drain". */
  send(bytes: Buffer): boolean {
    const handle = (this as HandleOwner)._handle;
    const request = unused;
    if (binding === undefined || request === undefined || !handle || this.#isStreamBusy) return this.write(bytes);
    // A write that fails at once fails for the stream too, which reports the error.
    if (handle.writeBuffer(request, bytes) !== 0) return this.write(bytes);
    if (binding.streamBaseState[binding.kLastWriteWasAsync] === 0) return true;
    unused = newRequest(binding);
    request.buffer = bytes;
    this.#begun = request;
    return this.write(bytes);
  }

  get #isStreamBusy(): boolean {
    return this.writableLength > 0 || this.writableCorked > 0 || this.writableEnded;
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, written: Written): void {
    const begun = this.#begun;
    if (begun === undefined || begun.buffer !== chunk) {
      super._write(chunk, encoding, written);
      return;
    }
    this.#begun = undefined;
    begun.oncomplete = (status) => written(status < 0 ? new Error(`The connection broke (${status})`) : null);
  }
}

function newRequest({ WriteWrap }: StreamBinding): WriteRequest {
  const request = new WriteWrap();
  request.oncomplete = () => {};
  return request;
}

function findBinding(): StreamBinding | undefined {
  // process.binding is deprecated. With --throw-deprecation it throws later, outside of this catch, so it is not called then.
  if ((process as { throwDeprecation?: boolean }).throwDeprecation) return undefined;
  try {
    const found = (process as { binding?: (name: string) => Partial<StreamBinding> }).binding?.("stream_wrap");
    const isComplete = found?.WriteWrap && found.streamBaseState && found.kLastWriteWasAsync !== undefined;
    return isComplete ? (found as StreamBinding) : undefined;
  } catch {
    return undefined;
  }
}
