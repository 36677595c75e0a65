import fc from "fast-check";

// Messages of HTTP/1.1 that are nearly right: each part is mostly as it should be, and now and then one of its known wrong spellings.

const often = (right: readonly string[], wrong: readonly string[], weight = 8) =>
  fc.oneof({ weight, arbitrary: fc.constantFrom(...right) }, { weight: 1, arbitrary: fc.constantFrom(...wrong) });

const eol = often(["\r\n"], ["\n", "\r", "\r\r\n", " \r\n", "\r\n "], 60);
const blank = often([" ", ""], ["\t", "  ", "\t \t", "\v", "\f", "\xa0"], 10);

const method = often(
  ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "SEARCH", "M-SEARCH"],
  ["get", "FOO", "G(T", "CONNECT", "TRACE", "HEAD", "", "\r\nGET", "PRI", "GETGET", "SOURCE", "PO"],
);
const target = often(
  ["/", "/a", "/a/b?c=d", "/%41?x[]=1&y=(z)", "/~a;b=c:d@e!$'*,"],
  ["*", "http://a/", "http://a/b", "HTTP://a", "https://b/", "ftp://a/", "/a#b", '/"', "/|", "/\\", "/{}", "/^`", "/\x80", "/\x7f", "/a b", "a", "a:80", "//", "", "/\t", "?a"],
);
const version = often(["HTTP/1.1"], ["HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "http/1.1", "HTTP/1.1 ", "HTTP/11.1", "HTTP/1.", "HTTP/1.11", "ICE/1.0", "RTSP/1.0", ""], 20);
const status = often(
  ["200", "201", "404", "500", "204", "304", "100", "103"],
  ["101", "099", "600", "999", "20", "2000", "", "abc", "2 0", "199", "000"],
);
const reason = often([" OK", " "], ["", " \t", " \x80", " \x7f", " \0", "  OK", "OK", " O\rK"]);

const token = fc.stringMatching(/^[a-zA-Z0-9!#$%&'*+.^_`|~-]{1,8}$/);
const text = fc.stringMatching(/^[\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]{0,10}[\x21-\x7e\x80-\xff])?$/);
const oddText = fc.constantFrom("", " ", "a\0", "a\x7f", "a\x01", "a\vb", "a\fb", "a\x1fb", "a\r\n b", "a\r\n\tb", "a\rb", "a\nb", '"a', "\x80", "a,b, c", "\x1b[m");
const oddName = fc.constantFrom("A B", "A ", "\tA", " A", "", "A\x80", "A(", "A\0", '"A"', "@", "A\t", "__proto__", "a_b", "A[]", "\xff");

const named = (name: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
  fc.tuple(name, blank, value, blank, eol).map(([field, before, content, after, end]) => `${field}:${before}${content}${after}${end}`);

const host = named(often(["Host", "host"], ["Host ", "HOST", "H ost"]), often(["a", "a:80", "[::1]"], ["", "a b", "a,b", "a@b", "a/b", "b", "a:b", "a:80:80", "\x80", "[", "a%", "a%41", "a\\"]));
const connection = named(
  fc.constantFrom("Connection", "connection", "Proxy-Connection"),
  often(["keep-alive", "close", "Keep-Alive"], ["", ",", "close, x", "Upgrade", "upgrade, keep-alive", "content-length", "transfer-encoding", "host", "a b", "clos", "closed", "close,,a", "x;y", "close\t"]),
);
const plain = fc.oneof(
  { weight: 8, arbitrary: named(token, text) },
  { weight: 1, arbitrary: named(token, oddText) },
  { weight: 1, arbitrary: named(oddName, text) },
  { weight: 1, arbitrary: fc.constantFrom("Upgrade: x\r\n", "Trailer: a\r\n", "TE: trailers\r\n", "Keep-Alive: timeout=5\r\n", "A\r\n", "A:b\n", ":\r\n", "Content_Length: 5\r\n") },
);

const chunkSize = (length: number) => {
  const hex = length.toString(16);
  const wrong = [`${hex} `, ` ${hex}`, `0x${hex}`, `+${hex}`, `-${hex}`, "", "g", `${hex}\t`, `${hex}_`, "fffffffffffffffff", `${hex}0`, "\r\n"];
  return often([hex, hex.toUpperCase(), `0${hex}`], wrong, 20);
};
const extension = often(["", "", "", ";a", ";a=b", ';a="b c"', ";a;b"], [";", "; a", " ;a", ";a =b", ";a= b", ';a="b', ';a="\\"', ';a="\x01"', ";\x80", ";a=\x80", ';a="\x80"', ";a=", ";=a", ";a==b", ';a="b"c', ";\t", ";a\0", ";,"], 12);
const data = fc.stringMatching(/^[a-z\r\n0-9;: ]{1,12}$/);
const chunk = data.chain((content) =>
  fc.tuple(chunkSize(content.length), extension, eol, eol).map(([size, ext, end, after]) => `${size}${ext}${end}${content}${after}`),
);
const trailers = fc.oneof({ weight: 6, arbitrary: fc.constant("") }, { weight: 1, arbitrary: plain }, { weight: 1, arbitrary: fc.constant("Content-Length: 5\r\n") });
const chunks = fc
  .tuple(fc.array(chunk, { maxLength: 3 }), often(["0"], ["00", "000", "0 ", "0;a", "0;"], 20), eol, trailers, eol)
  .map(([list, last, end, trailer, finish]) => `${list.join("")}${last}${end}${trailer}${finish}`);

/** The framing headers and the body that goes with them, or nearly so. */
const framed = fc.oneof(
  { weight: 2, arbitrary: fc.constant(["", ""] as const) },
  {
    weight: 4,
    arbitrary: data.chain((content) => {
      const length = String(content.length);
      const wrong = [`+${length}`, `-${length}`, `0x${length}`, `${length},${length}`, `${length}, ${length}`, "", `${length} 1`, `${length};`, `${length}.0`, "99999999999999999999", `${length}_`, "a"];
      return named(often(["Content-Length", "content-length"], ["Content-Length ", "Content_Length", "Content-Length\t"], 20), often([length, `0${length}`], wrong, 6)).map((line) => [line, content] as const);
    }),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        named(often(["Transfer-Encoding", "transfer-encoding"], ["Transfer-Encoding ", "Transfer_Encoding", "Transfer-Encoding\t"], 20), often(["chunked", "Chunked"], ["xchunked", "chunked, chunked", "gzip, chunked", "chunked, gzip", "identity", "gzip", "", "chunked;q=1", "chunked,", ",chunked", '"chunked"', "chunked\v", "identity, chunked"], 6)),
        chunks,
      )
      .map(([line, body]) => [line, body] as const),
  },
  { weight: 1, arbitrary: data.map((content) => [`Content-Length: ${content.length}\r\nTransfer-Encoding: chunked\r\n`, content] as const) },
  { weight: 1, arbitrary: data.map((content) => [`Content-Length: ${content.length}\r\nContent-Length: ${content.length}\r\n`, content] as const) },
  { weight: 1, arbitrary: chunks.map((body) => ["Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", body] as const) },
);

const rest = (hosts: fc.Arbitrary<readonly string[]>) =>
  fc
    .tuple(eol, hosts, fc.array(plain, { maxLength: 3 }), fc.array(connection, { maxLength: 1 }), framed, eol)
    .map(([end, hostLines, others, connections, [framing, body], last]) => `${end}${[...hostLines, ...others, ...connections].join("")}${framing}${last}${body}`);

const hosts = fc.oneof(
  { weight: 15, arbitrary: host.map((line) => [line]) },
  { weight: 1, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.tuple(host, host).map((two) => [...two]) },
);

const requestMessage = fc.tuple(method, often([" "], ["  ", "\t", ""], 40), target, often([" "], ["  ", "\t", ""], 40), version, rest(hosts)).map((parts) => parts.join(""));
const responseMessage = fc.tuple(version, often([" "], ["  ", "\t", ""], 40), status, reason, rest(fc.constant([]))).map((parts) => parts.join(""));

/** Replaces, removes or inserts one byte. */
const edit = fc.record({ place: fc.nat(), how: fc.constantFrom("replace", "remove", "insert"), byte: fc.oneof(fc.constantFrom(..."\r\n\0 \t:;,=\"\\/09aHTcC\x7f\x80\v"), fc.nat({ max: 255 }).map((code) => String.fromCharCode(code))) });
const edits = fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(edit, { minLength: 1, maxLength: 2 }) });

function edited(message: string, list: readonly { readonly place: number; readonly how: string; readonly byte: string }[]): string {
  return list.reduce((before, { place, how, byte }) => {
    const at = place % (before.length + 1);
    return before.slice(0, at) + (how === "remove" ? "" : byte) + before.slice(how === "insert" ? at : at + 1);
  }, message);
}

/** A request, as latin1. */
export const requests: fc.Arbitrary<string> = fc.tuple(requestMessage, edits).map(([message, list]) => edited(message, list));

/** An answer, perhaps after an interim one, as latin1. */
export const responses: fc.Arbitrary<string> = fc
  .tuple(fc.oneof({ weight: 5, arbitrary: fc.constant("") }, { weight: 1, arbitrary: fc.constant("HTTP/1.1 100 Continue\r\n\r\n") }), responseMessage, edits)
  .map(([interim, message, list]) => interim + edited(message, list));
