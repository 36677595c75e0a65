import type { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";

/** What came back: the status, or 0 when the connection broke before the answer was whole. */
export type Answered = (status: number) => void;

const CHUNKED_END = "0\r\n\r\n";

/** One kept-alive connection that has one request under way at most; opened again when it was closed. */
export class ClientConnection {
  readonly #port: number;
  #socket: Socket | undefined;
  #answered: Answered | undefined;
  #head = "";
  #status = 0;
  /** Bytes of body still to come; infinite for a chunked one. */
  #bodyLeft = 0;
  #tail = "";

  constructor(port: number) {
    this.#port = port;
  }

  send(bytes: Uint8Array, answered: Answered): void {
    this.#answered = answered;
    this.#socket ??= this.#open();
    this.#socket.write(bytes);
  }

  close(): void {
    this.#answered = undefined;
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open(): Socket {
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    socket.on("data", (bytes: Buffer) => this.#receive(bytes));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#finish(0);
    });
    return socket;
  }

  #receive(bytes: Buffer): void {
    let bodyBytes = bytes.length;
    if (this.#bodyLeft === 0) {
      this.#head += bytes.toString("latin1");
      const end = this.#head.indexOf("\r\n\r\n");
      if (end < 0) return;
      bodyBytes = this.#head.length - end - 4;
      this.#readHead(this.#head.slice(0, end));
    }
    if (this.#bodyLeft === Number.POSITIVE_INFINITY) {
      this.#tail = (this.#tail + bytes.toString("latin1", Math.max(0, bytes.length - CHUNKED_END.length))).slice(
        -CHUNKED_END.length,
      );
      if (this.#tail === CHUNKED_END) this.#finish(this.#status);
      return;
    }
    this.#bodyLeft -= bodyBytes;
    if (this.#bodyLeft <= 0) this.#finish(this.#status);
  }

  #readHead(head: string): void {
    this.#head = "";
    this.#tail = "";
    this.#status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#bodyLeft = length === undefined ? Number.POSITIVE_INFINITY : Number(length);
  }

  #finish(status: number): void {
    this.#bodyLeft = 0;
    this.#head = "";
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.(status);
  }
}
