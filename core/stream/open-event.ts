import { OpenJson } from "./open-json.ts";

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
/** One byte order mark at the very beginning of a stream is no part of it (HTML standard, 9.2.6). */
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
/** Longer than any name that matters. */
const UNKNOWN = 16;

/** Where an event stream breaks, and what has to come before an error can follow. Plain data. */
export interface CutEvent {
  /** Bytes that complete a character that was cut in two; they come first. */
  readonly characterEnd: readonly number[];
  /** Text that comes next: up to the end of the event, or into the JSON object that is the event's data. */
  readonly text: string;
  /** The object in which `text` ends: it awaits a member. "theirs" has, or may have, members of the replica's. */
  readonly object: "none" | "ours" | "theirs";
  /** The event has a name; it will have another one if another `event:` line follows. */
  readonly hasName: boolean;
}

const BETWEEN: CutEvent = { characterEnd: [], text: "", object: "none", hasName: false };

/** What a line is, as far as it came. */
type Line = "start" | "name" | "data" | "event" | "other";

/** Up to so many bytes of an open event are kept as they came, and looked at only if the stream breaks there. */
const HELD_BYTES = 1024;

/**
 * Follows the last event of a stream, and only that: whether it is open and how it could be ended. Readers of a stream take what was
 * sent of an event for all of it as soon as the event ends, and fail on half a JSON text. So an event that was cut is not just ended,
 * its data is completed.
 */
export class OpenEvent {
  /** The newest bytes of the event; what is older was read into the fields below. */
  #held: Buffer | undefined;
  #heldLength = 0;
  /** The fields below are not as they are at the beginning. */
  #isRead = false;
  #line: Line = "start";
  /** The field's name begins like this one … */
  #name: "data" | "event" = "data";
  /** … in so many bytes. */
  #nameLength = 0;
  /** How much of a byte order mark the stream began with; once more than that came, as much as a whole one has. */
  #markLength = 0;
  #hasLines = false;
  #hasName = false;
  /** The last byte was a CR: a LF that follows belongs to it. */
  #isAfterReturn = false;
  #json: OpenJson | undefined;
  /** The last three bytes. */
  #tail = LF;

  /** Takes chunk[start, end), which is not empty. */
  read(chunk: Uint8Array, start: number, end: number): void {
    const open = openFrom(chunk, start, end);
    if (open > start) {
      this.#heldLength = 0;
      this.#markLength = BYTE_ORDER_MARK.length;
      if (this.#isRead) this.#reset();
    }
    if (open === end) return;
    const held = this.#heldLength;
    const length = end - open;
    if (held + length > HELD_BYTES) {
      this.#readHeld();
      this.#scan(chunk, open, end);
      return;
    }
    this.#held ??= Buffer.allocUnsafeSlow(HELD_BYTES);
    if (length === 1) this.#held[held] = chunk[open]!;
    else this.#held.set(chunk.subarray(open, end), held);
    this.#heldLength = held + length;
  }

  /** Whether nothing of an event came since the last one ended. */
  isBetween(): boolean {
    this.#readHeld();
    return !this.#hasLines && this.#line === "start";
  }

  cut(): CutEvent {
    if (this.isBetween()) return this.#isAfterReturn ? { ...BETWEEN, text: "\n" } : BETWEEN;
    const { text, object } = this.#line === "data" ? this.#inData() : this.#atLineStart();
    return { characterEnd: characterEnd(this.#tail), text, object, hasName: this.#hasName };
  }

  /** The data goes on in the same line. */
  #inData(): Pick<CutEvent, "text" | "object"> {
    const json = this.#json;
    if (json === undefined || json.isEmpty) return { text: "{", object: "ours" };
    if (json.isObject) return { text: json.completion(), object: "theirs" };
    return { text: `${json.completion()}\n\n`, object: "none" };
  }

  /** The data goes on in another line; what is open of this one is turned into a field that nobody knows, or ended. */
  #atLineStart(): Pick<CutEvent, "text" | "object"> {
    const json = this.#json;
    const lineEnd = this.#line === "name" ? "-\n" : this.#line === "start" && !this.#isAfterReturn ? "" : "\n";
    if (json === undefined || json.isEmpty) return { text: `${lineEnd}data: {`, object: "ours" };
    const rest = json.completion();
    if (json.isObject) return { text: `${lineEnd}data: ${rest}`, object: "theirs" };
    return { text: rest === "" ? `${lineEnd}\n` : `${lineEnd}data: ${rest}\n\n`, object: "none" };
  }

  #reset(): void {
    this.#isRead = false;
    this.#line = "start";
    this.#hasLines = false;
    this.#hasName = false;
    this.#isAfterReturn = false;
    this.#json = undefined;
    this.#tail = LF;
  }

