import type { Dialect } from "../contract/errors.ts";
import { isBlank, isDigit } from "./json-bytes.ts";
import { DEAD, ROOT } from "./name-tree.ts";
import { isOfOtherChoice, isWordByte, LONGEST_WORD, wordIn } from "./reason-word.ts";
import { ReportMarks } from "./report-marks.ts";
import { isStart, REPORT_NAMES, type ReportNames } from "./report-names.ts";
import { TextShare } from "./text-share.ts";

const LF = 0x0a;
const CR = 0x0d;
const TAB = 0x09;
const SPACE = 0x20;
const QUOTE = 0x22;
const ZERO = 0x30;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const SMALL_D = 0x64;
const OPEN = 0x7b;
const CLOSE = 0x7d;
/** Numbers with more digits are no counts of tokens. */
const MAX_DIGITS = 9;

// Where the next byte stands.
/** Between the parts of JSON. */
const BETWEEN = 0;
const STRING = 1;
/** In a string, behind a backslash. */
const ESCAPED = 2;
/** Behind a string that is a known name, if a colon follows. */
const NAMED = 3;
/** Behind the colon. */
const VALUE = 4;
const NUMBER = 5;
const WORD = 6;
/** Behind the end of a line of an event stream. */
const LINE = 7;
/** In a line that is not data. */
const OTHER_LINE = 8;

/** By byte: whether something happens there between the parts of JSON, and in a string. */
const COUNTS = new Uint8Array(256);
for (const byte of [QUOTE, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, LF, CR]) COUNTS[byte] = 1;
const COUNTS_IN_STRING = new Uint8Array(256);
for (const byte of [QUOTE, BACKSLASH, LF, CR]) COUNTS_IN_STRING[byte] = 1;

/**
 * Finds what a response reports of its generation (usage, why it ended) while its bytes pass, in whatever pieces, wherever it stands. Up
 * to the first member that may be it, bytes are only searched. From there on they are followed, string by string and brace by brace, to
 * the end of the event or of the document: only then is it known which of them are the response's own, and not, say, a tool's.
 */
export class ReportReader {
  readonly marks = new ReportMarks();
  /** Of an event stream. */
  readonly text = new TextShare();
  #names: ReportNames = REPORT_NAMES.openai;
  #isEventStream = false;
  #isFollowing = false;
  #state = BETWEEN;
  /** Of the name that is read. */
  #node = DEAD;
  #meaning = 0;
  /** The beginning of a word that came in pieces. */
  #word = "";
  #isOfFirst = true;
  #value = 0;
  #digits = 0;
  /** The byte with which a line ended. */
  #lineEnd = 0;

  begin(dialect: Dialect, isEventStream: boolean): void {
    this.#names = REPORT_NAMES[dialect];
    this.#isEventStream = isEventStream;
    this.#search();
    this.marks.begin(dialect);
    this.text.begin();
  }

  read(chunk: Buffer, start: number, end: number): void {
    let at = start;
    let searchFrom = -1;
    while (at < end) {
      if (this.#isFollowing || this.#state !== BETWEEN) {
        at = this.#follow(chunk, at, end, start);
        continue;
      }
      // Once in a read: to look for all keys again behind each one would be too much work.
      if (searchFrom < 0) searchFrom = this.#names.starts.leastStart(chunk, at, end);
      const key = this.#names.starts.firstIn(chunk, Math.max(at, searchFrom), end);
      const from = key < 0 ? this.#partOfKey(chunk, at, end) : key;
      if (from < 0) return;
      at = from + 1;
      // Behind a backslash the quote is a part of a text.
      if (from === start || chunk[from - 1] !== BACKSLASH) this.#beginString();
    }
  }

