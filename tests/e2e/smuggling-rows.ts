/** One connection's bytes and what must come of them. */
export interface Row {
  readonly name: string;
  /** As latin1. */
  readonly sent: string;
  /** Status of each answer, in order. */
  readonly statuses: readonly number[];
  /** Body of each request that reaches the replica; for a single 200 the usual body. */
  readonly delivered?: readonly string[];
  /** The connection must not be used again. */
  readonly isClosed: boolean;
}

export const CHAT = "/v1/chat/completions";
export const BODY = '{"model":"m","messages":[]}';
const LENGTH = `Content-Length: ${BODY.length}`;
const JSON_LINES = "Host: test\r\nContent-Type: application/json\r\n";
const CHUNKS = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;

/** A POST to the chat path with these framing lines. */
const post = (lines: string, body: string, version = "1.1") =>
  `POST ${CHAT} HTTP/${version}\r\n${JSON_LINES}${lines}\r\n\r\n${body}`;
const withLength = (lines: string) => post(`${LENGTH}\r\n${lines}`, BODY);
const inChunks = (chunks: string, lines = "") => post(`Transfer-Encoding: chunked${lines}`, chunks);
const withHost = (host: string, target = CHAT) =>
  `POST ${target} HTTP/1.1\r\n${host}Content-Type: application/json\r\n${LENGTH}\r\n\r\n${BODY}`;
const headOnly = (line: string) => `${line}\r\n${JSON_LINES}\r\n`;

const refused = (name: string, sent: string, status = 400): Row => ({ name, sent, statuses: [status], isClosed: true });
const served = (name: string, sent: string): Row => ({ name, sent, statuses: [200], isClosed: false });
const answered = (name: string, sent: string, status: number): Row => ({ name, sent, statuses: [status], isClosed: false });

/** Content-Length in wrong spellings; tests/core/wire/framing.runtimes.test.ts has more of them. */
export const LENGTH_ROWS: readonly Row[] = [
  ...["+27", "0x1b", "27, 27", "\xd9\xa2\xd9\xa7", "", "\x0b27", "9007199254740992", "27\0"].map((value) =>
    refused(`Content-Length: ${JSON.stringify(value)}`.slice(0, 60), post(`Content-Length: ${value}`, BODY)),
  ),
  refused("the same length twice", post(`${LENGTH}\r\n${LENGTH}`, BODY)),
  refused("two lengths", post(`${LENGTH}\r\nContent-Length: 5`, BODY)),
  refused("two lengths in different case", post(`${LENGTH}\r\ncontent-length: 0`, BODY)),
  refused("a space before the colon", post(`Content-Length : ${BODY.length}`, BODY)),
  refused("a length folded over two lines", post(`Content-Length:\r\n ${BODY.length}`, BODY)),
  refused("a length that Connection names", withLength("Connection: Content-Length")),
  refused("a length below the limit of digits but above that of bytes", post("Content-Length: 9007199254740991", BODY), 413),
  served("leading zeros and blanks around", post(`Content-Length: \t 000${BODY.length} \t`, BODY)),
  served("another case", post(`cOnTeNt-LeNgTh:${BODY.length}`, BODY)),
  // No framing header at all, whatever a server makes of the underscore: the body is the next request, and is none.
  { name: "Content_Length", sent: post(`Content_Length: ${BODY.length}`, BODY), statuses: [400, 400], isClosed: true },
  { name: "no length", sent: post("A: b", BODY), statuses: [400, 400], isClosed: true },
];

