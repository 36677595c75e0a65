/** What a byte may be part of: bits of OCTET, one table for heads, trailers and chunk extensions. */
export const TOKEN = 1;
/** Field values, reason phrases. */
export const FIELD = 2;
/** Request targets. */
export const TARGET = 4;
/** Inside a quoted string, without `"` and `\`. */
export const QUOTED = 8;

export const HTAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SP = 0x20;

const ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

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

/** The value of a hexadecimal digit, 16 for any other byte. */
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

/** text[start, end) without the spaces and tabs around it (RFC 9110 5.6.3: OWS); no other white space counts. */
function trimmed(text: string, start: number, end: number): string {
  return text.slice(blanksEnd(text, start, end), blanksStart(text, start, end));
}

/** Where the spaces and tabs end that text[start, end) begins with. */
export function blanksEnd(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isBlank(text.charCodeAt(at))) at++;
  return at;
}

/** Where the spaces and tabs begin that text[start, end) ends with; `start` when it is nothing else. */
export function blanksStart(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && isBlank(text.charCodeAt(at - 1))) at--;
  return at;
}

/** RFC 9110 5.6.1: the elements of a list without quoted commas; empty ones are ignored. */
export function listElements(value: string): string[] {
  return value
    .split(",")
    .map((element) => trimmed(element, 0, element.length))
    .filter((element) => element !== "");
}

function isBlank(code: number): boolean {
  return code === SP || code === HTAB;
}
