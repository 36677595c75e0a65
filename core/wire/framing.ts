import { connectionOptions } from "./connection-options.ts";
import type { Head } from "./head.ts";
import { HEADER } from "./header-names.ts";
import { isToken, listElements } from "./octets.ts";
import { WireError } from "./wire-error.ts";

/** How a message's body ends: not there, after `length` bytes, with the last chunk, or with the connection. */
export interface Framing {
  readonly kind: "none" | "length" | "chunked" | "close";
  readonly length: number;
}

export const NO_BODY: Framing = { kind: "none", length: 0 };
const CHUNKED: Framing = { kind: "chunked", length: 0 };
const CLOSE: Framing = { kind: "close", length: 0 };

/** How a request's body ends (RFC 9112 6.3). Throws WireError where its headers are not clear about that, or about what it holds. */
export function requestFraming(head: Head): Framing {
  connectionOptions(head);
  return declaredFraming(head) ?? NO_BODY; // RFC 9112 6.3 (7)
}

/** How the body of a response to a `requestMethod` request ends (RFC 9112 6.3). Throws WireError. */
export function responseFraming(head: Head, requestMethod: string): Framing {
  connectionOptions(head);
  const declared = declaredFraming(head);
  const { status } = head;
  if (status === 101) throw badFraming("The replica switched protocols unasked; turn that off."); // RFC 9110 7.8
  if (status < 200 || status === 204) {
    // RFC 9110 8.6, RFC 9112 6.1: neither length nor coding may be sent here. A replica that sends one may send a body too.
    const isEmpty = declared === undefined || (status === 204 && declared.kind === "length" && declared.length === 0);
    if (!isEmpty) throw badFraming("The replica declared a body for a response that has none; remove its framing headers.");
    return NO_BODY;
  }
  if (status === 304 || requestMethod === "HEAD") return NO_BODY; // RFC 9112 6.3 (1): what is declared is what GET would get
  return declared ?? CLOSE; // RFC 9112 6.3 (8)
}

/** Whether another message may follow on the connection (RFC 9112 9.3). */
export function isKeptAlive(head: Head): boolean {
  const options = connectionOptions(head);
  if (options.length === 0) return head.minor === 1;
  if (options.includes("close")) return false;
  return head.minor === 1 || options.includes("keep-alive");
}

/** What Content-Length or Transfer-Encoding say; undefined if there is neither. */
function declaredFraming(head: Head): Framing | undefined {
  let lengthAt = -1;
  let codingAt = -1;
  let typeAt = -1;
  let isCodingRepeated = false;
  for (let i = 0; i < head.count; i++) {
    const id = head.id(i);
    if (id === HEADER["content-length"]) {
      // RFC 9112 6.3 (5) allows equal values. They are refused, so that no two parsers can choose different ones.
      if (lengthAt >= 0) throw badFraming("Content-Length is repeated; send it once.");
      lengthAt = i;
    } else if (id === HEADER["transfer-encoding"]) {
      isCodingRepeated = codingAt >= 0;
      codingAt = i;
    } else if (id === HEADER["content-type"]) {
      // RFC 9110 5.3, 8.3: one value. The replica may go by the other one.
      if (typeAt >= 0 && head.status === 0) throw badFraming("Content-Type is repeated; send it once.");
      typeAt = i;
    }
  }
  if (codingAt < 0) return lengthAt < 0 ? undefined : { kind: "length", length: contentLength(head, lengthAt) };
  if (lengthAt >= 0) throw badFraming("Content-Length and Transfer-Encoding are both there; send one of them."); // RFC 9112 6.1
  if (head.minor === 0) throw badFraming("Transfer-Encoding does not exist in HTTP/1.0; use HTTP/1.1."); // RFC 9112 6.1
  if (isCodingRepeated || head.value(codingAt).toLowerCase() !== "chunked") throw otherCoding(head); // RFC 9112 7: case-insensitive
  return CHUNKED;
}

/** RFC 9110 8.6: 1*DIGIT. */
function contentLength(head: Head, index: number): number {
  const start = head.valueStart(index);
  const end = head.valueEnd(index);
  if (start >= end) throw badLength();
  let length = 0;
  for (let i = start; i < end; i++) {
    const digit = head.text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) throw badLength();
    length = length * 10 + digit;
    if (length > Number.MAX_SAFE_INTEGER) throw badLength();
  }
  return length;
}

/** RFC 9112 6.1: 501 for a request in codings that we do not decode. RFC 9112 6.3 (4): 400 if chunked is not the last one, once. */
function otherCoding(head: Head): WireError {
  const codings = listElements((head.get("transfer-encoding") ?? "").toLowerCase());
  const isDelimited = codings.length > 1 && codings.every(isToken) && codings.indexOf("chunked") === codings.length - 1;
  if (isDelimited && head.status === 0)
    return new WireError("not_implemented", "Only the transfer coding chunked is supported; send the body without another one.");
  return badFraming("Transfer-Encoding is not just chunked; send the body chunked or with Content-Length.");
}

const badFraming = (message: string) => new WireError("bad_framing", message);
const badLength = () => badFraming("Content-Length is not a number of bytes; send digits only.");
