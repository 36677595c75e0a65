import type { BodyView, JsonKind } from "../contract/body-view.ts";
import { RouterError } from "../contract/errors.ts";
import type { BodyKeys } from "../contract/parser.ts";
import type { PromptPart } from "../contract/prompt-part.ts";
import type { Span } from "../contract/span.ts";
import { countNumbers } from "./count-numbers.ts";
import { asciiText, decodeString } from "./json-string.ts";
import type { KeySpans } from "./noted-keys.ts";
import { BodyScanner } from "./scan.ts";

const FIRST: Readonly<Record<string, JsonKind>> = {
  '"': "string",
  "[": "array",
  "{": "object",
  t: "true",
  f: "false",
  n: "null",
};
/** What a value is, by its first byte. */
const KINDS: readonly JsonKind[] = Array.from({ length: 256 }, (_, byte) => FIRST[String.fromCharCode(byte)] ?? "number");

/** Texts that decide where a request goes are names and salts. A longer one is refused: to decode megabytes holds up everybody else. */
const MAX_TEXT_BYTES = 64 * 1024;
/** No client needs more bytes to write a whole number. */
const MAX_NUMBER_BYTES = 64;
/** A number of so many digits is exact, whatever they are. */
const EXACT_DIGITS = 15;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const NO_BYTES = new Uint8Array(0);

/** What a parser reads: the body's bytes and its noted top-level keys. A key is decoded only when it is read. */
export class JsonBody implements BodyView {
  bytes: Uint8Array;
  readonly #spans: KeySpans;

  constructor(bytes: Uint8Array, length: number, spans: KeySpans) {
    this.bytes = bytes.length === length ? bytes : bytes.subarray(0, length);
    this.#spans = spans;
  }

  /** Its memory is used again: who kept it must not see what comes there next. */
  forget(): void {
    this.bytes = NO_BYTES;
  }

  get parts(): readonly PromptPart[] {
    return this.#spans.parts;
  }

  span(key: string): Span | undefined {
    return this.#spans.spanOf(key);
  }

  kind(key: string): JsonKind {
    return this.#kindAt(this.span(key));
  }

  text(key: string): string | undefined {
    const span = this.span(key);
    const kind = this.#kindAt(span);
    if (span === undefined || kind === "null") return undefined;
    if (kind !== "string") throw invalid(key, "must be a string.");
    if (span[1] - span[0] > MAX_TEXT_BYTES) throw invalid(key, `is longer than ${MAX_TEXT_BYTES} bytes; send a shorter one.`);
    const text = decodeString(this.bytes, span);
    if (text === undefined) throw invalid(key, "is not valid UTF-8; send the body in UTF-8.");
    return text;
  }

  textIn(key: string, member: string): string | undefined {
    const span = this.span(key);
    if (span === undefined || this.#kindAt(span) !== "object") return undefined;
    if (span[1] - span[0] > MAX_TEXT_BYTES) throw invalid(key, `is longer than ${MAX_TEXT_BYTES} bytes; send a shorter one.`);
    try {
      return readJsonBody(this.bytes.subarray(span[0], span[1]), { keys: [member] }, Number.POSITIVE_INFINITY).text(member);
    } catch {
      throw invalid(`${key}.${member}`, "must be a string, and stand there once.");
    }
  }

  flag(key: string): boolean {
    const kind = this.kind(key);
    if (kind === "true") return true;
    if (kind === "false" || kind === "null" || kind === "missing") return false;
    throw invalid(key, "must be true or false.");
  }

  count(key: string): number {
    const span = this.span(key);
    const kind = this.#kindAt(span);
    if (span === undefined || kind === "null") return 0;
    const value = kind === "number" ? numberAt(this.bytes, span) : Number.NaN;
    if (!Number.isSafeInteger(value) || value < 0) throw invalid(key, "must be a whole number that is not negative.");
    return value + 0;
  }

  countElements(key: string): number {
    const span = this.span(key);
    return span !== undefined && this.#kindAt(span) === "array" ? countNumbers(this.bytes, span) : 0;
  }

  #kindAt(span: Span | undefined): JsonKind {
    return span === undefined ? "missing" : KINDS[this.bytes[span[0]]!]!;
  }
}

/** Scans a complete body. Throws RouterError when it is not one JSON object, or has a noted key twice. */
export function readJsonBody(bytes: Uint8Array, { keys, partKeys }: BodyKeys, maxDepth: number): JsonBody {
  const scanner = new BodyScanner(keys, maxDepth, partKeys);
  scanner.finish(bytes, bytes.length);
  return new JsonBody(bytes, bytes.length, scanner);
}

/** Nearly all are a few digits, for which no string is made. */
function numberAt(bytes: Uint8Array, [start, end]: Span): number {
  if (end - start > MAX_NUMBER_BYTES) return Number.NaN;
  let value = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte < DIGIT_0 || byte > DIGIT_9 || end - start > EXACT_DIGITS) return Number(asciiText(bytes, start, end));
    value = value * 10 + (byte - DIGIT_0);
  }
  return value;
}

function invalid(key: string, fault: string): RouterError {
  return new RouterError("invalid_value", `The value of "${key}" ${fault}`);
}
