import type { Span } from "./request.ts";

/** What a noted key's value is; "missing" where the body does not have the key. */
export type JsonKind = "string" | "number" | "array" | "object" | "true" | "false" | "null" | "missing";

/**
 * What a parser reads: the body's bytes, and the top-level keys that it named in `Parser.keys`. A key's value is decoded
 * only when it is asked for. Asking for a key that is not in `Parser.keys` throws.
 *
 * @example
 * const model = body.text("model");          // "llama", or undefined for null or a missing key
 * const isStream = body.flag("stream");      // true only for the literal true
 * const prompt = body.span("prompt");        // [start, end) of the JSON value in body.bytes
 */
export interface BodyView {
  /** Exactly the body. */
  readonly bytes: Uint8Array;
  /** Span of the key's JSON value, quotes or brackets included; undefined where it is missing. */
  span(key: string): Span | undefined;
  kind(key: string): JsonKind;
  /** The key's string, decoded; undefined for null or a missing key. Throws RouterError for any other kind. */
  text(key: string): string | undefined;
  /** True only for the literal true. Throws RouterError for what is neither a boolean, null nor missing. */
  flag(key: string): boolean;
  /** The key's whole number, which may be spelled 16.0 or 1e3; 0 for null or a missing key. Throws RouterError for any other value. */
  count(key: string): number;
  /** How many numbers an array of numbers holds, in nested arrays too; 0 for everything else. */
  countElements(key: string): number;
}
