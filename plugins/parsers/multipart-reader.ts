import { RouterError } from "../../core/contract/errors.ts";
import type { BodyReader } from "../../core/contract/parser.ts";
import { NO_PARTS } from "../../core/contract/prompt-part.ts";
import type { Span } from "../../core/contract/span.ts";

/** RFC 2046 5.1.1, and what clients send beside that. Blanks at its ends are refused, because engines differ in whether they count. */
const BOUNDARY = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"((?! )[^"\\]{1,200}(?<! ))"|([^\s;"]{1,200}))\s*(?:;|$)/i;
/** Also in the spellings of RFC 2231, some of which engines read. */
const ANY_BOUNDARY = /boundary[\s*\d]*=/gi;
/** Real forms have a handful. Each costs time, so their number has a bound. */
const MOST_PARTS = 1_000;
const MOST_HEADER_BYTES = 8 * 1024;
/** Before the first boundary: a sentence for those whose program can't read forms. */
const MOST_PREAMBLE_BYTES = 8 * 1024;
/** Blanks behind a boundary, which mail gateways added. */
const MOST_PADDING_BYTES = 256;
/** Fields that are read are names and switches. */
const MOST_FIELD_BYTES = 4 * 1024;
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/;
/** One parameter of Content-Disposition, from its semicolon. */
const PARAMETER = /\s*;\s*([\w-]+\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))\s*/y;
const PLAIN_CODING = /^\s*(?:7bit|8bit|binary)\s*$/i;
const LINE_END = "\r\n";
const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const MINUS = 0x2d;
const OPEN = 0x7b;
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** What separates the parts of a form, as its Content-Type says. Throws RouterError for a body that is no form. */
export function boundaryOf(contentType: string): string {
  if (!/^multipart\/form-data\s*(?:;|$)/i.test(contentType))
    throw new RouterError("unsupported_media_type", "Send the body as multipart/form-data, or as application/json.");
  const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined || contentType.match(ANY_BOUNDARY)?.length !== 1)
    throw malformed("its Content-Type has not exactly one boundary; let your client library write that header");
  if (/charset=(?!"?utf-?8)/i.test(contentType)) throw malformed("its charset is not UTF-8; send it in UTF-8");
  return boundary;
}

/** Whether the body begins as a JSON object does. No form may: an engine could take it for one. */
export function beginsObject(bytes: Uint8Array): boolean {
  let at = 0;
  while (at < bytes.length && isBlank(bytes[at]!)) at += 1;
  return bytes[at] === OPEN;
}

/** The text of a field that was noted. Throws RouterError if it is not UTF-8. */
export function fieldText(bytes: Uint8Array, [start, end]: Span): string {
  try {
    return UTF8.decode(bytes.subarray(start, end));
  } catch {
    throw malformed("a field is not valid UTF-8; send it in UTF-8");
  }
}

/**
 * Notes where the values of a form's fields are, while the form comes. Files in it are passed over, and nothing is copied. It is strict
 * where engines differ in what they accept: the field that it reads must be the one that the engine reads.
 */
export class MultipartReader implements BodyReader {
  readonly parts = NO_PARTS;
  readonly #fields: ReadonlySet<string>;
  readonly #spans = new Map<string, Span>();
  readonly #delimiter: Buffer;
  /** The first one, which may have no line before it. */
  readonly #first: Buffer;
  /** Up to where it has read. */
  #at = 0;
  #count = 0;
  #state: "preamble" | "boundary" | "headers" | "content" | "end" = "preamble";
  /** The name of the open part, and where its content begins. */
  #name = "";
  #contentStart = 0;

  constructor(boundary: string, fields: readonly string[]) {
    this.#delimiter = Buffer.from(`${LINE_END}--${boundary}`, "latin1");
    this.#first = this.#delimiter.subarray(LINE_END.length);
    this.#fields = new Set(fields);
  }

  push(bytes: Uint8Array, length: number): void {
    const read = Buffer.from(bytes.buffer, bytes.byteOffset, length);
    while (this.#step(read, false));
  }

  finish(bytes: Uint8Array, length: number): void {
    const read = Buffer.from(bytes.buffer, bytes.byteOffset, length);
    while (this.#step(read, true));
    if (this.#state === "preamble" && length > 0) throw malformed("it does not have the boundary of its Content-Type");
    if (this.#state !== "end") throw malformed("its last boundary is missing; send the whole form");
  }

  spanOf(field: string): Span | undefined {
    return this.#spans.get(field);
  }

  /** Reads one more thing; false if it has not come yet, or nothing more is read. `isAll`: nothing more comes. */
  #step(read: Buffer, isAll: boolean): boolean {
    switch (this.#state) {
      case "preamble":
        return this.#readPreamble(read);
      case "boundary":
        return this.#readBoundary(read, isAll);
      case "headers":
        return this.#readHeaders(read);
      case "content":
        return this.#readContent(read);
      case "end":
        return false;
    }
  }

  /** Text up to the first boundary is for nobody. A boundary that does not stand at the beginning of a line there is one to some engines. */
  #readPreamble(read: Buffer): boolean {
    const first = read.indexOf(this.#first, this.#at);
    if ((first < 0 ? read.length - this.#first.length : first) > MOST_PREAMBLE_BYTES)
      throw malformed("its first boundary comes too late; begin with it");
    if (first < 0) {
      this.#at = Math.max(0, read.length - this.#first.length + 1);
      return false;
    }
    if (first > 0 && (first === 1 || read[first - 2] !== CR || read[first - 1] !== LF))
      throw malformed("its boundary stands inside of a line");
    if (beginsObject(read.subarray(0, first))) throw malformed("it begins as JSON does; send one or the other");
    this.#at = first + this.#first.length;
    this.#state = "boundary";
    return true;
  }

  /** Behind a boundary are blanks, the end of its line, and the next part's headers; or "--" at the end of the form, behind which nothing counts. */
  #readBoundary(read: Buffer, isAll: boolean): boolean {
    if (read.length < this.#at + 2) return false;
    const isLast = read[this.#at] === MINUS && read[this.#at + 1] === MINUS;
    let at = isLast ? this.#at + 2 : this.#at;
    while (read[at] === SPACE || read[at] === TAB) at += 1;
    if (at - this.#at > MOST_PADDING_BYTES) throw malformed("too many blanks stand behind a boundary");
    const isEnded = read.length >= at + LINE_END.length;
    if (isEnded ? read[at] !== CR || read[at + 1] !== LF : read.length > at && read[at] !== CR)
      throw malformed("something stands directly behind a boundary");
    if (!isEnded && !(isAll && isLast)) return false;
    this.#at = at + LINE_END.length;
    this.#state = isLast ? "end" : "headers";
    return !isLast;
  }

  #readHeaders(read: Buffer): boolean {
    const end = read.indexOf("\r\n\r\n", this.#at, "latin1");
    if ((end < 0 ? read.length : end) - this.#at > MOST_HEADER_BYTES) throw malformed("a part's headers are too long");
    if (end < 0) return false;
    this.#count += 1;
    if (this.#count > MOST_PARTS) throw malformed(`it has more than ${MOST_PARTS} parts; send fewer`);
    if (read.subarray(this.#at - LINE_END.length, end).includes(this.#delimiter))
      throw malformed("a part has no empty line behind its headers");
    this.#name = nameIn(read.toString("utf8", this.#at, end));
    this.#contentStart = end + 4;
    // Some engines take a boundary that stands there for one.
    this.#at = end + LINE_END.length;
    this.#state = "content";
    return true;
  }

  #readContent(read: Buffer): boolean {
    const end = read.indexOf(this.#delimiter, this.#at);
    if (end < 0) {
      this.#at = Math.max(this.#at, read.length - this.#delimiter.length + 1);
      return false;
    }
    if (end < this.#contentStart) throw malformed("a boundary stands directly behind a part's headers");
    this.#note([this.#contentStart, end]);
    this.#at = end + this.#delimiter.length;
    this.#state = "boundary";
    return true;
  }

  #note(span: Span): void {
    if (!this.#fields.has(this.#name)) return;
    if (this.#spans.has(this.#name)) throw malformed(`it has the field "${this.#name}" twice; send it once`);
    if (span[1] - span[0] > MOST_FIELD_BYTES) throw malformed(`its field "${this.#name}" is too long`);
    this.#spans.set(this.#name, span);
  }
}

/** The field that a part is, by its headers. */
function nameIn(headers: string): string {
  let name: string | undefined;
  for (const line of headers.split(LINE_END)) {
    const [, header = "", value = ""] = HEADER_LINE.exec(line) ?? [];
    if (header === "") throw malformed("a part has a line that is no header");
    if (/^content-transfer-encoding$/i.test(header) && !PLAIN_CODING.test(value))
      throw malformed("a part is encoded once more; send it without Content-Transfer-Encoding");
    if (!/^content-disposition$/i.test(header)) continue;
    if (name !== undefined) throw malformed(NAMELESS);
    name = nameOf(value);
  }
  if (name === undefined) throw malformed(NAMELESS);
  return name;
}

/** The one `name` of a Content-Disposition. A backslash in it is refused, because engines disagree on what it means. */
function nameOf(disposition: string): string {
  let name: string | undefined;
  const start = /^\s*form-data/i.exec(disposition)?.[0].length ?? disposition.length + 1;
  PARAMETER.lastIndex = start;
  for (let at = start; at < disposition.length; at = PARAMETER.lastIndex) {
    const [, key, quoted, plain = ""] = PARAMETER.exec(disposition) ?? [];
    const isName = /^name\*?$/i.test(key ?? "name*");
    if (!isName) continue;
    const value = quoted ?? plain;
    if (name !== undefined || key === undefined || key.endsWith("*") || value.includes("\\")) throw malformed(NAMELESS);
    name = value;
  }
  if (name === undefined) throw malformed(NAMELESS);
  return name;
}

const NAMELESS = 'a part has not exactly one Content-Disposition with name="…"; let your client library write it';

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB || byte === CR || byte === LF;
}

function malformed(what: string): RouterError {
  return new RouterError("bad_request", `The form can't be read: ${what}.`);
}
