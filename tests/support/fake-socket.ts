import { EventEmitter } from "node:events";
import type { Socket } from "node:net";

/**
 * The router's end of a connection that exists in memory only: what arrives, in which pieces and when, is up to the test.
 * It has what `core/wire` uses of a socket, and does it in the order in which a socket does it.
 */
export class FakeSocket extends EventEmitter {
  /** Undefined once the connection was reset. */
  remoteAddress: string | undefined = "127.0.0.1";
  /** Every write since the last `takeWritten`. */
  #written: Buffer[] = [];
  #arrived: Buffer[] = [];
  #isPaused = false;
  /** The other side has ended its half, and that has not been read yet. */
  #isEndComing = false;
  destroyed = false;
  /** The router ended its half; what it wrote before arrives. */
  isEnded = false;
  wasReset = false;
  /** Bytes written so far. */
  bytesWritten = 0;
  /** Those of them that the kernel has not taken yet. */
  unsentBytes = 0;

  get writableLength(): number {
    return this.unsentBytes;
  }

  /** Set by a test together with `unsentBytes`. */
  writableNeedDrain = false;

  /** Reads that wait until the router goes on. */
  get unread(): number {
    return this.#arrived.length;
  }

  isPaused(): boolean {
    return this.#isPaused;
  }

  /** Bytes arrive as one read, in memory of its own, at once unless the router has paused. */
  receive(bytes: Buffer): void {
    if (this.destroyed) return;
    if (this.#isPaused || this.#arrived.length > 0) this.#arrived.push(bytes);
    else this.emit("data", Buffer.from(bytes));
  }

  /** The other side ends its half; both ends are then closed, as no half-open connections are allowed. */
  receiveEnd(): void {
    this.#isEndComing = true;
    this.#deliver();
  }

  /** The connection breaks. */
  receiveReset(): void {
    if (this.destroyed) return;
    this.emit("error", new Error("read ECONNRESET"));
    this.destroy();
  }

  /** What was written since the last call. */
  takeWritten(): Buffer {
    const bytes = this.#written.length === 1 ? this.#written[0]! : Buffer.concat(this.#written);
    this.#written = [];
    return bytes;
  }

  write(data: string | Uint8Array, encoding?: BufferEncoding | (() => void), written?: () => void): boolean {
    if (this.isEnded) throw new Error("The socket was written to after its end");
    if (this.destroyed) return false;
    const bytes =
      typeof data === "string" ? Buffer.from(data, typeof encoding === "string" ? encoding : "utf8") : Buffer.from(data);
    if (bytes.length > 0) this.#written.push(bytes);
    this.bytesWritten += bytes.length;
    const callback = typeof encoding === "function" ? encoding : written;
    if (callback !== undefined) queueMicrotask(callback);
    return true;
  }

  end(ended?: () => void): void {
    this.isEnded = true;
    if (ended !== undefined) queueMicrotask(ended);
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#arrived = [];
    queueMicrotask(() => this.emit("close"));
  }

  resetAndDestroy(): void {
    this.wasReset = true;
    this.destroy();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    queueMicrotask(() => this.#deliver());
  }

  cork(): void {}

  uncork(): void {}

  #deliver(): void {
    while (this.#arrived.length > 0 && !this.#isPaused && !this.destroyed) this.emit("data", Buffer.from(this.#arrived.shift()!));
    if (!this.#isEndComing || this.#isPaused || this.destroyed) return;
    this.#isEndComing = false;
    this.emit("end");
    this.destroy();
  }
}

/** For parameters that want a real one. */
export function asSocket(fake: FakeSocket): Socket {
  return fake as unknown as Socket;
}
