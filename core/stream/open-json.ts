const LF = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** What the next byte belongs to. */
type Place =
  | "value" // a value must come
  | "first value" // a value or the end of an empty array
  | "key" // a key must come
  | "first key" // a key or the end of an empty object
  | "colon"
  | "string" // a string, key or value
  | "escape" // behind a backslash
  | "hex" // the four digits of \u
  | "number"
  | "word" // true, false, null, [DONE]
  | "after" // a value is complete
  | "broken"; // this is no JSON

/** The texts that begin with this byte and are no string, number or container. */
const WORDS: Readonly<Record<number, string>> = { 116: "true", 102: "false", 110: "null" };
/** What OpenAI's APIs send in place of a last JSON text. */
const DONE = "[DONE]";
/** "D": an array of an event can't begin so. */
const SECOND_OF_DONE = 0x44;
/** Deeper texts count as broken: a bound on memory. */
const MOST_DEPTH = 512;

/**
 * Follows one JSON text, in whatever pieces it comes, without keeping it: just enough to complete it wherever it is cut. It does not
 * check the text: what it completes is JSON if the part before was the beginning of some.
 */
export class OpenJson {
  #place: Place = "value";
  /** What would close the containers that are open, the innermost last. */
  readonly #closers: string[] = [];
  #isKey = false;
  #hexLeft = 0;
  #word = "";
  #wordLength = 0;
  /** The number so far ends where it could also end for good. */
  #isNumberWhole = false;

  /** Nothing but white space came yet. */
  get isEmpty(): boolean {
    return this.#place === "value" && this.#closers.length === 0;
  }

  /** The text is an object whose end has not come, so that further members can be put into it. */
  get isObject(): boolean {
    return this.#closers[0] === "}" && this.#place !== "broken";
  }

  /** The text that completes what is open; it ends inside the outermost object, ready for another member, if there is one. */
  completion(): string {
    if (this.#place === "broken") return "";
    const { isObject } = this;
    const depth = this.#closers.length;
    const isOutermost = isObject && depth === 1;
    const inner = this.#closers.slice(isObject ? 1 : 0).reverse();
    // Of "[DONE]" only the bracket may have come; an array is no event of these APIs.
    if (this.#place === "first value" && depth === 1) return DONE.slice(1);
    const token = this.#tokenEnd(isOutermost);
    const isReady = isOutermost && (this.#place === "first key" || this.#place === "key");
    return token + inner.join("") + (isObject && !isReady ? "," : "");
  }

  read(chunk: Uint8Array, start: number, end: number): void {
    let at = start;
    while (at < end) {
      if (this.#place === "string") at = this.#readString(chunk, at, end);
      else if (this.#place === "broken") return;
      else this.#take(chunk[at++]!);
    }
  }

  /** The text goes on in another line: only white space can be there. */
  lineEnded(): void {
    if (this.#place === "number") this.#place = "after";
    else if (this.#place === "string" || this.#place === "escape" || this.#place === "hex" || this.#place === "word")
      this.#place = "broken";
  }

  /** Completes the innermost token, and gives a key its value. */
  #tokenEnd(isOutermost: boolean): string {
    const afterKey = this.#isKey ? ":null" : "";
    switch (this.#place) {
      case "value":
        return "null";
      case "key":
        return isOutermost ? "" : '"":null';
      case "colon":
        return ":null";
      case "string":
        return `"${afterKey}`;
      case "escape":
        return `\\"${afterKey}`;
      case "hex":
        return `${"0".repeat(this.#hexLeft)}"${afterKey}`;
      case "number":
        return this.#isNumberWhole ? "" : "0";
      case "word":
        return this.#word.slice(this.#wordLength);
      default:
        return "";
    }
  }

  /** Returns where to go on. */
  #readString(chunk: Uint8Array, start: number, end: number): number {
    for (let at = start; at < end; at++) {
      const byte = chunk[at]!;
      if (byte === QUOTE) {
        this.#place = this.#isKey ? "colon" : "after";
        return at + 1;
      }
      if (byte === BACKSLASH) {
        this.#place = "escape";
        return at + 1;
      }
    }
    return end;
  }

  #take(byte: number): void {
    switch (this.#place) {
      case "escape":
        this.#place = byte === 0x75 ? "hex" : "string";
        this.#hexLeft = 4;
        return;
      case "hex":
        this.#hexLeft -= 1;
        if (this.#hexLeft === 0) this.#place = "string";
        return;
      case "word":
        if (byte !== this.#word.charCodeAt(this.#wordLength)) this.#place = "broken";
        this.#wordLength += 1;
        if (this.#place === "word" && this.#wordLength === this.#word.length) this.#place = "after";
        return;
      case "number":
        if (isNumberByte(byte)) {
          this.#isNumberWhole = isDigit(byte);
          return;
        }
        this.#place = "after";
    }
    if (byte === 0x20 || byte === LF || byte === 0x0d || byte === 0x09) return;
    this.#begin(byte);
  }

  /** A byte outside of all tokens. */
  #begin(byte: number): void {
    const place = this.#place;
    const isValue = place === "value" || place === "first value";
    if (byte === QUOTE && (isValue || place === "key" || place === "first key")) this.#string(!isValue);
    else if (byte === COLON && place === "colon") this.#place = "value";
    else if (byte === COMMA && place === "after") this.#comma();
    else if (byte === CLOSE_OBJECT && (place === "after" || place === "first key")) this.#close("}");
    else if (byte === CLOSE_ARRAY && (place === "after" || place === "first value")) this.#close("]");
    else if (isValue) this.#value(byte);
    else this.#place = "broken";
  }

  #value(byte: number): void {
    if (byte === OPEN_OBJECT) this.#open("}", "first key");
    else if (byte === OPEN_ARRAY) this.#open("]", "first value");
    else if (isNumberByte(byte)) {
      this.#place = "number";
      this.#isNumberWhole = isDigit(byte);
    } else if (byte === SECOND_OF_DONE && this.#place === "first value" && this.#closers.length === 1) {
      this.#closers.length = 0;
      this.#wordBegun(DONE, 2);
    } else if (WORDS[byte] !== undefined) this.#wordBegun(WORDS[byte], 1);
    else this.#place = "broken";
  }

  #string(isKey: boolean): void {
    this.#place = "string";
    this.#isKey = isKey;
  }

  #wordBegun(word: string, length: number): void {
    this.#place = "word";
    this.#word = word;
    this.#wordLength = length;
  }

  #comma(): void {
    const closer = this.#closers.at(-1);
    this.#place = closer === "}" ? "key" : closer === "]" ? "value" : "broken";
  }

  #open(closer: string, place: Place): void {
    this.#closers.push(closer);
    this.#place = this.#closers.length > MOST_DEPTH ? "broken" : place;
  }

  #close(closer: string): void {
    this.#place = this.#closers.pop() === closer ? "after" : "broken";
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Digits, signs, point and exponent. */
function isNumberByte(byte: number): boolean {
  return isDigit(byte) || byte === 0x2d || byte === 0x2b || byte === 0x2e || byte === 0x45 || byte === 0x65;
}
