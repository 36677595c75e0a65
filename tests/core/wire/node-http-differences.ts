import { METHODS } from "node:http";

/**
 * A class of messages on which our codec and `node:http` differ, and why ours is right: one of them refuses the message and the other
 * does not, or both read it differently ("nobody" refuses it).
 */
export interface Difference {
  readonly name: string;
  readonly why: string;
  readonly refusedBy: "us" | "node" | "nobody";
  /** Such a message, as latin1. If "nobody" refuses it, one of them may still refuse what follows it. */
  readonly example: string;
  /** The first major version of Node that does not differ. */
  readonly goneIn?: number;
  /** Whether a message is of this class. `text` is all that was sent, `disputed` what is left of it from the first difference on. */
  readonly isIn: (text: string, disputed: string) => boolean;
}

/** The start line, without empty lines before it. */
const startLine = (text: string) => /^[\r\n]*([^\r\n]*)/.exec(text)![1]!;
const methodOf = (text: string) => /^[^ ]*/.exec(startLine(text))![0];
const targetOf = (text: string) => /^[^ ]* +([^ ]*)/.exec(startLine(text))?.[1] ?? "";
/** Values of the headers with this name, in any case, with the white space around them. */
const valuesOf = (text: string, name: string) =>
  [...text.matchAll(new RegExp(`\\n${name}:([^\\r\\n]*)`, "gi"))].map(([, value]) => value!);
const hasHeader = (text: string, name: string, value: RegExp) => valuesOf(text, name).some((found) => value.test(found));

