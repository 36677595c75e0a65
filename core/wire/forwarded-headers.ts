import type { Settings } from "../settings.ts";
import { connectionOptions } from "./connection-options.ts";
import type { Head, LineChoice } from "./head.ts";
import { HEADER, startsWithName } from "./header-names.ts";
import { CREDENTIALS, HOP_BY_HOP, isDroppedName, NUMBERED_MASK } from "./request-headers.ts";

/** Written anew for the client, or of this hop alone. */
const DROPPED_FROM_RESPONSES = maskOf([...HOP_BY_HOP, "content-length", "x-request-id", "request-id"]);
const CREDENTIALS_MASK = maskOf(CREDENTIALS);

function maskOf(names: readonly (keyof typeof HEADER)[]): number {
  return names.reduce((mask, name) => mask | (1 << HEADER[name]), 0);
}

/** The X-Forwarded-For line for the replica; "" for none. What a client says of itself counts only with "append". */
export function forwardedForLine(head: Head, peer: string, mode: Settings["forwardedFor"]): string {
  if (mode === "drop") return "";
  const claimed = mode === "append" ? (head.get("x-forwarded-for") ?? "") : "";
  const addresses = claimed === "" || peer === "" ? claimed + peer : `${claimed}, ${peer}`;
  return addresses === "" ? "" : `X-Forwarded-For: ${addresses}\r\n`;
}

/** The header lines of a request that go on to the replica, each with its CRLF. */
export function requestLines(head: Head): string {
  return head.keptLines(isDroppedFromRequest, linesWithout);
}

/** The same without those that hold a client's own key. */
export function requestLinesWithoutCredentials(head: Head): string {
  return head.keptLines(isDroppedOrCredential, linesWithout);
}

/** Those that hold a client's own key. */
export function credentialLines(head: Head): string {
  return head.keptLines(isNoCredential, linesWithout);
}

/** Which lines of a response are the router's to say, so that a replica's own do not go on. */
export interface RouterSays {
  readonly cors: boolean;
  readonly rateLimits: boolean;
}

const SAYS_NOTHING: RouterSays = { cors: false, rateLimits: false };

/** The header lines of a response that go on to the client, each with its CRLF. */
export function responseLines(head: Head, { cors, rateLimits }: RouterSays = SAYS_NOTHING): string {
  if (rateLimits) return head.keptLines(cors ? isDroppedOrSaid : isDroppedOrRateLimit, linesWithout);
  return head.keptLines(cors ? isDroppedOrCors : isDroppedFromResponse, linesWithout);
}

/** Adjacent lines that are kept are cut out in one piece. */
function linesWithout(head: Head, isDropped: LineChoice): string {
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
  if (id !== 0) return (NUMBERED_MASK & (1 << id)) !== 0;
  const start = head.lineStart(index);
  const end = head.nameEnd(index);
  return hasUnderscore(head.text, start, end) || isDroppedName(head.text, start, end);
}

function isDroppedOrCredential(head: Head, index: number): boolean {
  return isDroppedFromRequest(head, index) || !isNoCredential(head, index);
}

function isNoCredential(head: Head, index: number): boolean {
  return (CREDENTIALS_MASK & (1 << head.id(index))) === 0;
}

function isDroppedOrCors(head: Head, index: number): boolean {
  if (isDroppedFromResponse(head, index)) return true;
  if (head.id(index) !== 0) return false;
  const start = head.lineStart(index);
  const isVaryOrigin = startsWithName(head.text, start, "vary:") && head.value(index).toLowerCase() === "origin";
  return isVaryOrigin || startsWithName(head.text, start, "access-control-");
}

function isDroppedOrRateLimit(head: Head, index: number): boolean {
  if (isDroppedFromResponse(head, index)) return true;
  const start = head.lineStart(index);
  return startsWithName(head.text, start, "x-ratelimit-") || startsWithName(head.text, start, "anthropic-ratelimit-");
}

function isDroppedOrSaid(head: Head, index: number): boolean {
  return isDroppedOrCors(head, index) || isDroppedOrRateLimit(head, index);
}

function isDroppedFromResponse(head: Head, index: number): boolean {
  const id = head.id(index);
  if (id !== 0) return (DROPPED_FROM_RESPONSES & (1 << id)) !== 0;
  const start = head.lineStart(index);
  return startsWithName(head.text, start, "x-signalbox-");
}

/** Servers that turn header names into variables (CGI, WSGI) read "a_b" and "a-b" as the same name. */
function hasUnderscore(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    if (text.charCodeAt(i) === 0x5f) return true;
  }
  return false;
}
