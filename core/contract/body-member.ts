import type { Span } from "./span.ts";

/**
 * What a member of a JSON object is to be.
 *
 * @example
 * const priority = { key: "priority", span: [-1, -1], value: new TextEncoder().encode("-1") };
 */
export interface BodyMember {
  /** Needs no escapes. */
  readonly key: string;
  /** Of the value that is replaced; [-1, -1] for a key that the object does not have: it is added in front. */
  readonly span: Span;
  /** The new value, as JSON. */
  readonly value: Uint8Array;
  /** Who writes it: a feature's type. Absent: the parser. */
  readonly by?: string;
}
