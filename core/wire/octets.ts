// Bits in the table OCTET: where a byte may appear.

/** In a token: methods, header names. */
export const TOKEN = 1;
/** In a field value or a reason phrase. */
export const FIELD = 2;
/** In a request target. */
export const TARGET = 4;
/** Inside a quoted string, except `"` and `\`. */
export const QUOTED = 8;

export const HTAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SP = 0x20;

const ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** For each byte, the bits of the places where it may appear. */
export const OCTET: Uint8Array = octets();

function octets(): Uint8Array {
  const table = new Uint8Array(256);
  const allow = (bit: number, characters: string) => {
    for (let i = 0; i < characters.length; i++) table[characters.charCodeAt(i)]! |= bit;
  };
  allow(TOKEN, `${ALPHANUMERIC}!#$%&'*+-.^_\`|~`); // RFC 9110 5.6.2
  allow(TARGET, `${ALPHANUMERIC}-._~:/?[]@!$&'()*+,;=%`); // RFC 9112 3.2: RFC 3986 without a fragment
  for (let octet = 0; octet < 256; octet++) {
    const isText = octet === HTAB || (octet >= SP && octet !== 0x7f); // RFC 9110 5.5: VCHAR, obs-text, SP, HTAB
    if (!isText) continue;
    table[octet]! |= FIELD;
    if (octet !== 0x22 && octet !== 0x5c) table[octet]! |= QUOTED; // RFC 9110 5.6.4: qdtext
  }
  return table;
}

/** For each byte, its value as a hexadecimal digit; 16 if it is none. */
export const HEX_VALUE: Uint8Array = hexValues();

function hexValues(): Uint8Array {
  const table = new Uint8Array(256).fill(16);
  for (let digit = 0; digit < 16; digit++) {
    const text = digit.toString(16);
    table[text.charCodeAt(0)] = digit;
    table[text.toUpperCase().charCodeAt(0)] = digit;
  }
  return table;
}

/** RFC 9110 5.6.2: token = 1*tchar. */
export function isToken(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    if ((OCTET[text.charCodeAt(i)]! & TOKEN) === 0) return false;
  }
  return text.length > 0;
}

/** text[start, end) without the spaces and tabs around it (RFC 9110 5.6.3: OWS). Other white space stays. */
function trimmed(text: string, start: number, end: number): string {
  return text.slice(blanksEnd(text, start, end), blanksStart(text, start, end));
}

/** The offset after the spaces and tabs at the beginning of text[start, end); `end` if there is nothing else. */
export function blanksEnd(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isBlank(text.charCodeAt(at))) at++;
  return at;
}

/** The offset of the spaces and tabs at the end of text[start, end); `start` if there is nothing else. */
export function blanksStart(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && isBlank(text.charCodeAt(at - 1))) at--;
  return at;
}

/** RFC 9110 5.6.1: the elements of a list whose elements have no quoted commas. Empty elements are left out. */
export function listElements(value: string): string[] {
  return value
    .split(",")
    .map((element) => trimmed(element, 0, element.length))
    .filter((element) => element !== "");
}

function isBlank(code: number): boolean {
  return code === SP || code === HTAB;
}
