import { CR, FIELD, HTAB, LF, OCTET, SP, TARGET, TOKEN } from "./octets.ts";
import { WireError } from "./wire-error.ts";

/** Numbers kept per header in `marks`: end of the name, end of the line, and one for the reader of `marks` to set. */
export const STRIDE = 3;

/** RFC 9110 9.1 sets no limit; the longest registered method has 17 characters. */
const METHOD_LENGTH = 32;
const PROTOCOL = "HTTP/";

// What the parser expects next (RFC 9112 2.1); the most frequent states come first.
const FIELD_START = 0;
const NAME = 1;
const VALUE = 2;
const VALUE_LF = 3;
const BEFORE = 4;
const BEFORE_LF = 5;
const METHOD = 6;
const REQUEST_TARGET = 7;
const VERSION = 8;
const MAJOR = 9;
const DOT = 10;
const MINOR = 11;
const AFTER_VERSION = 12;
const STATUS = 13;
const AFTER_STATUS = 14;
const REASON = 15;
const LINE_LF = 16;
const END_LF = 17;

/** The grammar of a head, as a state machine over bytes. It finds where the parts of a head end, and throws at the first wrong byte. */
export class HeadGrammar {
  /** Where method, target and start line end, as offsets in the head. */
  methodEnd = 0;
  targetEnd = 0;
  lineLength = 0;
  minor: 0 | 1 = 1;
  status = 0;
  /** STRIDE numbers per header; only the first `marked` numbers belong to this head. */
  readonly marks: number[] = [];
  marked = 0;
  readonly #isRequest: boolean;
  readonly #headerCount: number;
  #state: number;
  /** How many characters of the version's "HTTP/", or of the status, have been read. */
  #step = 0;

  constructor(isRequest: boolean, headerCount: number) {
    this.#isRequest = isRequest;
    this.#headerCount = headerCount;
    this.#state = isRequest ? BEFORE : VERSION;
  }

  reset(): void {
    this.#state = this.#isRequest ? BEFORE : VERSION;
    this.#step = 0;
  }

  /**
   * Call it before the first byte of a head. `same`: how many bytes at its beginning are those of the last head, if that was read to
   * its end. Lines that lie in them count as read; returns their length.
   */
  begin(same: number): number {
    const known = this.marked;
    this.marked = 0;
    if (same === 0 || same < this.lineLength) return 0;
    let length = this.lineLength;
    while (this.marked < known && this.marks[this.marked + 1]! <= same) {
      length = this.marks[this.marked + 1]!;
      this.marked += STRIDE;
    }
    this.#state = FIELD_START;
    return length;
  }

  /** RFC 9112 2.2: one empty line before the request line is ignored, not more. */
  skipEmptyLine(chunk: Buffer, start: number): number {
    let at = start;
    if (at < chunk.length && this.#state === BEFORE) {
      if (chunk[at] === CR) {
        this.#state = BEFORE_LF;
        at++;
      } else this.#state = METHOD;
    }
    if (at < chunk.length && this.#state === BEFORE_LF) {
      if (chunk[at] !== LF) throw bareCr();
      this.#state = METHOD;
      at++;
    }
    return at;
  }

