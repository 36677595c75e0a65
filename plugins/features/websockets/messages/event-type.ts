const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const TYPE = "type";
/** Longer ones are no type that is known here. */
const MOST_CHARS = 64;

/** Finds the "type" of a JSON object, the object's own and not one inside of it, in whatever pieces it comes. */
export class EventType {
  /** "" as long as it has not come. */
  value = "";
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** What comes next in the object itself is a member's name. */
  #isKeyNext = true;
  /** The last name was "type". */
  #isTypeNext = false;
  /** The string under way, where it is the object's own. */
  #text = "";

  /** Makes ready for the next object. */
  reset(): void {
    this.value = "";
    this.#depth = 0;
    this.#isInString = false;
    this.#isEscaped = false;
    this.#isKeyNext = true;
    this.#isTypeNext = false;
  }

  read(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end && this.value === ""; at++) {
      if (this.#isInString) this.#inString(bytes[at]!);
      else this.#between(bytes[at]!);
    }
  }

  #inString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) return this.#stringEnded();
    if (this.#depth === 1 && this.#text.length < MOST_CHARS) this.#text += String.fromCharCode(byte);
  }

  #between(byte: number): void {
    if (byte === QUOTE) {
      this.#isInString = true;
      this.#text = "";
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#depth -= 1;
    else if (this.#depth === 1 && byte === COMMA) this.#isKeyNext = true;
    else if (this.#depth === 1 && byte === COLON) this.#isKeyNext = false;
  }

  #stringEnded(): void {
    this.#isInString = false;
    if (this.#depth !== 1) return;
    if (this.#isKeyNext) this.#isTypeNext = this.#text === TYPE;
    else if (this.#isTypeNext) this.value = this.#text;
  }
}
