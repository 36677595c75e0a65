import type { BodyView, JsonKind } from "../contract/body-view.ts";
import { RouterError } from "../contract/errors.ts";
import type { Parser } from "../contract/parser.ts";
import type { PromptPart } from "../contract/prompt-part.ts";
import type { Span } from "../contract/span.ts";
import { countNumbers } from "./count-numbers.ts";
import { asciiText, decodeString } from "./json-string.ts";
import type { KeySpans } from "./noted-keys.ts";
import { BodyScanner } from "./scan.ts";

const QUOTE = 0x22;
const OPEN_ARRAY = 0x5b;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const OPEN_OBJECT = 0x7b;

/** Texts that decide where a request goes are names and salts. A longer one is refused: to decode megabytes holds up everybody else. */
const MAX_TEXT_BYTES = 64 * 1024;
/** No client needs more bytes to write a whole number. */
const MAX_NUMBER_BYTES = 64;

/** What a parser reads: the body's bytes and its noted top-level keys. A key is decoded only when it is read. */
export class JsonBody implements BodyView {
  /** The bytes of the body and nothing else. */
  readonly bytes: Uint8Array;
  readonly #spans: KeySpans;

  constructor(bytes: Uint8Array, length: number, spans: KeySpans) {
    this.bytes = bytes.length === length ? bytes : bytes.subarray(0, length);
    this.#spans = spans;
  }

  get parts(): readonly PromptPart[] {
    return this.#spans.parts;
  }

  /** Span of the key's JSON value, quotes or brackets included; undefined if the key is missing. */
  span(key: string): Span | undefined {
    return this.#spans.spanOf(key);
  }

  kind(key: string): JsonKind {
    const span = this.span(key);
    return span === undefined ? "missing" : kindOf(this.bytes[span[0]]!);
  }

  /** The key's string, decoded; undefined for null or a missing key. */
  text(key: string): string | undefined {
    const span = this.span(key);
    if (span === undefined) return undefined;
    const kind = kindOf(this.bytes[span[0]]!);
    if (kind === "null") return undefined;
    if (kind !== "string") throw wrongKind(key, "a string");
    if (span[1] - span[0] > MAX_TEXT_BYTES) throw tooLong(key);
    const text = decodeString(this.bytes, span);
    if (text === undefined) throw notUtf8(key);
    return text;
  }

  /** True for the literal true; false for false, null or a missing key. */
  flag(key: string): boolean {
    const kind = this.kind(key);
    if (kind === "true") return true;
    if (kind === "false" || kind === "null" || kind === "missing") return false;
    throw wrongKind(key, "true or false");
  }

  /** The key's whole number, also if written 16.0 or 1e3; 0 for null or a missing key. */
  count(key: string): number {
    const span = this.span(key);
    if (span === undefined) return 0;
    const kind = kindOf(this.bytes[span[0]]!);
    if (kind === "null") return 0;
    const value = kind === "number" ? numberAt(this.bytes, span) : Number.NaN;
    if (!Number.isSafeInteger(value) || value < 0) throw wrongKind(key, "a whole number that is not negative");
    return value + 0;
  }

  /** How many numbers an array of numbers holds, nested arrays included; 0 for any other value. */
  countElements(key: string): number {
    const span = this.span(key);
    if (span === undefined || kindOf(this.bytes[span[0]]!) !== "array") return 0;
    return countNumbers(this.bytes, span);
  }
}

/** Scans a complete body. Throws RouterError when it is not one JSON object, or has a noted key twice. */
export function readJsonBody(
  bytes: Uint8Array,
  { keys, partKeys }: Pick<Parser, "keys" | "partKeys">,
  maxDepth: number,
): JsonBody {
  const scanner = new BodyScanner(keys, maxDepth, partKeys);
  scanner.finish(bytes, bytes.length);
  return new JsonBody(bytes, bytes.length, scanner);
}

function kindOf(first: number): JsonKind {
  switch (first) {
    case QUOTE:
      return "string";
    case OPEN_ARRAY:
      return "array";
    case OPEN_OBJECT:
      return "object";
    case LETTER_T:
      return "true";
    case LETTER_F:
      return "false";
    case LETTER_N:
      return "null";
    default:
      return "number";
  }
}

function numberAt(bytes: Uint8Array, span: Span): number {
  return span[1] - span[0] > MAX_NUMBER_BYTES ? Number.NaN : Number(asciiText(bytes, span[0], span[1]));
}

function wrongKind(key: string, wanted: string): RouterError {
  return new RouterError("invalid_value", `The value of "${key}" must be ${wanted}.`);
}

function tooLong(key: string): RouterError {
  return new RouterError("invalid_value", `The value of "${key}" is longer than ${MAX_TEXT_BYTES} bytes; send a shorter one.`);
}

function notUtf8(key: string): RouterError {
  return new RouterError("invalid_value", `The value of "${key}" is not valid UTF-8; send the body in UTF-8.`);
}
