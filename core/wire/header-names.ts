/**
 * Headers that the wire looks at, and common ones that it can then skip: a small number for each name. Sets of them are masks of 32
 * bits, in which `1 << number` stands for a header.
 */
export const HEADER = {
  host: 1,
  "content-length": 2,
  "transfer-encoding": 3,
  connection: 4,
  "keep-alive": 5,
  "proxy-connection": 6,
  "proxy-authenticate": 7,
  "proxy-authorization": 8,
  te: 9,
  trailer: 10,
  upgrade: 11,
  expect: 12,
  "accept-encoding": 13,
  "x-request-id": 14,
  "request-id": 15,
  forwarded: 16,
  "content-type": 17,
  "content-encoding": 18,
  authorization: 19,
  "x-api-key": 20,
  accept: 21,
  "user-agent": 22,
  "cache-control": 23,
  date: 24,
  server: 25,
  cookie: 26,
  "api-key": 27,
} as const;

const IDS = new Map<string, number>(Object.entries(HEADER));
checkIds([...IDS.values()]);

const BY_LENGTH: readonly (readonly { readonly name: string; readonly id: number }[])[] = byLength();

function byLength() {
  const known = [...IDS].map(([name, id]) => ({ name, id }));
  const longest = Math.max(...known.map(({ name }) => name.length));
  return Array.from({ length: longest + 1 }, (_, length) => known.filter(({ name }) => name.length === length));
}

/** Throws where a number is given twice, stands for "not listed" (0), or has no bit of its own: `1 << 33` is `1 << 1`. */
export function checkIds(ids: readonly number[]): void {
  const isFit = (id: number) => Number.isInteger(id) && id > 0 && id < 32;
  if (new Set(ids).size < ids.length || !ids.every(isFit))
    throw new RangeError("Headers are numbered from 1 to 31, each once; make the masks wider before you list more.");
}

/** The number of a name given in lower case; 0 where it is none of HEADER. */
export function idOfName(name: string): number {
  return IDS.get(name) ?? 0;
}

/** The number of the name that is text[start, end), in any case. */
export function headerId(text: string, start: number, end: number): number {
  const group = BY_LENGTH[end - start];
  if (group === undefined) return 0;
  for (let i = 0; i < group.length; i++) {
    const known = group[i]!;
    if (startsWithName(text, start, known.name)) return known.id;
  }
  return 0;
}

/** Whether `text` holds `name`, which is in lower case, at `start`, in any case. */
export function startsWithName(text: string, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    if (lower(text.charCodeAt(start + i)) !== name.charCodeAt(i)) return false;
  }
  return true;
}

function lower(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
}
