import type { BodyMember } from "../contract/body-member.ts";
import type { Span } from "../contract/span.ts";
import { decodeString } from "./json-string.ts";

/** Most targets come from the config; the bounds are for names that clients invent. */
const MAX_CACHED_NAMES = 1024;
const MAX_CACHED_LENGTH = 256;
const UTF8 = new TextEncoder();
const cache = new Map<string, Uint8Array>();

/** A name as a JSON string in UTF-8, quotes included. */
export function encodeName(target: string): Uint8Array {
  const known = cache.get(target);
  if (known !== undefined) return known;
  const encoded = UTF8.encode(JSON.stringify(target));
  if (target.length > MAX_CACHED_LENGTH) return encoded;
  if (cache.size >= MAX_CACHED_NAMES) cache.clear();
  cache.set(target, encoded);
  return encoded;
}

/**
 * The body with the model at `span` replaced by `target`, as parts to be sent one after the other; no byte of the body is copied.
 * For a body that names the target already, even with escapes ("meta-llama\/Llama"), it is the body alone.
 */
export function spliceModel(body: Uint8Array, span: Span, target: string): readonly Uint8Array[] {
  const encoded = encodeName(target);
  if (isSameName(body, span, target, encoded)) return [body];
  return [body.subarray(0, span[0]), encoded, body.subarray(span[1])];
}

/** The body with the plain text at `span` replaced by `target`, in parts as above. */
export function spliceText(body: Uint8Array, span: Span, target: string): readonly Uint8Array[] {
  return [body.subarray(0, span[0]), UTF8.encode(target), body.subarray(span[1])];
}

const OPENING_BRACE = 0x7b;
const COMMA = UTF8.encode(",");

/** The body, which is a JSON object that is not empty, with these members, in parts as above. */
export function spliceMembers(body: Uint8Array, members: readonly BodyMember[]): readonly Uint8Array[] {
  const front = body.indexOf(OPENING_BRACE) + 1;
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const { key, span, value } of members.toSorted((one, other) => one.span[0] - other.span[0])) {
    const [start, end] = span[0] < 0 ? [front, front] : span;
    parts.push(body.subarray(at, start));
    if (span[0] < 0) parts.push(UTF8.encode(`"${key}":`), value, COMMA);
    else parts.push(value);
    at = end;
  }
  parts.push(body.subarray(at));
  return parts;
}

function isSameName(body: Uint8Array, span: Span, target: string, encoded: Uint8Array): boolean {
  return hasBytesAt(body, span, encoded) || decodeString(body, span) === target;
}

function hasBytesAt(body: Uint8Array, span: Span, wanted: Uint8Array): boolean {
  if (span[1] - span[0] !== wanted.length) return false;
  for (let at = 0; at < wanted.length; at++) if (body[span[0] + at] !== wanted[at]) return false;
  return true;
}
