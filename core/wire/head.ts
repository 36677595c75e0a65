import { STRIDE } from "./head-grammar.ts";
import { idOfName, startsWithName } from "./header-names.ts";
import { blanksEnd, blanksStart } from "./octets.ts";

/** The parts of a start line. A request has status 0; a response has an empty method and target. */
export interface StartLine {
  readonly method: string;
  readonly target: string;
  readonly status: number;
  readonly minor: 0 | 1;
  /** Length of the line, its CRLF included. */
  readonly length: number;
}

/** Says of each header line of a head whether it is meant. */
export type LineChoice = (head: Head, index: number) => boolean;

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
  /** What `keptLines` last returned, and the choice for which. */
  #kept = "";
  #keptFor: LineChoice | undefined = undefined;

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

  /** What `keep` makes of it without the lines that are dropped; made once, as a connection often sends the same head again. */
  keptLines(isDropped: LineChoice, keep: (head: Head, isDropped: LineChoice) => string): string {
    if (this.#keptFor !== isDropped) {
      this.#kept = keep(this, isDropped);
      this.#keptFor = isDropped;
    }
    return this.#kept;
  }

  #isNamed(index: number, name: string): boolean {
    const start = this.lineStart(index);
    return this.nameEnd(index) - start === name.length && startsWithName(this.text, start, name);
  }
}
