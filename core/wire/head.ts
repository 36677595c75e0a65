import { HeadGrammar, STRIDE } from "./head-grammar.ts";
import { headerId, idOfName, startsWithName } from "./header-names.ts";
import { blanksEnd, blanksStart } from "./octets.ts";
import { WireError } from "./wire-error.ts";

export type HeadKind = "request" | "response";
export interface HeadLimits {
  readonly headBytes: number;
  readonly headerCount: number;
}

/** The parts of a start line. A request has status 0; a response has an empty method and target. */
interface StartLine {
  readonly method: string;
  readonly target: string;
  readonly status: number;
  readonly minor: 0 | 1;
  /** Length of the line, its CRLF included. */
  readonly length: number;
}

/** Compared in place, so that these two need no string of their own. */
const USUAL_METHODS: readonly string[] = ["POST", "GET"];

/** A parsed head: one latin1 text, and where its parts are. Strings are cut out of it only on demand. */
export class Head {
  /** The whole head, up to and including the empty line. */
  readonly text: string;
  readonly method: string;
  readonly target: string;
  readonly status: number;
  /** 1 for HTTP/1.1, 0 for HTTP/1.0. */
  readonly minor: 0 | 1;
  /** How many header lines there are. */
  readonly count: number;
  /** Three numbers per header: end of the name, end of the line, number of the name in HEADER. */
  readonly #marks: readonly number[];
  readonly #linesStart: number;

  constructor(text: string, line: StartLine, marks: readonly number[]) {
    this.text = text;
    this.method = line.method;
    this.target = line.target;
    this.status = line.status;
    this.minor = line.minor;
    this.count = marks.length / STRIDE;
    this.#marks = marks;
    this.#linesStart = line.length;
  }

