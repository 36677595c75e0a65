import type { Dialect, RouterError } from "../contract/errors.ts";
import { printable } from "../contract/printable.ts";
import type { Answer } from "../contract/slots/answer.ts";
import type { ResponseWriter } from "../host/response-writer.ts";
import { errorBody } from "./dialects.ts";

/**
 * Responds with an error in the shape of the called API; `moreLines` are further complete header lines. Does nothing when a response
 * has already begun.
 */
export function respondWithError(
  response: ResponseWriter,
  error: RouterError,
  dialect: Dialect,
  requestId: string,
  moreLines = "",
): void {
  if (response.hasStarted) return;
  let lines = idLines(requestId) + moreLines;
  if (error.retryAfterS > 0) lines += `retry-after: ${error.retryAfterS}\r\n`;
  if (!error.isRetryable) lines += "x-should-retry: false\r\n";
  if (error.status === 401) lines += "www-authenticate: Bearer\r\n";
  if (error.status === 426) lines += "upgrade: HTTP/1.1\r\nconnection: upgrade\r\n"; // RFC 9110 15.5.22
  if (error.accepts) lines += `accept-encoding: ${error.accepts}\r\n`; // RFC 9110 15.5.16
  if (error.allow !== "") lines += `allow: ${error.allow}\r\n`;
  respondWithJson(response, error.status, lines, errorBody(error, dialect, requestId));
}

/** The headers by which a client can name its request: those of both APIs. */
export function idLines(requestId: string): string {
  return `x-request-id: ${requestId}\r\nrequest-id: ${requestId}\r\n`;
}

/** Responds with a small JSON document. */
export function respondWithJson(response: ResponseWriter, status: number, lines: string, json: string): void {
  respondWithText(response, status, `content-type: application/json\r\n${lines}`, json);
}

/** Responds with a text; `lines` must hold its Content-Type. */
export function respondWithText(response: ResponseWriter, status: number, lines: string, text: string): void {
  const body = Buffer.from(text);
  response.start(status, REASONS[status] ?? "", lines, body.length);
  response.write(body, [0, body.length], 1, false);
  response.end();
}

/** Responds with what a feature answers; `moreLines` are further complete header lines. */
export function respondWithAnswer(response: ResponseWriter, { status, headers, body }: Answer, moreLines: string): void {
  let lines = moreLines;
  for (const [name, value] of Object.entries(headers)) lines += headerLine(name, value);
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  response.start(status, REASONS[status] ?? "", lines, bytes.length);
  response.write(bytes, [0, bytes.length], 1, false);
  response.end();
}

/** Throws TypeError for what is no header: a line end in it would begin another one. */
function headerLine(name: string, value: string): string {
  if (/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return `${name}: ${value}\r\n`;
  throw new TypeError(`"${printable(name)}" is no header's name, or its value has characters that no header may have`);
}

/** Reason phrases of the statuses that the router itself sends (RFC 9110, section 15). */
const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  412: "Precondition Failed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  417: "Expectation Failed",
  421: "Misdirected Request",
  422: "Unprocessable Content",
  426: "Upgrade Required",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  505: "HTTP Version Not Supported",
};
