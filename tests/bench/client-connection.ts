import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { openClientSocket, type Target } from "./client-socket.ts";

/** What came back: the status, or 0 when the connection broke before the answer was whole. */
export type Answered = (status: number) => void;

/** Called with each piece of an answer; its memory is used again. */
type Arrived = (bytes: Buffer) => void;

const CHUNKED_END = "0\r\n\r\n";
const HEAD_END = Buffer.from("\r\n\r\n");
const READ_BYTES = 64 * 1024;
/** All answers are read into the same memory: a load that costs much would leave every proxy waiting for it. */
const shared = Buffer.allocUnsafeSlow(READ_BYTES);

/** One kept-alive connection that has one request under way at most; opened again when it was closed. */
export class ClientConnection {
  readonly #target: Target;
  readonly #arrived: Arrived | undefined;
  #socket: Socket | undefined;
  #answered: Answered | undefined;
  #head = "";
  #status = 0;
  /** Bytes of body still to come; infinite for a chunked one. */
  #bodyLeft = 0;
  #tail = "";

  constructor(target: Target, arrived?: Arrived) {
    this.#target = target;
    this.#arrived = arrived;
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
    const callback = (bytes: number) => {
      this.#receive(shared.subarray(0, bytes));
      return true;
    };
    const socket = openClientSocket(this.#target, { buffer: shared, callback });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#finish(0);
    });
    return socket;
  }

  #receive(bytes: Buffer): void {
    this.#arrived?.(bytes);
    let bodyBytes = bytes.length;
    if (this.#bodyLeft === 0) {
      const heldBytes = this.#head.length;
      const whole = heldBytes === 0 ? bytes : Buffer.from(this.#head + bytes.toString("latin1"), "latin1");
      const end = whole.indexOf(HEAD_END);
      if (end < 0) {
        this.#head = whole.toString("latin1");
        return;
      }
      bodyBytes = whole.length - end - HEAD_END.length;
      this.#readHead(whole.toString("latin1", 0, end));
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