  /** The reason phrase of a response, "" for a request. "HTTP/1.1 200 " is always 13 characters long. */
  get reason(): string {
    return this.status === 0 ? "" : this.text.slice(13, this.#linesStart - 2);
  }

  /** The name in the case in which it came. */
  name(index: number): string {
    return this.text.slice(this.lineStart(index), this.#marks[index * STRIDE]);
  }

  nameEnd(index: number): number {
    return this.#marks[index * STRIDE]!;
  }

  /** The value without the white space around it (RFC 9112 5.1). */
  value(index: number): string {
    return this.text.slice(this.valueStart(index), this.valueEnd(index));
  }

  /** Where the value begins in `text`, after the white space before it. */
  valueStart(index: number): number {
    return blanksEnd(this.text, this.nameEnd(index) + 1, this.lineEnd(index) - 2);
  }

  /** Where the value ends in `text`, before the white space after it. At most `valueStart` if the value is empty. */
  valueEnd(index: number): number {
    return blanksStart(this.text, this.nameEnd(index) + 1, this.lineEnd(index) - 2);
  }

  /** Whether exactly one header has this number in HEADER, and has exactly this value. */
  has(id: number, value: string): boolean {
    let count = 0;
    for (let i = 0; i < this.count; i++) {
      if (this.id(i) !== id) continue;
      count += 1;
      if (count > 1 || !this.isValue(i, value)) return false;
    }
    return count === 1;
  }

  /** Whether the first header with this number in HEADER has a value that begins so, in any case. `beginning` is in lower case. */
  begins(id: number, beginning: string): boolean {
    for (let i = 0; i < this.count; i++) {
      if (this.id(i) === id) return startsWithName(this.text, this.valueStart(i), beginning);
    }
    return false;
  }

  /** Whether header `index` has exactly this value. */
  isValue(index: number, value: string): boolean {
    const start = this.valueStart(index);
    return this.valueEnd(index) - start === value.length && this.text.startsWith(value, start);
  }

  /** The number of the name in HEADER; 0 if the name is not listed there. */
  id(index: number): number {
    return this.#marks[index * STRIDE + 2]!;
  }

  /** Where header line `index` begins in `text`. */
  lineStart(index: number): number {
    return index === 0 ? this.#linesStart : this.#marks[index * STRIDE - 2]!;
  }

  /** Where header line `index` ends in `text`, its CRLF included. */
  lineEnd(index: number): number {
    return this.#marks[index * STRIDE + 1]!;
  }

  /** The value of the header with this lower-case name; repeated ones joined with ", " (RFC 9110 5.3). */
  get(name: string): string | undefined {
    const id = idOfName(name);
    let found: string | undefined;
    for (let i = 0; i < this.count; i++) {
      if (this.id(i) !== id || (id === 0 && !this.#isNamed(i, name))) continue;
      found = found === undefined ? this.value(i) : `${found}, ${this.value(i)}`;
    }
    return found;
  }

  #isNamed(index: number, name: string): boolean {
    const start = this.lineStart(index);
    return this.nameEnd(index) - start === name.length && startsWithName(this.text, start, name);
  }
}

/** Reads the heads of one connection. They may come in any pieces; the result does not depend on the pieces. */
export class HeadParser {
  readonly #isRequest: boolean;
  readonly #headBytes: number;
  readonly #grammar: HeadGrammar;
  /** Bytes of the head that came in earlier chunks; `#held` keeps them. */
  #length = 0;
  #held: Buffer | undefined;
  #head: Head | undefined;

  constructor(kind: HeadKind, limits: HeadLimits) {
    this.#isRequest = kind === "request";
    this.#headBytes = limits.headBytes;
    this.#grammar = new HeadGrammar(this.#isRequest, limits.headerCount);
  }

  /** The head that the last push completed. Throws TypeError if that push returned -1. */
  get head(): Head {
    if (this.#head === undefined) throw new TypeError("There is no head yet; ask for it only after push returned an offset.");
    return this.#head;
  }

  /** Whether a byte of the head has come. An empty line before the request line does not count. */
  get hasStarted(): boolean {
    return this.#length > 0 || this.#head !== undefined;
  }

  /** Makes ready for the next head on the same connection. */
  reset(): void {
    this.#grammar.reset();
    this.#length = 0;
    this.#held = undefined;
    this.#head = undefined;
  }

  /** Reads from `start`. Returns the offset after the head, or -1 if the head goes on. Throws WireError at the first wrong byte. */
  push(chunk: Buffer, start: number): number {
    const first = this.#grammar.skipEmptyLine(chunk, start);
    const last = Math.min(chunk.length, first + this.#headBytes - this.#length);
    const next = this.#grammar.read(chunk, first, last, this.#length);
    if (next >= 0) {
      this.#finish(chunk, first, next);
      return next;
    }
    this.#hold(chunk, first, last);
    if (this.#length >= this.#headBytes) {
      throw new WireError("head_too_large", "The head is too large; send fewer or shorter headers.");
    }
    return -1;
  }

  #hold(chunk: Buffer, start: number, end: number): void {
    if (start >= end) return;
    const length = this.#length + end - start;
    if (this.#held === undefined || length > this.#held.length) {
      const wider = Buffer.allocUnsafe(Math.min(this.#headBytes, Math.max(512, 2 * length)));
      this.#held?.copy(wider, 0, 0, this.#length);
      this.#held = wider;
    }
    chunk.copy(this.#held, this.#length, start, end);
    this.#length = length;
  }

  #finish(chunk: Buffer, start: number, end: number): void {
    // A head that came in one chunk has not been copied.
    const early = this.#held === undefined ? "" : this.#held.toString("latin1", 0, this.#length);
    const text = early + chunk.toString("latin1", start, end);
    this.#held = undefined;
    const { methodEnd, targetEnd, lineLength, status, minor, marks, marked } = this.#grammar;
    const method = this.#isRequest ? methodOf(text, methodEnd) : "";
    const target = this.#isRequest ? text.slice(methodEnd + 1, targetEnd) : "";
    let nameStart = lineLength;
    for (let at = 0; at < marked; at += STRIDE) {
      marks[at + 2] = headerId(text, nameStart, marks[at]!);
      nameStart = marks[at + 1]!;
    }
    const line: StartLine = { method, target, status, minor, length: lineLength };
    this.#head = new Head(text, line, marks.slice(0, marked));
  }
}

function methodOf(text: string, end: number): string {
  for (const method of USUAL_METHODS) if (method.length === end && text.startsWith(method)) return method;
  return text.slice(0, end);
}
