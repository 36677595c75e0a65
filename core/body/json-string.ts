import type { Span } from "../contract/span.ts";

const BACKSLASH = 0x5c;
/** Up to this many bytes, a loop is faster than a call of TextDecoder. */
const SHORT_BYTES = 64;
const STRICT_UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes a scanned JSON string; the span includes its quotes. Undefined if its bytes are not UTF-8. */
export function decodeString(bytes: Uint8Array, span: Span): string | undefined {
  const start = span[0] + 1;
  const end = span[1] - 1;
  if (end - start <= SHORT_BYTES && isPlainAscii(bytes, start, end)) return asciiText(bytes, start, end);
  try {
    const text = STRICT_UTF8.decode(bytes.subarray(start, end));
    return text.includes("\\") ? (JSON.parse(`"${text}"`) as string) : text;
  } catch {
    return undefined;
  }
}

/** Decodes bytes that are all below 0x80. */
export function asciiText(bytes: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at]!);
  return text;
}

/** Whether bytes [start, end) are ASCII without an escape. */
export function isPlainAscii(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at]! >= 0x80 || bytes[at] === BACKSLASH) return false;
  return true;
}

/** Whether the bytes from `start` are this text, which is ASCII. */
export function isTextAt(bytes: Uint8Array, start: number, text: string): boolean {
  for (let at = 0; at < text.length; at++) if (bytes[start + at] !== text.charCodeAt(at)) return false;
  return true;
}
