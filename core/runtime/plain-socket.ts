import { Socket } from "node:net";

// A write through a socket's stream costs more than the system call it leads to, much of it for an object that stands for the
// write until it is complete. Nearly all writes are complete at once. So a PlainSocket tries the connection itself first, with
// one such object for all, and the stream learns of a write only if the kernel did not take it whole.

/** Stands for a write that is not complete. */
interface WriteRequest {
  oncomplete: (status: number) => void;
  /** Keeps the bytes in memory. */
  buffer?: Buffer;
}

/** What is behind node:net and not documented; the same on Node and Deno, missing on Bun. */
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

/** A socket over bare TCP. */
export class PlainSocket extends Socket {
  /** Begun by `send`, and not known to the stream yet. */
  #begun: WriteRequest | undefined;

  /** Does what `write` does, for less. */
  send(bytes: Buffer): boolean {
    const handle = (this as HandleOwner)._handle;
    const request = unused;
    if (binding === undefined || request === undefined || !handle || this.#isStreamBusy) return this.write(bytes);
    // What failed at once fails when the stream tries it, too, and the stream knows what to do then.
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
  // The way to it is deprecated, though not told unless asked; who makes that an error gets it outside of any catch.
  if ((process as { throwDeprecation?: boolean }).throwDeprecation) return undefined;
  try {
    const found = (process as { binding?: (name: string) => Partial<StreamBinding> }).binding?.("stream_wrap");
    const isComplete = found?.WriteWrap && found.streamBaseState && found.kLastWriteWasAsync !== undefined;
    return isComplete ? (found as StreamBinding) : undefined;
  } catch {
    return undefined;
  }
}