  #readHeld(): void {
    const length = this.#heldLength;
    this.#heldLength = 0;
    if (this.#held !== undefined && length > 0) this.#scan(this.#held, 0, length);
  }

  #scan(chunk: Uint8Array, start: number, end: number): void {
    let at = start;
    while (at < end) {
      const byte = chunk[at]!;
      if (byte === LF && this.#isAfterReturn) {
        this.#isAfterReturn = false;
        at += 1;
      } else if (byte === LF || byte === CR) {
        this.#lineEnded();
        this.#isAfterReturn = byte === CR;
        at += 1;
      } else {
        this.#isAfterReturn = false;
        at = this.#readLine(chunk, at, end);
      }
    }
    this.#isRead = true;
    for (at = Math.max(start, end - 3); at < end; at++) this.#tail = ((this.#tail << 8) | chunk[at]!) & 0xffffff;
  }

  /** Reads from a byte inside a line up to its end or, of a field's name, one byte; returns where to go on. */
  #readLine(chunk: Uint8Array, start: number, end: number): number {
    if (this.#line === "start") this.#beginLine();
    if (this.#line === "name") {
      this.#readName(chunk[start]!);
      return start + 1;
    }
    const lineEnd = endOfLine(chunk, start, end);
    if (this.#line === "data") this.#data().read(chunk, start, lineEnd);
    return lineEnd;
  }

  #data(): OpenJson {
    this.#json ??= new OpenJson();
    return this.#json;
  }

  #beginLine(): void {
    this.#hasLines = true;
    this.#line = "name";
    this.#nameLength = 0;
  }

  #readName(byte: number): void {
    if (byte === COLON) {
      const isKnown = this.#nameLength > 0 && this.#nameLength === this.#name.length;
      this.#line = isKnown ? this.#name : "other";
      if (this.#line === "event") this.#hasName = true;
      return;
    }
    if (this.#takeMark(byte)) return;
    if (this.#nameLength === 0) {
      this.#name = byte === 0x64 ? "data" : "event";
    }
    if (byte === this.#name.charCodeAt(this.#nameLength)) this.#nameLength += 1;
    else this.#nameLength = UNKNOWN;
  }

  /** Whether the byte belongs to the byte order mark. */
  #takeMark(byte: number): boolean {
    if (this.#markLength === BYTE_ORDER_MARK.length) return false;
    if (byte === BYTE_ORDER_MARK[this.#markLength]) {
      this.#markLength += 1;
      return true;
    }
    if (this.#markLength > 0) this.#nameLength = UNKNOWN;
    this.#markLength = BYTE_ORDER_MARK.length;
    return false;
  }

  #lineEnded(): void {
    this.#markLength = BYTE_ORDER_MARK.length;
    if (this.#line === "start") return this.#reset();
    if (this.#line === "data") this.#json?.lineEnded();
    this.#line = "start";
  }
}

/** Where the open event begins in chunk[start, end): `end` if none is open; `start` also if it began in an earlier chunk. */
function openFrom(chunk: Uint8Array, start: number, end: number): number {
  // Most reads end where an event ends.
  if (end - start >= 3 && chunk[end - 1] === LF) {
    const before = chunk[end - 2]!;
    if (before === LF || (before === CR && chunk[end - 3] === LF)) return end;
  }
  for (let at = chunk.lastIndexOf(LF, end - 1); at > start; at = chunk.lastIndexOf(LF, at - 1)) {
    if (chunk[at - 1] === LF) return at + 1;
  }
  return start;
}

function endOfLine(chunk: Uint8Array, start: number, end: number): number {
  const lineFeed = chunk.indexOf(LF, start);
  const lineEnd = lineFeed < 0 || lineFeed > end ? end : lineFeed;
  for (let at = start; at < lineEnd; at++) if (chunk[at] === CR) return at;
  return lineEnd;
}

/** The bytes that a UTF-8 character lacks of which these three are, or end with, the beginning. */
function characterEnd(tail: number): number[] {
  const last = [tail & 0xff, (tail >> 8) & 0xff, (tail >> 16) & 0xff];
  const lead = last.findIndex((byte) => (byte & 0xc0) !== 0x80);
  const first = last[lead] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 0;
  const missing = length - 1 - lead;
  if (length === 0 || missing <= 0) return [];
  const bytes = new Array<number>(missing).fill(0x80);
  // Not every continuation is allowed behind these two.
  if (lead === 0 && first === 0xe0) bytes[0] = 0xa0;
  if (lead === 0 && first === 0xf0) bytes[0] = 0x90;
  return bytes;
}
