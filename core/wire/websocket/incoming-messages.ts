import { CLOSE } from "./close-codes.ts";
import { FrameHeader, OPCODE } from "./frame-header.ts";

const MOST_CONTROL_BYTES = 125;

/** Who reads messages. */
export interface MessagesOwner {
  /** A message begins; `length` is in bytes, -1 where only its end tells. Returns false where it is to wait: the next `read` asks again. */
  begins(length: number): boolean;
  /** Bytes of the message: chunk[start, end). */
  text(chunk: Uint8Array, start: number, end: number): void;
  /** It has come whole. Without `next` it was the last one. */
  complete(): void;
  pinged(payload: Uint8Array): void;
  /** The peer has said that it leaves. */
  left(): void;
  /** The peer does not keep to the protocol. */
  broken(code: number, reason: string): void;
}

/** Which end is read, and how many pings and pongs it may send before the end of a message. */
export interface MessagesPeer {
  readonly isClient: boolean;
  readonly mostControlFrames: number;
}

/** Reads frames of one end up to the end of a message, which must be a text; fragments become one. Keeps the payload of a ping alone. */
export class IncomingMessages {
  readonly #owner: MessagesOwner;
  readonly #peer: MessagesPeer;
  readonly #header = new FrameHeader();
  readonly #control = new Uint8Array(MOST_CONTROL_BYTES);
  /** Of the payload of the frame under way; -1 before its header is complete. */
  #left = -1;
  #hasBegun = false;
  #isOver = false;
  #controlFrames = 0;

  constructor(owner: MessagesOwner, peer: MessagesPeer) {
    this.#owner = owner;
    this.#peer = peer;
  }

  /** Reads chunk[start, end), where it takes masks off in place. Returns where the message ends, or has to wait, or `end`. */
  read(chunk: Uint8Array, start: number, end: number): number {
    let at = start;
    while (!this.#isOver && (at < end || (this.#left < 0 && this.#header.isComplete))) {
      if (this.#left < 0) {
        at = this.#header.read(chunk, at, end);
        if (!this.#header.isComplete || !this.#begins()) break;
      } else at = this.#payload(chunk, at, end);
      if (this.#left === 0) this.#ends();
    }
    return at;
  }

  /** Reads another message behind the one that has come whole. */
  next(): void {
    this.#isOver = false;
    this.#hasBegun = false;
    this.#controlFrames = 0;
  }

  /** The header of a frame has come. Returns false where it has to wait, or where no such frame may come; then nothing more is read. */
  #begins(): boolean {
    const { isMasked, hasReserved, isFinal, opcode, length } = this.#header;
    if (isMasked !== this.#peer.isClient)
      return this.#refuse(CLOSE.protocolError, "A client masks its frames, and a server does not.");
    if (hasReserved) return this.#refuse(CLOSE.protocolError, "No extension was agreed on.");
    if (opcode >= OPCODE.close) {
      if (opcode > OPCODE.pong || !isFinal || length > MOST_CONTROL_BYTES)
        return this.#refuse(CLOSE.protocolError, "There is no such control frame.");
      this.#controlFrames += 1;
      if (this.#controlFrames > this.#peer.mostControlFrames)
        return this.#refuse(CLOSE.policy, "Send a message, and not pings alone.");
    } else {
      if (opcode === OPCODE.binary) return this.#refuse(CLOSE.unsupportedData, "The message must be a text.");
      if (opcode !== (this.#hasBegun ? OPCODE.continuation : OPCODE.text))
        return this.#refuse(CLOSE.protocolError, "There is no such frame here.");
      if (!this.#hasBegun && !this.#owner.begins(isFinal ? length : -1)) return false;
      this.#hasBegun = true;
    }
    this.#left = length;
    return true;
  }

  #payload(chunk: Uint8Array, start: number, end: number): number {
    const { length, opcode } = this.#header;
    const from = length - this.#left;
    const stop = Math.min(end, start + this.#left);
    if (this.#peer.isClient) for (let at = start; at < stop; at++) chunk[at]! ^= this.#header.maskAt(from + at - start);
    this.#left -= stop - start;
    if (opcode < OPCODE.close) this.#owner.text(chunk, start, stop);
    else this.#control.set(chunk.subarray(start, stop), from);
    return stop;
  }

  /** A frame has come whole. */
  #ends(): void {
    const { opcode, isFinal, length } = this.#header;
    this.#header.reset();
    this.#left = -1;
    if (opcode === OPCODE.ping) return this.#owner.pinged(this.#control.slice(0, length));
    if (opcode === OPCODE.pong || (opcode < OPCODE.close && !isFinal)) return;
    this.#isOver = true;
    if (opcode === OPCODE.close) this.#owner.left();
    else this.#owner.complete();
  }

  #refuse(code: number, reason: string): false {
    this.#isOver = true;
    this.#owner.broken(code, reason);
    return false;
  }
}
