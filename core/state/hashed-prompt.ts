import type { CountedPart } from "../contract/prompt-part.ts";
import type { Span } from "../contract/span.ts";
import { BYTES_PER_TOKEN, hashedBytes } from "./part-size.ts";

/** What is hashed of a prompt. In it the data of a part stand as fewer bytes: about as many as text of that length has. */
export interface HashedPrompt {
  readonly bytes: number;
  readonly tokensPerByte: number;
  /** Parts in their order, with the place at which each begins in what is hashed. */
  readonly parts: readonly HashedPart[];
}

export interface HashedPart {
  readonly span: Span;
  readonly at: number;
  readonly bytes: number;
  readonly tokens: number;
}

const NONE: readonly never[] = [];

/** Length of a prompt in bytes: its spans plus one separator byte between two spans, so that moving a boundary changes hashes. */
export function promptBytes(spans: readonly Span[]): number {
  let bytes = Math.max(0, spans.length - 1);
  for (const [start, end] of spans) bytes += end - start;
  return bytes;
}

/** `promptTokens` of the whole prompt, parts included; 0 if nobody knows. */
export function hashedPrompt(spans: readonly Span[], promptTokens: number, parts: readonly CountedPart[]): HashedPrompt {
  const bytes = promptBytes(spans);
  const isKnown = promptTokens > 0 && bytes > 0;
  if (parts.length === 0) return { bytes, tokensPerByte: isKnown ? promptTokens / bytes : 1 / BYTES_PER_TOKEN, parts: NONE };
  const placed: HashedPart[] = [];
  let textBytes = bytes;
  let textTokens = promptTokens;
  let shorter = 0;
  let spanAt = 0;
  let next = 0;
  for (const span of spans) {
    const [start, end] = span;
    for (; next < parts.length && isInside(parts[next]!.span, span); next++) {
      const part = parts[next]!;
      const hashed = hashedBytes(part);
      const length = part.span[1] - part.span[0];
      placed.push({ span: part.span, at: spanAt + part.span[0] - start - shorter, bytes: hashed, tokens: part.tokens });
      shorter += length - hashed;
      textBytes -= length;
      textTokens -= part.tokens;
    }
    spanAt += end - start + 1;
  }
  return { bytes: bytes - shorter, tokensPerByte: Math.max(0, textTokens) / Math.max(1, textBytes), parts: placed };
}

/** Tokens before a place in what is hashed. */
export function tokensBefore({ tokensPerByte, parts }: HashedPrompt, place: number): number {
  let tokens = place * tokensPerByte;
  for (const part of parts) {
    if (part.at >= place) break;
    tokens += Math.min(place - part.at, part.bytes) * (part.tokens / part.bytes - tokensPerByte);
  }
  return tokens;
}

/** Spans need not have the order of the body: tools come after messages there, and before them in the prompt. */
export function isInside(inner: Span, outer: Span): boolean {
  return inner[0] >= outer[0] && inner[1] <= outer[1];
}