/** Transfer-Encoding in wrong spellings, alone and beside a length; tests/core/wire/framing.runtimes.test.ts has more of them. */
export const CODING_ROWS: readonly Row[] = [
  ...[
    "xchunked",
    "chunked, chunked",
    "chunked, identity",
    "identity",
    "",
    "chunked\x0b",
    "chu\0nked",
    "chunked\r identity",
    "gzip",
  ].map((value) => refused(`Transfer-Encoding: ${JSON.stringify(value)}`, post(`Transfer-Encoding: ${value}`, CHUNKS))),
  ...["gzip, chunked", "identity, chunked", "x , chunked", "deflate,gzip,chunked"].map((value) =>
    refused(`Transfer-Encoding: ${JSON.stringify(value)}`, post(`Transfer-Encoding: ${value}`, CHUNKS), 501),
  ),
  refused("length, then coding", post(`${LENGTH}\r\nTransfer-Encoding: chunked`, CHUNKS)),
  refused("coding, then length", post(`Transfer-Encoding: chunked\r\n${LENGTH}`, CHUNKS)),
  refused("coding and length 0", post("Content-Length: 0\r\nTransfer-Encoding: chunked", CHUNKS)),
  refused("an unknown coding and a length", post(`${LENGTH}\r\nTransfer-Encoding: x`, BODY)),
  refused("identity and a length", post(`${LENGTH}\r\nTransfer-Encoding: identity`, BODY)),
  refused("the coding twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", CHUNKS)),
  refused("two codings", post("Transfer-Encoding: chunked\r\nTransfer-encoding: identity", CHUNKS)),
  refused("two codings, the wrong one first", post("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", CHUNKS), 501),
  refused("a space before the colon", post("Transfer-Encoding : chunked", CHUNKS)),
  refused("a tab before the colon", post("Transfer-Encoding\t: chunked", CHUNKS)),
  refused("a space before the name", post(" Transfer-Encoding: chunked", CHUNKS)),
  refused("a coding folded over two lines", post("Transfer-Encoding:\r\n chunked", CHUNKS)),
  refused("a coding behind a bare LF", post(`A: b\nTransfer-Encoding: chunked\r\n${LENGTH}`, BODY)),
  refused("a coding behind a bare CR", post(`A: b\rTransfer-Encoding: chunked\r\n${LENGTH}`, BODY)),
  refused("a coding that Connection names", inChunks(CHUNKS, "\r\nConnection: transfer-encoding")),
  refused("chunked in HTTP/1.0", post("Transfer-Encoding: chunked", CHUNKS, "1.0")),
  served("chunked", inChunks(CHUNKS)),
  served("another case and blanks around", post("tRANSFER-eNCODING:\t cHUNKED \t", CHUNKS)),
  served("Transfer_Encoding beside a length", withLength("Transfer_Encoding: chunked")),
  { name: "Transfer_Encoding alone", sent: post("Transfer_Encoding: chunked", CHUNKS), statuses: [400, 400], isClosed: true },
];

const bomb = (count: number, chunk: string) => inChunks(`${chunk.repeat(count)}0\r\n\r\n`);

/** Chunks, extensions and trailers; tests/core/wire/chunked.runtimes.test.ts has each wrong byte. */
export const CHUNK_ROWS: readonly Row[] = [
  ...[
    "1b \r\n",
    "0x1b\r\n",
    "-1b\r\n",
    "1b\n",
    "1b\r\r\n",
    "\r\n",
    "1b;\r\n",
    '1b;a="b\n"\r\n',
    "11111111111111111\r\n",
    `1b;${"a".repeat(17_000)}\r\n`,
  ].map((size) => refused(`a chunk of size ${JSON.stringify(size)}`.slice(0, 60), inChunks(`${size}${BODY}\r\n0\r\n\r\n`))),
  refused("data longer than its size", inChunks(`1a\r\n${BODY}\r\n0\r\n\r\n`)),
  refused("data shorter than its size", inChunks(`1c\r\n${BODY}\r\n0\r\n\r\n`)),
  refused("LF alone after the data", inChunks(`1b\r\n${BODY}\n0\r\n\r\n`)),
  refused("CR and another byte after the data", inChunks(`1b\r\n${BODY}\rX0\r\n\r\n`)),
  refused("extensions over many chunks", bomb(9000, "1;a\r\n \r\n")),
  refused("a quoted extension without end", inChunks(`1b;a="${"b".repeat(17_000)}`)),
  refused("trailers without end", inChunks(`1b\r\n${BODY}\r\n0\r\n${"A: b\r\n".repeat(4000)}\r\n`)),
  refused("one endless trailer", inChunks(`1b\r\n${BODY}\r\n0\r\nA: ${"b".repeat(17_000)}`)),
  refused("a trailer behind a bare LF", inChunks(`1b\r\n${BODY}\r\n0\r\nA: b\nContent-Length: 5\r\n\r\n`)),
  served("a few extensions", inChunks(`1b;a;b=c;d="e\\"f"\r\n${BODY}\r\n0;z\r\n\r\n`)),
  served(
    "trailers that would change the framing",
    inChunks(`1b\r\n${BODY}\r\n0\r\nContent-Length: 5\r\nTransfer-Encoding: x\r\nHost: evil\r\n\r\n`),
  ),
  served("leading zeros, upper case", inChunks(`00000000000001B\r\n${BODY}\r\n0000\r\n\r\n`)),
  served("one byte per chunk", bomb(1, BODY.replace(/[\s\S]/g, "1\r\n$&\r\n"))),
];

