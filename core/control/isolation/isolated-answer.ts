import { ignoresPromise } from "../../contract/returned-promise.ts";
import type { Answer, OwnRoute } from "../../contract/slots/answer.ts";
import { isProbePath } from "../../own-routes.ts";
import type { Outside } from "./outside.ts";
import { bytesOf } from "./read-only-views.ts";

/** What clients and proxies before the router take of a head for sure, beside the router's own lines. */
export const MOST_LINES_BYTES = 8 * 1024;

/** Throws TypeError for paths that can't be answered. */
export function checkedRoutes(routes: unknown, outside: Outside): readonly OwnRoute[] {
  if (!Array.isArray(routes)) throw new TypeError("routes must be a list of { method, path, bodyBytes, answer }");
  return routes.map((route: OwnRoute) => {
    const { method, path, bodyBytes, isRefused, answer } = route ?? {};
    if (method !== "GET" && method !== "POST" && method !== "DELETE")
      throw new TypeError(`a route has the method ${String(method)}: write "GET", "POST" or "DELETE"`);
    if (typeof path !== "string" || !/^\/[\x21-\x7e]*$/.test(path) || /\*(?!$)/.test(path) || !/(^|[^*]|\/\*)$/.test(path))
      throw new TypeError(`a route has the path ${String(path)}: write one as "/v1/mine", or "/v1/mine/*" for all below it`);
    if (isProbePath(path))
      throw new TypeError(`the route ${path} is the router's own, which says whether it can serve: take another path`);
    if (!Number.isSafeInteger(bodyBytes) || bodyBytes < 0)
      throw new TypeError(`the route ${path} has no bodyBytes: write how long its body may be, 0 for no body`);
    if (typeof answer !== "function") throw new TypeError(`the route ${path} has no answer(run)`);
    return {
      method,
      path,
      bodyBytes,
      isRefused: isRefused === true,
      answer: (run) => outside.awaited("answer", () => answer.call(route, outside.run(run)), presentAnswer),
    };
  });
}

/** No replica has the path, so there must be an answer. */
function presentAnswer(found: unknown): Answer {
  const answer = checkedAnswer(found);
  if (answer === undefined) throw new TypeError("answer returned nothing, and no replica has this path");
  return answer;
}

/**
 * The answer with a copy of its bytes, because the feature may go on writing into its own. Throws TypeError for a value that is no answer.
 */
export function checkedAnswer(found: unknown): Answer | undefined {
  if (found === undefined) return undefined;
  ignoresPromise(found);
  const { status, headers, body } = (found ?? {}) as Partial<Answer>;
  if (typeof status !== "number" || !Number.isInteger(status) || status < 200 || status > 599)
    throw new TypeError(`answer has the status ${String(status)}: give one from 200 to 599`);
  if (typeof headers !== "object" || headers === null) throw new TypeError("answer has no headers: give an object, {} for none");
  if (typeof body !== "string" && !(body instanceof Uint8Array))
    throw new TypeError("answer has no body: give a string or bytes");
  if (BODILESS.has(status) && body.length > 0)
    throw new TypeError(`answer has a body, and a response of status ${status} has none`);
  return { status, headers: checkedHeaders(headers), body: typeof body === "string" ? body : bytesOf(body) };
}

/** RFC 9110, section 15. */
const BODILESS = new Set([204, 205, 304]);

/** They say where the response ends, or what becomes of its connection. */
const FRAMING = new Set(["connection", "content-length", "keep-alive", "trailer", "transfer-encoding", "upgrade"]);

function checkedHeaders(headers: Readonly<Record<string, unknown>>): Answer["headers"] {
  const checked: Record<string, string> = {};
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    checked[name] = checkedHeader(name, value);
    bytes += name.length + checked[name].length;
  }
  if (bytes > MOST_LINES_BYTES) throw new TypeError(`answer has headers of ${bytes} bytes: send ${MOST_LINES_BYTES} at most`);
  return checked;
}

/** The value of a header that a feature may write. Throws TypeError for a value that is none, and for the router's own headers. */
export function checkedHeader(name: string, value: unknown): string {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
    throw new TypeError(`${JSON.stringify(name.slice(0, 60))} is no header's name`);
  if (typeof value !== "string" || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
    throw new TypeError(`the header ${name} has a value with characters that no header may have`);
  if (FRAMING.has(name.toLowerCase())) throw new TypeError(`the header ${name} is the router's: leave it out`);
  return value;
}