  /**
   * Reads chunk[first, last); `length` bytes of the head came in earlier chunks. Returns the offset after the head, or -1 if the
   * head goes on. Throws WireError.
   */
  read(chunk: Buffer, first: number, last: number, length: number): number {
    /** Added to an offset in the chunk, it gives the offset in the head. */
    const shift = length - first;
    let state = this.#state;
    for (let at = first; at < last; at++) {
      const octet = chunk[at]!;
      switch (state) {
        case FIELD_START:
          if (octet === CR) {
            state = END_LF;
            break;
          }
          if (octet === SP || octet === HTAB) throw badHead("A header is folded or begins with white space; put it on one line."); // RFC 9112 5.2, 2.2
          if ((OCTET[octet]! & TOKEN) === 0) throw badName(); // RFC 9112 5: field-name is a token, at least one character
          if (this.marked >= this.#headerCount * STRIDE)
            throw new WireError("head_too_large", "The head has too many headers; send fewer.");
          state = NAME;
          break;
        case NAME:
          while (at < last && (OCTET[chunk[at]!]! & TOKEN) !== 0) at++;
          if (at === last) continue;
          if (chunk[at] !== 0x3a) throw badName(); // RFC 9112 5.1: no white space before the colon
          this.marks[this.marked] = at + shift;
          state = VALUE;
          break;
        case VALUE:
          while (at < last && (OCTET[chunk[at]!]! & FIELD) !== 0) at++;
          if (at === last) continue;
          if (chunk[at] !== CR) throw badText(chunk[at]!); // RFC 9110 5.5
          state = VALUE_LF;
          break;
        case VALUE_LF:
          if (octet !== LF) throw bareCr();
          this.marks[this.marked + 1] = at + shift + 1;
          this.marks[this.marked + 2] = 0;
          this.marked += STRIDE;
          state = FIELD_START;
          break;
        case METHOD:
          if ((OCTET[octet]! & TOKEN) !== 0 && at + shift < METHOD_LENGTH) break; // RFC 9112 3.1
          if (octet !== SP || at + shift === 0)
            throw badHead("The request does not begin with a method; send an HTTP/1.1 request line.");
          this.methodEnd = at + shift;
          state = REQUEST_TARGET;
          break;
        case REQUEST_TARGET:
          while (at < last && (OCTET[chunk[at]!]! & TARGET) !== 0) at++;
          if (at === last) continue;
          this.targetEnd = at + shift;
          // RFC 9112 3.2: no white space, not empty; RFC 9112 3: HTTP/0.9 has no version and is refused here
          if (chunk[at] !== SP || this.targetEnd === this.methodEnd + 1)
            throw badHead("The request target is not valid; percent-encode it and let an HTTP version follow.");
          state = VERSION;
          break;
        case VERSION:
          if (octet !== PROTOCOL.charCodeAt(this.#step)) throw badVersion(); // RFC 9112 2.3: case-sensitive
          if (++this.#step === PROTOCOL.length) state = MAJOR;
          break;
        case MAJOR:
          if (octet !== 0x31) throw otherVersion(octet);
          state = DOT;
          break;
        case DOT:
          if (octet !== 0x2e) throw badVersion(); // RFC 9112 2.3: one digit
          state = MINOR;
          break;
        case MINOR:
          if (octet !== 0x30 && octet !== 0x31) throw otherVersion(octet);
          this.minor = octet === 0x30 ? 0 : 1;
          state = AFTER_VERSION;
          break;
        case AFTER_VERSION:
          if (octet !== (this.#isRequest ? CR : SP)) throw badVersion(); // RFC 9112 3, 4
          this.#step = 0;
          state = this.#isRequest ? LINE_LF : STATUS;
          break;
        case STATUS: {
          const digit = octet - 0x30;
          // RFC 9112 4: three digits; RFC 9110 15: 100 to 599
          if (digit < 0 || digit > 9 || (this.#step === 0 && (digit === 0 || digit > 5))) throw badStatus();
          this.status = this.#step === 0 ? digit : this.status * 10 + digit;
          if (++this.#step === 3) state = AFTER_STATUS;
          break;
        }
        case AFTER_STATUS:
          // RFC 9112 4 asks for a space even before an empty reason; servers that leave it out are common and nothing hangs on it.
          if (octet !== SP && octet !== CR) throw badStatus();
          state = octet === SP ? REASON : LINE_LF;
          break;
        case REASON:
          if ((OCTET[octet]! & FIELD) !== 0) break; // RFC 9112 4
          if (octet !== CR) throw badText(octet);
          state = LINE_LF;
          break;
        case LINE_LF:
          if (octet !== LF) throw bareCr(); // RFC 9112 2.2
          this.lineLength = at + shift + 1;
          state = FIELD_START;
          break;
        case END_LF:
          if (octet !== LF) throw bareCr();
          return at + 1;
      }
    }
    this.#state = state;
    return -1;
  }
}

const badHead = (message: string) => new WireError("bad_head", message);
const badName = () =>
  badHead("A header name has a character that is not allowed; use letters, digits and hyphens, and no space before the colon.");
const badStatus = () => badHead("The status line is not valid; send a status from 100 to 599.");
const badVersion = () => badHead("The HTTP version is not valid; use HTTP/1.1.");
const bareCr = () => badHead("A CR stands without LF; end lines with CRLF.");

function badText(octet: number): WireError {
  return badHead(
    octet === LF ? "A line ends without CR; end lines with CRLF." : "A header holds a control character; remove it.",
  );
}

/** RFC 9110 15.6.6 for a version that is well formed but not ours. */
function otherVersion(octet: number): WireError {
  if (octet < 0x30 || octet > 0x39) return badVersion();
  return new WireError("bad_version", "This HTTP version is not supported; use HTTP/1.1.");
}
