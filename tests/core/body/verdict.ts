import { BodyScanner } from "../../../core/body/scan.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { PromptPart } from "../../../core/contract/prompt-part.ts";

export const KEYS = ["model", "stream", "max_tokens", "prompt"] as const;
/** Bytes that a scanner must not read: they would end, change or continue any token. */
const GARBAGE = ['"\\\u0000}]1', "0000000000000000", ",,,,,,,,"];

/** The result of a scan: "ok", the noted values' text and the parts in the prompt, or the error's code and message. */
export interface Verdict {
  readonly code: string;
  readonly message: string;
  readonly spans: Readonly<Record<string, readonly [number, number]>>;
  readonly parts: readonly PromptPart[];
}

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Scans a body in pieces that end at `cuts`; each time in another buffer, at another alignment, with other bytes after it. */
export function verdict(body: Uint8Array, cuts: readonly number[] = [], maxDepth = 64): Verdict {
  const scanner = new BodyScanner(KEYS, maxDepth, ["prompt"]);
  try {
    cuts.forEach((cut, index) => {
      scanner.push(inLargerBuffer(body, cut, index), cut);
    });
    scanner.finish(inLargerBuffer(body, body.length, cuts.length), body.length);
  } catch (thrown) {
    if (!(thrown instanceof RouterError)) throw thrown;
    return { code: thrown.code, message: thrown.message, spans: {}, parts: [] };
  }
  const spans: Record<string, readonly [number, number]> = {};
  for (const key of KEYS) {
    const span = scanner.spanOf(key);
    if (span !== undefined) spans[key] = span;
  }
  return { code: "ok", message: "", spans, parts: scanner.parts };
}

/** At most `limit` places to cut a body, evenly spaced, without its two ends. */
export function cutsOf(body: Uint8Array, limit: number): number[] {
  const step = Math.max(1, Math.ceil(body.length / limit));
  const cuts: number[] = [];
  for (let cut = 1; cut < body.length; cut += step) cuts.push(cut);
  return cuts;
}

function inLargerBuffer(body: Uint8Array, length: number, index: number): Uint8Array {
  const offset = index % 4;
  const garbage = utf8(GARBAGE[length % GARBAGE.length]!);
  const buffer = new Uint8Array(offset + length + garbage.length);
  buffer.set(body.subarray(0, length), offset);
  buffer.set(garbage, offset + length);
  return buffer.subarray(offset);
}

/** The value at a span, as JSON.parse reads it. */
export function parsedSpan(body: Uint8Array, span: readonly [number, number]): unknown {
  return JSON.parse(new TextDecoder().decode(body.subarray(span[0], span[1])));
}

/**
 * A body as JSON.parse reads it; undefined if it refuses it. Bytes that are not UTF-8 become U+FFFD, so they are accepted inside
 * strings and nowhere else: the scanner has the same rule.
 */
export function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { ignoreBOM: true }).decode(body)) as unknown;
  } catch {
    return undefined;
  }
}
