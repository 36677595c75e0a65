import type { PromptPart } from "./prompt-part.ts";
import type { Span } from "./span.ts";

/** The JSON type of a noted key's value; "missing" if the body does not have the key. */
export type JsonKind = "string" | "number" | "array" | "object" | "true" | "false" | "null" | "missing";

/**
 * What a parser reads: the body's bytes, and the top-level keys that it named in `Parser.keys`. A value is decoded only when it
 * is read. Reading a key that is not in `Parser.keys` throws an Error.
 *
 * @example
 * const model = body.text("model");          // "llama", or undefined for null or a missing key
 * const isStream = body.flag("stream");      // true only for the literal true
 * const prompt = body.span("prompt");        // [start, end) of the JSON value in body.bytes
 */
export interface BodyView {
  /** The bytes of the body and nothing else. */
  readonly bytes: Uint8Array;
  /** Images, audio and files in the values of `Parser.partKeys`, in the order of the body. */
  readonly parts: readonly PromptPart[];
  /** Span of the key's JSON value, quotes or brackets included; undefined if the key is missing. */
  span(key: string): Span | undefined;
  kind(key: string): JsonKind;
  /** The key's string of at most 64 KiB, decoded; undefined for null or a missing key. Throws RouterError for any other value. */
  text(key: string): string | undefined;
  /**
   * The string of a member of the object at the key, by the same rules; undefined for an object without the member, and where there is no
   * object. Throws RouterError for an object of more than 64 KiB, and for one that has the member twice.
   */
  textIn(key: string, member: string): string | undefined;
  /** True for the literal true; false for false, null or a missing key. Throws RouterError for any other value. */
  flag(key: string): boolean;
  /** The key's whole number >= 0, also if written 16.0 or 1e3; 0 for null or a missing key. Throws RouterError otherwise. */
  count(key: string): number;
  /**
   * How many numbers an array of numbers holds, nested arrays included; 0 for any other value. Of more than a megabyte only the first
   * one is counted, and the rest estimated by it.
   */
  countElements(key: string): number;
}
