import type { CorsSettings } from "../settings.ts";

/** What has the header lines of a request. */
type Headers = { get(name: string): string | undefined | null };

/**
 * The response's header lines for the page that sent the request, each with its CRLF; "" without CORS. `request` is undefined if it
 * could not be read. Pages may read every header.
 */
export function corsLines(request: Headers | undefined, cors: CorsSettings | undefined): string {
  if (cors === undefined) return "";
  const { origins } = cors;
  if (origins === undefined) return `access-control-allow-origin: *\r\n${EXPOSED}`;
  const origin = request?.get("origin") ?? undefined;
  // Without Vary, a cache would hand the response for one origin to a page of another.
  if (origin === undefined || !origins.has(origin)) return "vary: origin\r\n";
  return `access-control-allow-origin: ${origin}\r\n${EXPOSED}vary: origin\r\n`;
}

const EXPOSED = "access-control-expose-headers: *\r\n";

/** The further lines of the answer to a preflight. `asked` is the request's Access-Control-Request-Headers. */
export function preflightLines(asked: string | undefined, methods: string, { headers, maxAgeS }: CorsSettings): string {
  const allowed = headers?.join(", ") ?? asked ?? "";
  // What the client sent goes into a header of the response, so it must be a list of header names.
  const isList = /^[!#$%&'*+.^_`|~0-9A-Za-z-][!#$%&'*+.^_`|~0-9A-Za-z, \t-]*$/.test(allowed);
  const headersLine = isList ? `access-control-allow-headers: ${allowed}\r\n` : "";
  return `access-control-allow-methods: ${methods}\r\n${headersLine}access-control-max-age: ${maxAgeS}\r\n`;
}
