import { connectionOptions } from "./connection-options.ts";
import type { Head } from "./head.ts";
import { HEADER, startsWithName } from "./header-names.ts";

/** Headers of one connection only: those of RFC 9110 7.6.1, and older ones that are still sent without ever being registered. */
const HOP_BY_HOP =
  bit(HEADER.connection) |
  bit(HEADER["keep-alive"]) |
  bit(HEADER["proxy-connection"]) |
  bit(HEADER["proxy-authenticate"]) |
  bit(HEADER["proxy-authorization"]) |
  bit(HEADER.te) |
  bit(HEADER.trailer) |
  bit(HEADER["transfer-encoding"]) |
  bit(HEADER.upgrade);

/** Headers that the router writes itself for the replica, acts on itself, or must not trust. */
const DROPPED_FROM_REQUESTS =
  HOP_BY_HOP |
  bit(HEADER.host) |
  bit(HEADER["content-length"]) |
  bit(HEADER.expect) |
  bit(HEADER["accept-encoding"]) |
  bit(HEADER["x-request-id"]) |
  bit(HEADER.forwarded);

/** Headers that the router writes itself for the client. */
const DROPPED_FROM_RESPONSES =
  HOP_BY_HOP | bit(HEADER["content-length"]) | bit(HEADER["x-request-id"]) | bit(HEADER["request-id"]);

/** A client could steer routing, or pose as a proxy, with a header whose name is "x-" and begins with one of these. */
const STEERING: readonly string[] = [
  "data-parallel-",
  "encoder-hosts-ports",
  "envoy-",
  "forwarded",
  "gateway-",
  "llm-d-",
  "prefiller-",
  "signalbox-",
  "vllm-priority",
];

function bit(id: number): number {
  return 1 << id;
}

/** The header lines of a request that go on to the replica, each with its CRLF. */
export function requestLines(head: Head): string {
  return keptLines(head, isDroppedFromRequest);
}

/** The header lines of a response that go on to the client, each with its CRLF. */
export function responseLines(head: Head): string {
  return keptLines(head, isDroppedFromResponse);
}

/** Adjacent lines that are kept are cut out in one piece. */
function keptLines(head: Head, isDropped: (head: Head, index: number) => boolean): string {
  const { text, count } = head;
  const options = connectionOptions(head);
  let kept = "";
  let runStart = head.lineStart(0);
  for (let i = 0; i < count; i++) {
    if (!isDropped(head, i) && !isListed(head, i, options)) continue;
    kept += text.slice(runStart, head.lineStart(i));
    runStart = head.lineEnd(i);
  }
  return kept + text.slice(runStart, text.length - 2);
}

/** RFC 9110 7.6.1: a header that Connection names is not passed on. */
function isListed(head: Head, index: number, options: readonly string[]): boolean {
  if (options.length === 0) return false;
  const start = head.lineStart(index);
  const length = head.nameEnd(index) - start;
  for (const option of options) {
    if (option.length === length && startsWithName(head.text, start, option)) return true;
  }
  return false;
}

function isDroppedFromRequest(head: Head, index: number): boolean {
  const id = head.id(index);
  if (id !== 0) return (DROPPED_FROM_REQUESTS & (1 << id)) !== 0;
  const start = head.lineStart(index);
  return (
    hasUnderscore(head.text, start, head.nameEnd(index)) || (isExtension(head.text, start) && isSteering(head.text, start + 2))
  );
}

function isDroppedFromResponse(head: Head, index: number): boolean {
  const id = head.id(index);
  if (id !== 0) return (DROPPED_FROM_RESPONSES & (1 << id)) !== 0;
  const start = head.lineStart(index);
  return isExtension(head.text, start) && startsWithName(head.text, start + 2, "signalbox-");
}

/** Whether the name begins with "x-". */
function isExtension(text: string, start: number): boolean {
  return (text.charCodeAt(start) | 0x20) === 0x78 && text.charCodeAt(start + 1) === 0x2d;
}

function isSteering(text: string, start: number): boolean {
  for (const beginning of STEERING) {
    if (startsWithName(text, start, beginning)) return true;
  }
  return false;
}

/** Servers that turn header names into variables (CGI, WSGI) read "a_b" and "a-b" as the same name. */
function hasUnderscore(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    if (text.charCodeAt(i) === 0x5f) return true;
  }
  return false;
}
