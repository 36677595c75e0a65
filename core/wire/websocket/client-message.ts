import { CLOSE } from "./close-codes.ts";
import { FrameHeader, OPCODE } from "./frame-header.ts";

const MOST_CONTROL_BYTES = 125;
/** Pings and pongs before its end: each ping is answered. */
const MOST_CONTROL_FRAMES = 64;

/** Who waits for a message. */
export interface ClientMessageOwner {
  /** Bytes of the message: chunk[start, end). */
  text(chunk: Uint8Array, start: number, end: number): void;
  /** It has come whole. */
  complete(): void;
  pinged(payload: Uint8Array): void;
  /** The client has said that it leaves. */
  left(): void;
  /** The client does not keep to the protocol. */
  broken(code: number, reason: string): void;
}

/**
 * Reads a client's frames up to the end of one message, which must be a text; fragments become one. Nothing is kept here but the
 * payload of a ping.
 */
export class ClientMessage {
  readonly #owner: ClientMessageOwner;
  readonly #header = new FrameHeader();
  readonly #control = new Uint8Array(MOST_CONTROL_BYTES);
  /** Of the payload of the frame under way; -1 before its header is complete. */
  #left = -1;
  #hasBegun = false;
  #isOver = false;
  #controlFrames = 0;

  constructor(owner: ClientMessageOwner) {
    this.#owner = owner;
  }

  /** Reads chunk[start, end), where it takes the mask off in place. Returns where the message ends, or `end`. */
  read(chunk: Uint8Array, start: number, end: number): number {
    let at = start;
    while (at < end && !this.#isOver) {
      if (this.#left < 0) {
        at = this.#header.read(chunk, at, end);
        if (!this.#header.isComplete || !this.#begins()) continue;
      } else at = this.#payload(chunk, at, end);
      if (this.#left === 0) this.#ends();
    }
    return at;
  }

  /** The header of a frame has come. Returns false, and ends, where no such frame may come. */
  #begins(): boolean {
    const { isMasked, hasReserved, isFinal, opcode, length } = this.#header;
    if (!isMasked) return this.#refuse(CLOSE.protocolError, "A client masks its frames.");
    if (hasReserved) return this.#refuse(CLOSE.protocolError, "No extension was agreed on.");
    if (opcode >= OPCODE.close) {
      if (opcode > OPCODE.pong || !isFinal || length > MOST_CONTROL_BYTES)
        return this.#refuse(CLOSE.protocolError, "There is no such control frame.");
      this.#controlFrames += 1;
      if (this.#controlFrames > MOST_CONTROL_FRAMES) return this.#refuse(CLOSE.policy, "Send a message, and not pings alone.");
    } else {
      if (opcode === OPCODE.binary) return this.#refuse(CLOSE.unsupportedData, "The message must be a text.");
      if (opcode !== (this.#hasBegun ? OPCODE.continuation : OPCODE.text))
        return this.#refuse(CLOSE.protocolError, "There is no such frame here.");
      this.#hasBegun = true;
    }
    this.#left = length;
    return true;
  }

  #payload(chunk: Uint8Array, start: number, end: number): number {
    const { length, opcode } = this.#header;
    const from = length - this.#left;
    const stop = Math.min(end, start + this.#left);
    for (let at = start; at < stop; at++) chunk[at]! ^= this.#header.maskAt(from + at - start);
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