/** Lines, versions, methods, targets and hosts; the tables of tests/core/wire/ have each wrong byte. */
export const HEAD_ROWS: readonly Row[] = [
  refused("HTTP/0.9", `GET /health\r\n`),
  refused("HTTP/0.9 with headers", `GET /health\r\n${JSON_LINES}\r\n`),
  refused("HTTP/2.0", headOnly("GET /health HTTP/2.0"), 505),
  refused("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
  refused("http/1.1 in lower case", headOnly("GET /health http/1.1")),
  refused("two spaces", headOnly("GET  /health HTTP/1.1")),
  refused("a fragment in the target", headOnly("GET /health#x HTTP/1.1")),
  refused("a space before the method", headOnly(" GET /health HTTP/1.1")),
  refused("two empty lines first", `\r\n\r\n${headOnly("GET /health HTTP/1.1")}`),
  answered("one empty line first", `\r\n${headOnly("GET /health HTTP/1.1")}`, 200),
  refused("bare LF as line end", `GET /health HTTP/1.1\nHost: test\n\n`),
  refused("bare LF after the headers", `GET /health HTTP/1.1\r\nHost: test\r\n\n`),
  refused("CR in a value", withLength("A: b\rC: d")),
  refused("NUL in a value", withLength("A: b\0")),
  refused("obs-fold", withLength("A: b\r\n c")),
  refused("white space before the first header", `GET /health HTTP/1.1\r\n Host: test\r\n\r\n`),
  refused("a line without colon", withLength("A")),
  refused("a name with obs-text", withLength("\xc3\x80: b")),
  refused("a TLS greeting", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
  refused("a head of 33 KB", withLength(`A: ${"b".repeat(33 * 1024)}`), 431),
  refused("a target of 33 KB", headOnly(`GET /${"a".repeat(33 * 1024)} HTTP/1.1`), 431),
  refused("130 headers", withLength(Array.from({ length: 130 }, (_, n) => `A${n}: b`).join("\r\n")), 431),
  refused("two Content-Types", withLength("Content-Type: text/plain")),
  refused("the same Content-Type twice", withLength("content-type: application/json")),
  refused("no Host", withHost("")),
  refused("two Hosts", withHost("Host: test\r\nHost: evil\r\n")),
  refused("the same Host twice", withHost("Host: test\r\nhost: test\r\n")),
  ...["a b", "a@b", "a/b", "a?b", "a#b", "a:b", "a:80:80", "a:123456", "[::1", "a\\b", "a<b", "%zz", "a\xe9"].map((host) =>
    refused(`Host: ${host}`, withHost(`Host: ${host}\r\n`)),
  ),
  served("an address as Host", withHost("Host: [::1]:8080\r\n")),
  served("an empty Host", withHost("Host:\r\n")),
  served("an absolute target", withHost("Host: test\r\n", `http://test${CHAT}`)),
  served("an absolute target in capitals", withHost("Host: test\r\n", `HTTP://TEST${CHAT}`)),
  refused("an absolute target for another host", withHost("Host: test\r\n", `http://evil${CHAT}`)),
  refused("an absolute target for another port", withHost("Host: test\r\n", `http://test:81${CHAT}`)),
  refused("an absolute target with a user", withHost("Host: test\r\n", `http://a@test${CHAT}`)),
  refused("an absolute target without host", withHost("Host: test\r\n", `http://${CHAT}`)),
  ...["CONNECT test:80", "OPTIONS *", "GET *", "GET health", "GET ?x", "GET ftp://test/health", "GET //"].map((line) =>
    answered(line, headOnly(`${line} HTTP/1.1`), line === "GET //" ? 404 : 400),
  ),
  ...["GET", "PUT", "DELETE", "TRACE", "OPTIONS", "HEAD", "CONNECT", "post", "POSTS", "__proto__"].map((method) =>
    answered(`${method} on a POST path`, headOnly(`${method} ${CHAT} HTTP/1.1`), 405),
  ),
  ...[
    "/%76%31/chat/completions",
    "/v1/../v1/chat/completions",
    "//v1/chat/completions",
    `${CHAT}/`,
    `${CHAT};a`,
    "/V1/CHAT/COMPLETIONS",
  ].map((path) => answered(`the path ${path}`, withHost("Host: test\r\n", path), 404)),
];
