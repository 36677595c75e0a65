const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const ESCAPE_LETTER = 1;
const HEX_DIGIT = 2;

/** What each byte may be in an escape, as bits; text-scan.wat reads the same bits. */
export const ESCAPE_CLASSES = new Uint8Array(256);
for (const char of '"\\/bfnrt') ESCAPE_CLASSES[char.charCodeAt(0)]! |= ESCAPE_LETTER;
for (const char of "0123456789abcdefABCDEF") ESCAPE_CLASSES[char.charCodeAt(0)]! |= HEX_DIGIT;

/** Index of the first quote, backslash or control character in [from, end), or `end`. */
export function shortRunEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && !isSpecial(bytes[at]!)) at++;
  return at;
}

function isSpecial(byte: number): boolean {
  return byte < 0x20 || byte === QUOTE || byte === BACKSLASH;
}

/** Whether the byte may follow a backslash; u is not included. */
export function isEscapeLetter(byte: number): boolean {
  return (ESCAPE_CLASSES[byte]! & ESCAPE_LETTER) !== 0;
}

export function isHexDigit(byte: number): boolean {
  return (ESCAPE_CLASSES[byte]! & HEX_DIGIT) !== 0;
}

/** The literal that begins with this byte; undefined if none does. */
export function literalOf(byte: number): string | undefined {
  if (byte === 0x74) return "true";
  if (byte === 0x66) return "false";
  return byte === 0x6e ? "null" : undefined;
}