  /** No more comes. */
  end(): void {
    if (this.#isFollowing && (this.#state === BETWEEN || this.#state === LINE)) this.marks.settle();
  }

  /** Where the first part of a key may stand at the end of bytes in which no key is whole; -1 if it can't. */
  #partOfKey(chunk: Buffer, start: number, end: number): number {
    const last = chunk[end - 1]!;
    if (last === BACKSLASH) this.#state = ESCAPED;
    if (last === LF || last === CLOSE || last === BACKSLASH) return -1;
    const least = Math.max(start, end - this.#names.starts.longest);
    for (let at = end - 1; at >= least; at--) if (chunk[at] === QUOTE) return at;
    return -1;
  }

  /** Follows the bytes for as long as there is something to follow. Returns where that ends. */
  #follow(chunk: Buffer, from: number, end: number, start: number): number {
    let at = from;
    while (at < end && (this.#isFollowing || this.#state !== BETWEEN)) {
      if (this.#state === BETWEEN) at = this.#readBetween(chunk, at, end);
      else if (this.#state === STRING) at = this.#readString(chunk, at, end);
      else if (this.#state === NAMED) at = this.#readColon(chunk, at, end);
      else if (this.#state === VALUE) at = this.#readValue(chunk, at, end, start);
      else if (this.#state === NUMBER) at = this.#readNumber(chunk, at, end);
      else if (this.#state === WORD) at = this.#readWord(chunk, at, end);
      else if (this.#state === LINE) at = this.#beginLine(chunk, at);
      else if (this.#state === OTHER_LINE) at = this.#skipLine(chunk, at, end);
      else {
        this.#state = this.#isFollowing ? STRING : BETWEEN;
        at += 1;
      }
    }
    return at;
  }

  #readBetween(chunk: Buffer, from: number, end: number): number {
    let at = from;
    while (at < end && COUNTS[chunk[at]!] === 0) at += 1;
    if (at === end) return end;
    const byte = chunk[at]!;
    if (byte === QUOTE) this.#beginString();
    else if (byte === OPEN || byte === OPEN_LIST) this.marks.depth += 1;
    else if (byte === CLOSE || byte === CLOSE_LIST) this.marks.closed();
    else if (this.#isEventStream) this.#endLine(byte);
    return at + 1;
  }

  #beginString(): void {
    this.#state = STRING;
    this.#node = ROOT;
  }

  #readString(chunk: Buffer, from: number, end: number): number {
    const { tree } = this.#names;
    let node = this.#node;
    for (let at = from; at < end; at++) {
      const byte = chunk[at]!;
      if (byte === QUOTE) {
        this.#meaning = tree.meaningOf(node);
        if (this.#isFollowing || isStart(this.#meaning)) this.#state = this.#meaning === 0 ? BETWEEN : NAMED;
        // The quote before was the end of a string, so this one begins the next.
        else this.#beginString();
        return at + 1;
      }
      if (byte === BACKSLASH) {
        this.#state = ESCAPED;
        this.#node = DEAD;
        return at + 1;
      }
      if (this.#isFollowing && this.#isEventStream && (byte === LF || byte === CR)) {
        // No JSON has that in a string. The next event is read as if this one had ended well.
        this.#endLine(byte);
        return at + 1;
      }
      node = tree.after(node, byte);
      if (node !== DEAD) continue;
      if (!this.#isFollowing) {
        this.#state = BETWEEN;
        return at;
      }
      while (at + 1 < end && COUNTS_IN_STRING[chunk[at + 1]!] === 0) at += 1;
    }
    this.#node = node;
    return end;
  }

  #readColon(chunk: Buffer, from: number, end: number): number {
    const at = this.#skipBlank(chunk, from, end);
    if (at === end) return end;
    const isName = chunk[at] === COLON;
    this.#state = isName ? VALUE : BETWEEN;
    return isName ? at + 1 : at;
  }

  #readValue(chunk: Buffer, from: number, end: number, start: number): number {
    const at = this.#skipBlank(chunk, from, end);
    if (at === end) return end;
    const byte = chunk[at]!;
    const { marks } = this;
    this.#state = BETWEEN;
    if (byte === OPEN) {
      if (marks.takesObject(this.#meaning)) this.#isFollowing = true;
      return at;
    }
    if (byte === QUOTE && marks.takesWord(this.#meaning)) {
      this.#isFollowing = true;
      this.#isOfFirst = !isOfOtherChoice(chunk, start, at);
      this.#word = "";
      this.#state = WORD;
      return at + 1;
    }
    if (isDigit(byte) && marks.takesNumber(this.#meaning)) {
      this.#value = 0;
      this.#digits = 0;
      this.#state = NUMBER;
    }
    return at;
  }

  #readNumber(chunk: Buffer, from: number, end: number): number {
    let at = from;
    for (; at < end && isDigit(chunk[at]!); at++) {
      this.#digits += 1;
      if (this.#digits <= MAX_DIGITS) this.#value = this.#value * 10 + chunk[at]! - ZERO;
    }
    if (at === end) return end;
    this.#state = BETWEEN;
    if (this.#digits <= MAX_DIGITS) this.marks.number(this.#meaning, this.#value);
    return at;
  }

  #readWord(chunk: Buffer, from: number, end: number): number {
    let at = from;
    while (at < end && isWordByte(chunk[at]!)) at += 1;
    const length = this.#word.length + at - from;
    if (at === end && length <= LONGEST_WORD) {
      this.#word += chunk.toString("latin1", from, at);
      return end;
    }
    this.#state = STRING;
    this.#node = DEAD;
    if (length > 0 && length <= LONGEST_WORD && chunk[at] === QUOTE) {
      const word = this.#word === "" ? wordIn(chunk, from, at) : this.#word + chunk.toString("latin1", from, at);
      this.marks.word(this.#meaning, word, this.#isOfFirst);
    }
    return at;
  }

  // Lines of an event stream: https://html.spec.whatwg.org/multipage/server-sent-events.html

  #endLine(byte: number): void {
    this.#lineEnd = byte;
    this.#state = LINE;
  }

  /** An empty line ends the event. */
  #beginLine(chunk: Buffer, at: number): number {
    const byte = chunk[at]!;
    if (byte === LF && this.#lineEnd === CR) this.#lineEnd = LF;
    else if (byte === LF || byte === CR) {
      this.marks.settle();
      this.#search();
    } else {
      this.#state = byte === SMALL_D ? BETWEEN : OTHER_LINE;
      return at;
    }
    return at + 1;
  }

  #skipLine(chunk: Buffer, from: number, end: number): number {
    let at = from;
    while (at < end && chunk[at] !== LF && chunk[at] !== CR) at += 1;
    if (at === end) return end;
    this.#endLine(chunk[at]!);
    return at + 1;
  }

  /** The end of a line of an event stream is more than a blank. */
  #skipBlank(chunk: Buffer, from: number, end: number): number {
    let at = from;
    while (at < end && isBlank(chunk[at]!) && !(this.#isEventStream && chunk[at]! < SPACE && chunk[at] !== TAB)) at += 1;
    return at;
  }

  #search(): void {
    this.#isFollowing = false;
    this.#state = BETWEEN;
  }
}
