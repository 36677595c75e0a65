import type { Socket } from "node:net";

/** Writes what comes in one turn in one piece. */
export class OutQueue {
  readonly #socket: Socket;
  #parts: Buffer[] = [];
  readonly #flushLater = () => this.flush();

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** `bytes` must not change any more. */
  push(bytes: Buffer): void {
    if (this.#parts.length === 0) queueMicrotask(this.#flushLater);
    this.#parts.push(bytes);
  }

  flush(): void {
    const parts = this.#parts;
    if (parts.length === 0) return;
    this.#parts = [];
    this.#socket.write(parts.length === 1 ? parts[0]! : Buffer.concat(parts));
  }
}