const HOST = /^[ \t]*((?:\[[0-9a-f:.]+\]|(?:[a-z0-9._~!$&'()*+,;=-]|%[0-9a-f]{2})+)(?::[0-9]{0,5})?)?[ \t]*$/i;
const OPTIONS = /^[ \t]*([!#$%&'*+.^_`|~0-9a-z-]*[ \t]*(,[ \t]*|$))*$/i;
const END_TO_END =
  /(^|[ \t,])(host|content-length|transfer-encoding|content-type|content-encoding|authorization|x-api-key|cache-control|cookie|expect)([ \t,]|$)/i;
const EXTENDED_SIZE =
  /^[0-9a-f]+(;[!#$%&'*+.^_`|~0-9a-z-]+(=([!#$%&'*+.^_`|~0-9a-z-]+|"([\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)*$/i;
const KNOWN_METHODS = METHODS.filter((method) => !["CONNECT", "SOURCE"].includes(method));

export const REQUEST_DIFFERENCES: readonly Difference[] = [
  {
    name: "methods",
    why: "any token is a method (RFC 9110 9.1), and the router responds with 405; node:http knows a list, and takes CONNECT for a tunnel",
    refusedBy: "node",
    example: "FOO / HTTP/1.1\r\nHost: a\r\n\r\n",
    isIn: (_text, disputed) => !KNOWN_METHODS.includes(methodOf(disputed)),
  },
  {
    name: "targets of no form",
    why: "the grammar of a head knows characters; the router's path check responds with 400 to what is no path",
    refusedBy: "node",
    example: "GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
    isIn: (text) => !/^(\/|\*|[a-z]+:\/\/)/i.test(targetOf(text)),
  },
  {
    name: "tabs after a length",
    why: "RFC 9112 5: white space around a value is spaces and tabs; llhttp took only spaces",
    refusedBy: "node",
    example: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\t\r\n\r\na",
    goneIn: 24,
    isIn: (text) => hasHeader(text, "content-length", /\t *$/),
  },
  {
    name: "tabs after chunked",
    why: "RFC 9112 5, the same; llhttp takes it for an unknown coding",
    refusedBy: "node",
    example: "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n",
    isIn: (text) => hasHeader(text, "transfer-encoding", /\t *$/),
  },
  {
    name: "framing headers in trailers",
    why: "RFC 9110 6.5.1: we drop all trailers, and none is ever taken for a header",
    refusedBy: "node",
    example: "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n",
    isIn: (text) => hasHeader(text.slice(text.indexOf("\r\n\r\n")), "(?:content-length|transfer-encoding)", /^/),
  },
  {
    name: "Proxy-Connection",
    why: "never registered, means nothing here, is not passed on; llhttp reads it as Connection",
    refusedBy: "node",
    example: "GET / HTTP/1.1\r\nHost: a\r\nProxy-Connection: close\r\n\r\n",
    isIn: (text) => hasHeader(text, "proxy-connection", /close/i),
  },
  {
    name: "Proxy-Connection in HTTP/1.0",
    why: "the same, the other way round: we close after HTTP/1.0",
    refusedBy: "us",
    example: "GET / HTTP/1.0\r\nHost: a\r\nProxy-Connection: keep-alive\r\n\r\n",
    isIn: (text) => hasHeader(text, "proxy-connection", /keep-alive/i) && startLine(text).endsWith("HTTP/1.0"),
  },
  {
    name: "tabs after keep-alive",
    why: "RFC 9112 5, as above: we keep the connection, llhttp does not see the option",
    refusedBy: "node",
    example: "GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\t\r\n\r\n",
    goneIn: 24,
    isIn: (text) => hasHeader(text, "connection", /keep-alive[ \t]*\t/i),
  },
  {
    name: "tabs after close",
    why: "RFC 9112 5, as above: we close, llhttp does not see the option",
    refusedBy: "us",
    example: "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\t\r\nContent-Length: 1\r\n\r\na",
    goneIn: 24,
    isIn: (text) => hasHeader(text, "connection", /close[ \t]*\t/i),
  },
  {
    name: "line ends before a request",
    why: "RFC 9112 2.2 lets one empty line pass; llhttp takes any CR and LF",
    refusedBy: "us",
    example: "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    isIn: (_text, disputed) => /^[\r\n]/.test(disputed),
  },
  {
    name: "characters of targets",
    why: "RFC 9112 3.2 takes RFC 3986 without fragment: no quotes, backslashes, bars, braces, carets",
    refusedBy: "us",
    example: 'GET /"a"#b HTTP/1.1\r\nHost: a\r\n\r\n',
    isIn: (text) => /["#<>\\^`{|}]/.test(targetOf(text)),
  },
  {
    name: "spaces in the request line",
    why: "RFC 9112 3: one space; RFC 9112 3 lets lenient parsers split on white space, and that is how requests are smuggled",
    refusedBy: "us",
    example: "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
    isIn: (text) => startLine(text).includes("  "),
  },
  {
    name: "no version",
    why: "HTTP/0.9 with headers is not HTTP",
    refusedBy: "us",
    example: "GET /HTTP/1.1\r\nHost: a\r\n\r\n",
    isIn: (text) => !/ [A-Z]+\/\d\.\d *$/.test(startLine(text)),
  },
  {
    name: "other protocols and versions",
    why: "only HTTP/1.0 and HTTP/1.1 are spoken here: 505; llhttp knows 0.9, 2.0, RTSP and ICE",
    refusedBy: "us",
    example: "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
    isIn: (text) => !/ HTTP\/1\.[01] *$/.test(startLine(text)),
  },
  {
    name: "hosts",
    why: "RFC 9112 3.2: 400 for a Host that is repeated or no host; node:http only asks that there is one",
    refusedBy: "us",
    example: "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    isIn: (text) => {
      const hosts = valuesOf(text, "host");
      return hosts.length > 1 || hosts.some((host) => !HOST.test(host));
    },
  },
  {
    name: "hosts beside absolute targets",
    why: "a target that names another host than Host is an attack or a mistake",
    refusedBy: "us",
    example: "GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n",
    isIn: (text) => /^https?:/i.test(targetOf(text)),
  },
  {
    name: "upgrades",
    why: "nothing is upgraded here and the headers are dropped; node:http stops reading, though nobody listens for an upgrade",
    refusedBy: "nobody",
    example: "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
    isIn: (text) => hasHeader(text, "(?:proxy-)?connection", /upgrade/i) && valuesOf(text, "upgrade").length > 0,
  },
  {
    name: "connection options",
    why: "RFC 9110 7.6.1: a list of tokens; and who lets Connection name a header that must arrive can have it removed on the way",
    refusedBy: "us",
    example: "GET / HTTP/1.1\r\nHost: a\r\nConnection: host\r\n\r\n",
    isIn: (text) =>
      hasHeader(text, "connection", END_TO_END) || valuesOf(text, "connection").some((value) => !OPTIONS.test(value)),
  },
  {
    name: "codings",
    why: "we undo chunked alone, spelled once: 501 for others before it, 400 for anything else",
    refusedBy: "us",
    example: "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    isIn: (text) =>
      valuesOf(text, "transfer-encoding").length > 1 || hasHeader(text, "transfer-encoding", /^(?![ \t]*chunked[ \t]*$)/i),
  },
  {
    name: "chunk extensions",
    why: "RFC 9112 7.1.1: a name, and a value where there is an equals sign; llhttp lets either be empty",
    refusedBy: "us",
    example: "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;=b\r\na\r\n0\r\n\r\n",
    isIn: (text) => text.split("\r\n").some((line) => /^[0-9a-f]+;/i.test(line) && !EXTENDED_SIZE.test(line)),
  },
  {
    name: "lengths beyond 2^53",
    why: "no body is that long, and numbers here are exact only up to there",
    refusedBy: "us",
    example: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9007199254740992\r\n\r\n",
    isIn: (text) => hasHeader(text, "content-length", /^ *\d{16,} *$/) || /\n[0-9a-f]{14,16}[;\r]/i.test(text),
  },
  {
    name: "chunks in HTTP/1.0",
    why: "RFC 9112 6.1: faulty framing, whoever is between may not know chunks",
    refusedBy: "us",
    example: "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    isIn: (text) => startLine(text).endsWith("HTTP/1.0") && valuesOf(text, "transfer-encoding").length > 0,
  },
];

/** The status line of the response, without an interim one before it. */
const statusLine = (text: string) => /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?([^\r\n]*)/.exec(text)![1]!;

/** The differences in requests that apply to responses too, each with an example made from a response. */
const SHARED = [
  ["connection options", "Connection: host\r\nContent-Length: 0\r\n\r\n"],
  ["codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  ["chunk extensions", "Transfer-Encoding: chunked\r\n\r\n1;=b\r\na\r\n0\r\n\r\n"],
  ["framing headers in trailers", "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n"],
  ["tabs after a length", "Content-Length: 1\t\r\n\r\na"],
] as const;

export const RESPONSE_DIFFERENCES: readonly Difference[] = [
  ...SHARED.map(([shared, lines]) => {
    const row = REQUEST_DIFFERENCES.find(({ name }) => name === shared)!;
    return { ...row, example: `HTTP/1.1 200 OK\r\n${lines}` };
  }),
  {
    name: "tabs after chunked",
    why: "RFC 9112 5, as in requests: llhttp takes it for an unknown coding, and passes the chunks on as data up to the connection's end",
    refusedBy: "nobody",
    example: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n",
    isIn: (text) => hasHeader(text, "transfer-encoding", /\t *$/),
  },
  {
    name: "chunks in HTTP/1.0",
    why: "RFC 9112 6.1, as in requests",
    refusedBy: "us",
    example: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    isIn: (text) => statusLine(text).startsWith("HTTP/1.0") && valuesOf(text, "transfer-encoding").length > 0,
  },
  {
    name: "statuses",
    why: "RFC 9110 15: from 100 to 599",
    refusedBy: "us",
    example: "HTTP/1.1 600 OK\r\nContent-Length: 0\r\n\r\n",
    isIn: (text) => !/^\S+ +[1-5]\d\d/.test(statusLine(text)),
  },
  {
    name: "101",
    why: "RFC 9110 7.8: we never ask for another protocol",
    refusedBy: "us",
    example: "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    isIn: (text) => / 101/.test(statusLine(text)),
  },
  {
    name: "bodies of responses that have none",
    why: "RFC 9110 8.6, RFC 9112 6.1: a server that frames a 1xx or 204 may send a body too, and that would be taken for the next response",
    refusedBy: "us",
    example: "HTTP/1.1 204 No Content\r\nContent-Length: 1\r\n\r\n",
    isIn: (text) => / (204|1\d\d)/.test(statusLine(text)) && valuesOf(text, "(?:content-length|transfer-encoding)").length > 0,
  },
  {
    name: "other protocols and versions",
    why: "only HTTP/1.0 and HTTP/1.1 are spoken here, as in requests",
    refusedBy: "us",
    example: "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    isIn: (text) => !/^HTTP\/1\.[01] /.test(statusLine(text)),
  },
  {
    name: "lengths beyond 2^53",
    why: "as in requests, also where the length frames nothing",
    refusedBy: "us",
    example: "HTTP/1.1 304 Not Modified\r\nContent-Length: 9007199254740992\r\n\r\n",
    isIn: (text) => hasHeader(text, "content-length", /^ *\d{16,} *$/),
  },
  {
    name: "bare CR after a reason",
    why: "RFC 9112 2.2: lines end with CRLF",
    refusedBy: "us",
    example: "HTTP/1.1 500 \r\rA: b\r\nContent-Length: 0\r\n\r\n",
    goneIn: 24,
    isIn: (text) => /^[^\n]*\r[^\n]/.test(text.replace("HTTP/1.1 100 Continue\r\n\r\n", "")),
  },
  {
    name: "control characters in reasons",
    why: "RFC 9112 4: a reason has the characters of a header value",
    refusedBy: "us",
    example: "HTTP/1.1 200 O\x7fK\r\nContent-Length: 0\r\n\r\n",
    isIn: (text) => /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(statusLine(text)),
  },
];
