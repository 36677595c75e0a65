import { Pattern } from "./pattern.ts";

const ERROR = new Pattern("error");
/** The only event that is an error by its name, and need not have that word in a line. */
const FAILED = new Pattern("response.failed");
const LF = 0x0a;
const CR = 0x0d;

/**
 * A line of an event stream that says that the generation failed: an event of the name, or data that are an error object, or have the
 * type. llama.cpp has had a field of its own for it. Longer data are compared as far as this reaches.
 */
const ERROR_LINE =
  /^(?:event: ?(?:error|response\.failed)$|error:|data: ?\{\s*(?:"error"\s*:(?!\s*(?:null|""|false))|"type"\s*:\s*"(?:error|response\.failed)"|"object"\s*:\s*"error"))/;
/** So much of a line tells. */
const LINE_BYTES = 80;
/** Data whose error may stand behind other members. Inside of JSON strings quotes are escaped. */
const LATER_ERROR = /^data: ?(\{.*"error"\s*:\s*[{"].*)$/;

/**
 * The event in the last bytes of an event stream that is an error; "" if none is. Generated text is inside of JSON strings, which have
 * no line ends, so it can't begin a line. `isAll`: the bytes are the whole stream; else their first line has no beginning.
 */
export function errorIn(bytes: Uint8Array, isAll: boolean): string {
  for (let at = lastWord(bytes, bytes.length); at >= 0; ) {
    const start = lineStart(bytes, at);
    if (start === 0 && !isAll) return "";
    if (ERROR_LINE.test(textOf(bytes, start, Math.min(lineEnd(bytes, start), start + LINE_BYTES))) || hasLaterError(bytes, start))
      return eventAround(bytes, start);
    at = start === 0 ? -1 : lastWord(bytes, start);
  }
  return "";
}

function lastWord(bytes: Uint8Array, end: number): number {
  return Math.max(ERROR.lastIn(bytes, end), FAILED.lastIn(bytes, end));
}

function hasLaterError(bytes: Uint8Array, start: number): boolean {
  const data = LATER_ERROR.exec(textOf(bytes, start, lineEnd(bytes, start)))?.[1];
  if (data === undefined) return false;
  try {
    return Boolean((JSON.parse(data) as { readonly error?: unknown }).error);
  } catch {
    return false;
  }
}

/** The lines before and behind this one, up to empty ones. */
function eventAround(bytes: Uint8Array, line: number): string {
  let start = line;
  while (start > 0 && !isBlankLine(bytes, lineBefore(bytes, start))) start = lineBefore(bytes, start);
  let end = lineEnd(bytes, line);
  for (let next = lineAfter(bytes, end); next < bytes.length && !isBlankLine(bytes, next); next = lineAfter(bytes, end))
    end = lineEnd(bytes, next);
  return textOf(bytes, start, end);
}

function lineStart(bytes: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && !isLineEnd(bytes[start - 1]!)) start -= 1;
  return start;
}

function lineEnd(bytes: Uint8Array, start: number): number {
  let end = start;
  while (end < bytes.length && !isLineEnd(bytes[end]!)) end += 1;
  return end;
}

/** Where the line before the one at `start` begins. A CR before an LF belongs to the same end. */
function lineBefore(bytes: Uint8Array, start: number): number {
  const isPair = bytes[start - 1] === LF && bytes[start - 2] === CR;
  return lineStart(bytes, start - (isPair ? 2 : 1));
}

function lineAfter(bytes: Uint8Array, end: number): number {
  return bytes[end] === CR && bytes[end + 1] === LF ? end + 2 : end + 1;
}

function isBlankLine(bytes: Uint8Array, start: number): boolean {
  return start < bytes.length && isLineEnd(bytes[start]!);
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("latin1");
}

function isLineEnd(byte: number): boolean {
  return byte === LF || byte === CR;
}
