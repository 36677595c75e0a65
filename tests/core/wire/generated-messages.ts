import fc from "fast-check";
import { framed } from "./generated-bodies.ts";
import { connection, eol, host, often, plain } from "./generated-lines.ts";

// Messages of HTTP/1.1 that are nearly right.

const method = often(
  ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "SEARCH", "M-SEARCH"],
  ["get", "FOO", "G(T", "CONNECT", "TRACE", "HEAD", "", "\r\nGET", "PRI", "GETGET", "SOURCE", "PO"],
);
const target = often(
  ["/", "/a", "/a/b?c=d", "/%41?x[]=1&y=(z)", "/~a;b=c:d@e!$'*,"],
  [
    "*",
    "http://a/",
    "http://a/b",
    "HTTP://a",
    "https://b/",
    "ftp://a/",
    "/a#b",
    '/"',
    "/|",
    "/\\",
    "/{}",
    "/^`",
    "/\x80",
    "/\x7f",
    "/a b",
    "a",
    "a:80",
    "//",
    "",
    "/\t",
    "?a",
  ],
);
const version = often(
  ["HTTP/1.1"],
  [
    "HTTP/1.0",
    "HTTP/1.2",
    "HTTP/2.0",
    "HTTP/0.9",
    "http/1.1",
    "HTTP/1.1 ",
    "HTTP/11.1",
    "HTTP/1.",
    "HTTP/1.11",
    "ICE/1.0",
    "RTSP/1.0",
    "",
  ],
  20,
);
const status = often(
  ["200", "201", "404", "500", "204", "304", "100", "103"],
  ["101", "099", "600", "999", "20", "2000", "", "abc", "2 0", "199", "000"],
);
const reason = often([" OK", " "], ["", " \t", " \x80", " \x7f", " \0", "  OK", "OK", " O\rK"]);

const rest = (hosts: fc.Arbitrary<readonly string[]>) =>
  fc
    .tuple(eol, hosts, fc.array(plain, { maxLength: 3 }), fc.array(connection, { maxLength: 1 }), framed, eol)
    .map(
      ([end, hostLines, others, connections, [framing, body], last]) =>
        `${end}${[...hostLines, ...others, ...connections].join("")}${framing}${last}${body}`,
    );

const hosts = fc.oneof(
  { weight: 15, arbitrary: host.map((line) => [line]) },
  { weight: 1, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.tuple(host, host).map((two) => [...two]) },
);

const requestMessage = fc
  .tuple(method, often([" "], ["  ", "\t", ""], 40), target, often([" "], ["  ", "\t", ""], 40), version, rest(hosts))
  .map((parts) => parts.join(""));
const responseMessage = fc
  .tuple(version, often([" "], ["  ", "\t", ""], 40), status, reason, rest(fc.constant([])))
  .map((parts) => parts.join(""));

/** Replaces, removes or inserts one byte. */
const edit = fc.record({
  place: fc.nat(),
  how: fc.constantFrom("replace", "remove", "insert"),
  byte: fc.oneof(
    fc.constantFrom(...'\r\n\0 \t:;,="\\/09aHTcC\x7f\x80\v'),
    fc.nat({ max: 255 }).map((code) => String.fromCharCode(code)),
  ),
});
const edits = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.array(edit, { minLength: 1, maxLength: 2 }) },
);

function edited(
  message: string,
  list: readonly { readonly place: number; readonly how: string; readonly byte: string }[],
): string {
  return list.reduce((before, { place, how, byte }) => {
    const at = place % (before.length + 1);
    return before.slice(0, at) + (how === "remove" ? "" : byte) + before.slice(how === "insert" ? at : at + 1);
  }, message);
}

/** A request, as latin1. */
export const requests: fc.Arbitrary<string> = fc.tuple(requestMessage, edits).map(([message, list]) => edited(message, list));

/** A response, perhaps after an interim one, as latin1. */
export const responses: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof({ weight: 5, arbitrary: fc.constant("") }, { weight: 1, arbitrary: fc.constant("HTTP/1.1 100 Continue\r\n\r\n") }),
    responseMessage,
    edits,
  )
  .map(([interim, message, list]) => interim + edited(message, list));
