import { Socket } from "node:net";

// A stream makes an object for each write and calls back when the write is complete, but nearly all writes are complete at once. A
// PlainSocket hands its bytes to the connection itself, with one such object for all writes; the stream learns of a write only if the
// kernel did not take it whole. Of reading and writing a small chunk, that saves 7 % on Node 24, 6 % on Deno and 4 % on Bun
// (tests/bench/socket-write.ts).

/** What the connection needs to report the end of a write. */
interface WriteRequest {
  oncomplete: (status: number) => void;
  /** Set only to keep the bytes from being collected during the write. */
  buffer?: Buffer;
}

/** Undocumented parts of node:net: the same on Node and Deno. */
interface StreamBinding {
  readonly WriteWrap: new () => WriteRequest;
  readonly streamBaseState: ArrayLike<number>;
  readonly kLastWriteWasAsync: number;
}

interface HandleOwner {
  readonly _handle?: { writeBuffer(request: WriteRequest, bytes: Buffer): number } | null;
}

/** On Bun the handle is a socket of `Bun.connect` or `Bun.listen`, whose `write` returns how many bytes the kernel took. */
interface BunHandleOwner {
  readonly _handle?: { write?(bytes: Buffer): number } | null;
}

type Written = (error?: Error | null) => void;

export const isBun: boolean = process.versions.bun !== undefined;
const binding = findBinding();
let unused = binding && newRequest(binding);

/** Does what `write` does, at a lower cost where it can: false when the caller should wait for "drain". */
export function send(socket: Socket, bytes: Buffer): boolean {
  if (socket instanceof PlainSocket) return socket.send(bytes);
  const isPlain = isBun && (socket as { encrypted?: boolean }).encrypted !== true;
  return isPlain ? sendOnBun(socket, bytes) : socket.write(bytes);
}

/** A socket over bare TCP, without TLS. */
export class PlainSocket extends Socket {
  /** A write that `send` began and the kernel did not take whole; the stream takes it over in `_write`. */
  #begun: WriteRequest | undefined;

  /** Does what `write` does at a lower cost: false when the caller should wait for "drain". */
  send(bytes: Buffer): boolean {
    if (isBun) return sendOnBun(this, bytes);
    const handle = (this as HandleOwner)._handle;
    const request = unused;
    if (binding === undefined || request === undefined || !handle || isStreamBusy(this)) return this.write(bytes);
    // A write that fails at once fails for the stream too, which reports the error.
    if (handle.writeBuffer(request, bytes) !== 0) return this.write(bytes);
    if (binding.streamBaseState[binding.kLastWriteWasAsync] === 0) return true;
    unused = newRequest(binding);
    request.buffer = bytes;
    this.#begun = request;
    return this.write(bytes);
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

function isStreamBusy(socket: Socket): boolean {
  return socket.writableLength > 0 || socket.writableCorked > 0 || socket.writableEnded;
}

/** The stream gets only what the kernel did not take. A write that fails takes nothing, and fails for the stream too. */
function sendOnBun(socket: Socket, bytes: Buffer): boolean {
  const handle = (socket as BunHandleOwner)._handle;
  if (!handle?.write || socket.connecting || isStreamBusy(socket)) return socket.write(bytes);
  const taken = Math.max(0, handle.write(bytes));
  return taken === bytes.length || socket.write(bytes.subarray(taken));
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
