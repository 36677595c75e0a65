import fc from "fast-check";
import { eol, named, often, plain } from "./generated-lines.ts";

const chunkSize = (length: number) => {
  const hex = length.toString(16);
  const wrong = [
    `${hex} `,
    ` ${hex}`,
    `0x${hex}`,
    `+${hex}`,
    `-${hex}`,
    "",
    "g",
    `${hex}\t`,
    `${hex}_`,
    "fffffffffffffffff",
    `${hex}0`,
    "\r\n",
  ];
  return often([hex, hex.toUpperCase(), `0${hex}`], wrong, 20);
};
const extension = often(
  ["", "", "", ";a", ";a=b", ';a="b c"', ";a;b"],
  [
    ";",
    "; a",
    " ;a",
    ";a =b",
    ";a= b",
    ';a="b',
    ';a="\\"',
    ';a="\x01"',
    ";\x80",
    ";a=\x80",
    ';a="\x80"',
    ";a=",
    ";=a",
    ";a==b",
    ';a="b"c',
    ";\t",
    ";a\0",
    ";,",
  ],
  12,
);
const data = fc.stringMatching(/^[a-z\r\n0-9;: ]{1,12}$/);
const chunk = data.chain((content) =>
  fc
    .tuple(chunkSize(content.length), extension, eol, eol)
    .map(([size, ext, end, after]) => `${size}${ext}${end}${content}${after}`),
);
const trailers = fc.oneof(
  { weight: 6, arbitrary: fc.constant("") },
  { weight: 1, arbitrary: plain },
  { weight: 1, arbitrary: fc.constant("Content-Length: 5\r\n") },
);
const chunks = fc
  .tuple(fc.array(chunk, { maxLength: 3 }), often(["0"], ["00", "000", "0 ", "0;a", "0;"], 20), eol, trailers, eol)
  .map(([list, last, end, trailer, finish]) => `${list.join("")}${last}${end}${trailer}${finish}`);

/** Framing headers and a body that fits them, or nearly does. */
export const framed = fc.oneof(
  { weight: 2, arbitrary: fc.constant(["", ""] as const) },
  {
    weight: 4,
    arbitrary: data.chain((content) => {
      const length = String(content.length);
      const wrong = [
        `+${length}`,
        `-${length}`,
        `0x${length}`,
        `${length},${length}`,
        `${length}, ${length}`,
        "",
        `${length} 1`,
        `${length};`,
        `${length}.0`,
        "99999999999999999999",
        `${length}_`,
        "a",
      ];
      return named(
        often(["Content-Length", "content-length"], ["Content-Length ", "Content_Length", "Content-Length\t"], 20),
        often([length, `0${length}`], wrong, 6),
      ).map((line) => [line, content] as const);
    }),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        named(
          often(
            ["Transfer-Encoding", "transfer-encoding"],
            ["Transfer-Encoding ", "Transfer_Encoding", "Transfer-Encoding\t"],
            20,
          ),
          often(
            ["chunked", "Chunked"],
            [
              "xchunked",
              "chunked, chunked",
              "gzip, chunked",
              "chunked, gzip",
              "identity",
              "gzip",
              "",
              "chunked;q=1",
              "chunked,",
              ",chunked",
              '"chunked"',
              "chunked\v",
              "identity, chunked",
            ],
            6,
          ),
        ),
        chunks,
      )
      .map(([line, body]) => [line, body] as const),
  },
  {
    weight: 1,
    arbitrary: data.map((content) => [`Content-Length: ${content.length}\r\nTransfer-Encoding: chunked\r\n`, content] as const),
  },
  {
    weight: 1,
    arbitrary: data.map(
      (content) => [`Content-Length: ${content.length}\r\nContent-Length: ${content.length}\r\n`, content] as const,
    ),
  },
  { weight: 1, arbitrary: chunks.map((body) => ["Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", body] as const) },
);
