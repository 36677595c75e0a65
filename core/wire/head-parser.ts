import { Head, type StartLine } from "./head.ts";
import { HeadGrammar, STRIDE } from "./head-grammar.ts";
import { headerId } from "./header-names.ts";
import { LastHead } from "./last-head.ts";
import { WireError } from "./wire-error.ts";

export type HeadKind = "request" | "response";
export interface HeadLimits {
  readonly headBytes: number;
  readonly headerCount: number;
}

const NO_LINE: StartLine = { method: "", target: "", status: 0, minor: 1, length: 0 };

/** Compared in place, so that these two need no string of their own. */
const USUAL_METHODS: readonly string[] = ["POST", "GET"];

/**
 * Reads the heads of one connection. They may come in any pieces; the result does not depend on the pieces. A head mostly begins like
 * the one before it, or is the same: the lines that are the same byte for byte are not read again.
 */
export class HeadParser {
  readonly #isRequest: boolean;
  readonly #headBytes: number;
  readonly #grammar: HeadGrammar;
  /** Bytes of the head that came in earlier chunks; `#held` keeps them. */
  #length = 0;
  #held: Buffer | undefined;
  #head: Head | undefined;
  /** As long as it keeps a head, the grammar still has that head's marks, and `#line` its start line. */
  readonly #last = new LastHead();
  #line = NO_LINE;

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
    let known = 0;
    if (this.#length === 0) {
      const same = this.#last.sameBytes(chunk, first, last);
      if (same === this.#last.head?.text.length) {
        this.#head = this.#last.head;
        return first + same;
      }
      known = this.#grammar.begin(same);
      this.#last.forget(known);
    }
    const next = this.#grammar.read(chunk, first + known, last, this.#length + known);
    if (next >= 0) {
      this.#finish(chunk, first, next, known);
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

  /** `known`: so many bytes are lines of the last head. */
  #finish(chunk: Buffer, start: number, end: number, known: number): void {
    // A head that came in one chunk has not been copied.
    const early = this.#held === undefined ? "" : this.#held.toString("latin1", 0, this.#length);
    const text = early + chunk.toString("latin1", start, end);
    const { lineLength, marks, marked } = this.#grammar;
    if (known === 0) this.#line = this.#startLine(text);
    let nameStart = lineLength;
    for (let at = 0; at < marked; at += STRIDE) {
      if (nameStart >= known) marks[at + 2] = headerId(text, nameStart, marks[at]!);
      nameStart = marks[at + 1]!;
    }
    this.#head = new Head(text, this.#line, marks.slice(0, marked));
    if (this.#held === undefined) this.#last.keep(this.#head, chunk, start, end);
    this.#held = undefined;
  }

  #startLine(text: string): StartLine {
    const { methodEnd, targetEnd, lineLength, status, minor } = this.#grammar;
    const method = this.#isRequest ? methodOf(text, methodEnd) : "";
    const target = this.#isRequest ? text.slice(methodEnd + 1, targetEnd) : "";
    return { method, target, status, minor, length: lineLength };
  }
}

function methodOf(text: string, end: number): string {
  for (const method of USUAL_METHODS) if (method.length === end && text.startsWith(method)) return method;
  return text.slice(0, end);
}
