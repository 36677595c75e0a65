import { OPCODE } from "../../../../core/wire/websocket/frame-header.ts";
import { frameHeader } from "../../../../core/wire/websocket/frames.ts";

const LF = 0x0a;
const COLON = 0x3a;
const SPACE = 0x20;
const DATA = Buffer.from("data:");
/** Room in front of a message for the header of its frame. */
const FRONT_BYTES = 10;
const LEAST_BYTES = 4 * 1024;
/** A message of more bytes goes on in fragments, and a larger buffer is not kept. */
const MOST_BYTES = 256 * 1024;

// What a line is, by how it begins.
const UNKNOWN = 0;
const DATA_FIRST = 1;
const DATA_REST = 2;
const COMMENT = 3;
const OTHER = 4;

/** Who sends frames to a client. */
export interface FramesOwner {
  /** Sends bytes[start, end). Returns false when the caller should pause. */
  frames(bytes: Uint8Array, start: number, end: number): boolean;
  /** A comment came, which keeps a connection alive; no frame of a message is open. */
  comment(): boolean;
}

/** Makes a message of each event of an event stream, in whatever pieces they come. */
export class EventFrames {
  readonly #owner: FramesOwner;
  #bytes = Buffer.allocUnsafe(LEAST_BYTES);
  /** Of the message so far, behind the room for its header. */
  #length = 0;
  #line = UNKNOWN;
  /** How much of "data:" the line has. */
  #matched = 0;
  #hasData = false;
  #isFragmented = false;

  constructor(owner: FramesOwner) {
    this.#owner = owner;
  }

  /** Nothing of a message has been sent whose rest has not. */
  get isBetween(): boolean {
    return !this.#isFragmented;
  }

  /** Forgets an event of which nothing was sent. */
  reset(): void {
    this.#line = UNKNOWN;
    this.#matched = 0;
    this.#hasData = false;
    this.#length = 0;
  }

  /** Returns false when the caller should pause. */
  read(chunk: Uint8Array, start: number, end: number): boolean {
    let hasRoom = true;
    let at = start;
    while (at < end) {
      if (this.#line === UNKNOWN) at = this.#begin(chunk, at, end);
      else {
        const found = chunk.indexOf(LF, at);
        const lineEnd = found < 0 || found > end ? end : found;
        if (this.#line === DATA_FIRST || this.#line === DATA_REST) hasRoom = this.#data(chunk, at, lineEnd) && hasRoom;
        at = lineEnd;
      }
      if (at < end && chunk[at] === LF) {
        hasRoom = this.#lineEnded() && hasRoom;
        at += 1;
      }
    }
    return hasRoom;
  }

  /** Returns where it is known what the line is, or `end`. */
  #begin(chunk: Uint8Array, start: number, end: number): number {
    for (let at = start; at < end; at++) {
      const byte = chunk[at]!;
      if (byte === LF) return at;
      if (byte === COLON && this.#matched === 0) this.#line = COMMENT;
      else if (byte !== DATA[this.#matched]) this.#line = OTHER;
      else {
        this.#matched += 1;
        if (this.#matched === DATA.length) this.#line = DATA_FIRST;
      }
      if (this.#line !== UNKNOWN) return at + 1;
    }
    return end;
  }

  #data(chunk: Uint8Array, start: number, end: number): boolean {
    let from = start;
    this.#reserve(end - start + 1);
    if (this.#line === DATA_FIRST && start < end) {
      this.#line = DATA_REST;
      if (this.#hasData) this.#bytes[FRONT_BYTES + this.#length++] = LF;
      this.#hasData = true;
      if (chunk[start] === SPACE) from += 1;
    }
    this.#bytes.set(chunk.subarray(from, end), FRONT_BYTES + this.#length);
    this.#length += end - from;
    return this.#length < MOST_BYTES || this.#send(false);
  }

  #lineEnded(): boolean {
    const isEmpty = this.#line === UNKNOWN && this.#matched === 0;
    const isComment = this.#line === COMMENT;
    this.#line = UNKNOWN;
    this.#matched = 0;
    if (isEmpty && this.#hasData) return this.#send(true);
    return !isComment || this.#isFragmented || this.#owner.comment();
  }

  #send(isFinal: boolean): boolean {
    const header = frameHeader(this.#isFragmented ? OPCODE.continuation : OPCODE.text, this.#length, isFinal);
    const start = FRONT_BYTES - header.length;
    const end = FRONT_BYTES + this.#length;
    const bytes = this.#bytes;
    bytes.set(header, start);
    this.#isFragmented = !isFinal;
    this.#hasData = !isFinal;
    this.#length = 0;
    const hasRoom = this.#owner.frames(bytes, start, end);
    if (bytes.length > MOST_BYTES) this.#bytes = Buffer.allocUnsafe(LEAST_BYTES);
    return hasRoom;
  }

  /** Makes room for so many bytes more. */
  #reserve(bytes: number): void {
    const needed = FRONT_BYTES + this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const wider = Buffer.allocUnsafe(2 * needed);
    wider.set(this.#bytes.subarray(0, FRONT_BYTES + this.#length));
    this.#bytes = wider;
  }
}
