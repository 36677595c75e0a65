import fc from "fast-check";

// Header lines that are nearly right: each part is mostly correct, and sometimes one of its known wrong spellings.

/** One of the right spellings; one time in `weight` + 1, one of the wrong ones. */
export const often = (right: readonly string[], wrong: readonly string[], weight = 8) =>
  fc.oneof({ weight, arbitrary: fc.constantFrom(...right) }, { weight: 1, arbitrary: fc.constantFrom(...wrong) });

export const eol = often(["\r\n"], ["\n", "\r", "\r\r\n", " \r\n", "\r\n "], 60);
const blank = often([" ", ""], ["\t", "  ", "\t \t", "\v", "\f", "\xa0"], 10);

const token = fc.stringMatching(/^[a-zA-Z0-9!#$%&'*+.^_`|~-]{1,8}$/);
const text = fc.stringMatching(/^[\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]{0,10}[\x21-\x7e\x80-\xff])?$/);
const oddText = fc.constantFrom(
  "",
  " ",
  "a\0",
  "a\x7f",
  "a\x01",
  "a\vb",
  "a\fb",
  "a\x1fb",
  "a\r\n b",
  "a\r\n\tb",
  "a\rb",
  "a\nb",
  '"a',
  "\x80",
  "a,b, c",
  "\x1b[m",
);
const oddName = fc.constantFrom(
  "A B",
  "A ",
  "\tA",
  " A",
  "",
  "A\x80",
  "A(",
  "A\0",
  '"A"',
  "@",
  "A\t",
  "__proto__",
  "a_b",
  "A[]",
  "\xff",
);

export const named = (name: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
  fc
    .tuple(name, blank, value, blank, eol)
    .map(([field, before, content, after, end]) => `${field}:${before}${content}${after}${end}`);

export const host = named(
  often(["Host", "host"], ["Host ", "HOST", "H ost"]),
  often(["a", "a:80", "[::1]"], ["", "a b", "a,b", "a@b", "a/b", "b", "a:b", "a:80:80", "\x80", "[", "a%", "a%41", "a\\"]),
);
export const connection = named(
  fc.constantFrom("Connection", "connection", "Proxy-Connection"),
  often(
    ["keep-alive", "close", "Keep-Alive"],
    [
      "",
      ",",
      "close, x",
      "Upgrade",
      "upgrade, keep-alive",
      "content-length",
      "transfer-encoding",
      "host",
      "a b",
      "clos",
      "closed",
      "close,,a",
      "x;y",
      "close\t",
    ],
  ),
);
export const plain = fc.oneof(
  { weight: 8, arbitrary: named(token, text) },
  { weight: 1, arbitrary: named(token, oddText) },
  { weight: 1, arbitrary: named(oddName, text) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "Upgrade: x\r\n",
      "Trailer: a\r\n",
      "TE: trailers\r\n",
      "Keep-Alive: timeout=5\r\n",
      "A\r\n",
      "A:b\n",
      ":\r\n",
      "Content_Length: 5\r\n",
    ),
  },
);
