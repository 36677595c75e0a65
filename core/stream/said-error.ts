import { Pattern } from "./pattern.ts";

const ERROR = new Pattern("error");
const LF = 0x0a;
const CR = 0x0d;

/**
 * A line of an event stream that says that the generation failed: an event of the name, or data that are an error object, or have the
 * type. llama.cpp has had a field of its own for it. Longer data are compared as far as this reaches.
 */
const ERROR_LINE = /^(?:event: ?error$|error:|data: ?\{\s*(?:"error"\s*:(?!\s*(?:null|""|false))|"type"\s*:\s*"error"))/;
/** So much of a line tells. */
const LINE_BYTES = 80;

/**
 * Whether an event in the last bytes of an event stream is an error. Generated text is inside of JSON strings, which have no line
 * ends, so it can't begin a line. `isAll`: the bytes are the whole stream; else their first line has no beginning.
 */
export function saysError(bytes: Uint8Array, isAll: boolean): boolean {
  for (let at = ERROR.lastIn(bytes, bytes.length); at >= 0; ) {
    const start = lineStart(bytes, at);
    if (start === 0 && !isAll) return false;
    if (ERROR_LINE.test(lineAt(bytes, start))) return true;
    at = start === 0 ? -1 : ERROR.lastIn(bytes, start);
  }
  return false;
}

function lineStart(bytes: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && !isLineEnd(bytes[start - 1]!)) start -= 1;
  return start;
}

function lineAt(bytes: Uint8Array, start: number): string {
  let end = start;
  while (end < bytes.length && end - start < LINE_BYTES && !isLineEnd(bytes[end]!)) end += 1;
  return String.fromCharCode(...bytes.subarray(start, end));
}

function isLineEnd(byte: number): boolean {
  return byte === LF || byte === CR;
}
