import type { MemoryBudget } from "../../../../core/body/memory-budget.ts";
import { BodyBuffer, type BodyOwner } from "../../../../core/body/receive.ts";
import { asRouterError } from "../../../../core/contract/errors.ts";
import { CLOSE } from "../../../../core/wire/websocket/close-codes.ts";
import { FrameHeader, OPCODE } from "../../../../core/wire/websocket/frame-header.ts";

const OPEN_OBJECT = 0x7b;
const SPACE = 0x20;

/** Who gets what a client sends. */
export interface CheckedFramesOwner extends BodyOwner {
  /** Bytes that may go on to the replica as they are. */
  pass(chunk: Uint8Array, start: number, end: number): void;
  /** A whole message that may be a JSON object, in memory that is given back afterwards. Returns false while it is not known what becomes of it. */
  judge(message: Uint8Array): boolean;
  /** The client does not keep to the protocol. */
  broken(code: number, reason: string): void;
}

/** Bounds of what is kept. */
export interface CheckedFramesLimits {
  readonly messageBytes: number;
  readonly memory: MemoryBudget;
}

/**
 * Reads the frames of a client on their way to a replica. Messages that may be JSON objects are kept until they are whole, because they
 * may name a model, and go on as one frame. All others pass as they come: sound, and texts that begin otherwise.
 */
export class CheckedFrames {
  /** A Close frame has passed whole. */
  isClosed = false;
  #hasSpoken = false;
  readonly #owner: CheckedFramesOwner;
  readonly #limits: CheckedFramesLimits;
  readonly #header = new FrameHeader();
  /** Of the payload of the frame under way; -1 before its header is complete. */
  #left = -1;
  /** What becomes of the message under way. */
  #message: "none" | "passes" | "kept" = "none";
  #buffer: BodyBuffer | undefined;
  #isOver = false;

  constructor(owner: CheckedFramesOwner, limits: CheckedFramesLimits) {
    this.#owner = owner;
    this.#limits = limits;
  }

  /** No frame that passes is under way. */
  get isBetween(): boolean {
    return this.#left < 0 || (this.#message === "kept" && !this.#isControl);
  }

  /** As of a FrameTrack. */
  takeSpoken(): boolean {
    const has = this.#hasSpoken;
    this.#hasSpoken = false;
    return has;
  }

  /** Reads chunk[start, end). Returns where it has to wait for a judgement, or `end`. */
  read(chunk: Uint8Array, start: number, end: number): number {
    let at = start;
    while (at < end && !this.#isOver) {
      if (this.#left < 0) {
        at = this.#header.read(chunk, at, end);
        if (!this.#header.isComplete || !this.#begins(chunk, at, end)) return at;
      }
      if (this.#header.opcode !== OPCODE.pong) this.#hasSpoken = true;
      const stop = Math.min(end, at + this.#left);
      this.#payload(chunk, at, stop);
      this.#left -= stop - at;
      at = stop;
      if (this.#left === 0 && !this.#ends()) return at;
    }
    return this.#isOver ? end : at;
  }

  /** The client has left. */
  close(): void {
    this.#isOver = true;
    this.#buffer?.release();
    this.#buffer = undefined;
  }

  get #isControl(): boolean {
    return this.#header.opcode >= OPCODE.close;
  }

  /** The header of a frame has come. Returns false where the next byte has to tell what becomes of it, or no such frame may come. */
  #begins(chunk: Uint8Array, at: number, end: number): boolean {
    const { isMasked, hasReserved, opcode, length } = this.#header;
    if (!isMasked || hasReserved) return this.#refuse("A client masks its frames, and no extension was agreed on.");
    if (!this.#isControl) {
      if ((opcode === OPCODE.continuation) !== (this.#message !== "none") || opcode > OPCODE.binary)
        return this.#refuse("There is no such frame here.");
      if (opcode === OPCODE.binary) this.#message = "passes";
      if (opcode === OPCODE.text) {
        if (length > 0 && at === end) return false;
        const isNone = length === 0 ? this.#header.isFinal : !this.#mayBeObject(chunk[at]!);
        this.#message = isNone ? "passes" : "kept";
      }
    }
    this.#left = length;
    if (this.#isControl || this.#message === "passes") this.#passHeader();
    else if (!this.#keeps(length)) return false;
    return true;
  }

  /** By its first byte, which may be white space. */
  #mayBeObject(masked: number): boolean {
    const first = masked ^ this.#header.maskAt(0);
    return first === OPEN_OBJECT || first <= SPACE;
  }

  #keeps(length: number): boolean {
    const { messageBytes, memory } = this.#limits;
    try {
      this.#buffer ??= new BodyBuffer(this.#header.isFinal ? length : -1, messageBytes, memory, this.#owner);
      return true;
    } catch (thrown) {
      this.#isOver = true;
      this.#owner.failed(asRouterError(thrown));
      return false;
    }
  }

  #passHeader(): void {
    const { bytes } = this.#header;
    this.#owner.pass(bytes, 0, bytes.length);
  }

  #payload(chunk: Uint8Array, start: number, end: number): void {
    if (this.#isControl || this.#message === "passes") return this.#owner.pass(chunk, start, end);
    const from = this.#header.length - this.#left;
    for (let at = start; at < end; at++) chunk[at]! ^= this.#header.maskAt(from + at - start);
    try {
      this.#buffer!.append(chunk, start, end);
    } catch (thrown) {
      this.#isOver = true;
      this.#owner.failed(asRouterError(thrown));
    }
  }

  /** A frame has come whole. Returns false where its message has to be judged first. */
  #ends(): boolean {
    const { opcode, isFinal } = this.#header;
    const wasControl = this.#isControl;
    this.#header.reset();
    this.#left = -1;
    if (opcode === OPCODE.close) this.isClosed = true;
    if (wasControl || !isFinal || this.#isOver) return true;
    const wasKept = this.#message === "kept";
    this.#message = "none";
    if (!wasKept) return true;
    const buffer = this.#buffer!;
    this.#buffer = undefined;
    buffer.complete();
    const isKnown = this.#owner.judge(buffer.bytes);
    buffer.release();
    return isKnown;
  }

  #refuse(reason: string): false {
    this.#isOver = true;
    this.#owner.broken(CLOSE.protocolError, reason);
    return false;
  }
}
