import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HeaderDecoder } from "../../../../apps/epp/grpc/hpack.ts";

const decode = (decoder: HeaderDecoder, hex: string) => decoder.decode(Buffer.from(hex.replaceAll(" ", ""), "hex"));

describe("header blocks (RFC 7541, appendix C)", () => {
  it("C.4: requests with Huffman codes, which share a table", () => {
    const decoder = new HeaderDecoder(4096);
    const first = decode(decoder, "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff");
    assert.deepEqual(first, [
      [":method", "GET"],
      [":scheme", "http"],
      [":path", "/"],
      [":authority", "www.example.com"],
    ]);
    assert.deepEqual(decode(decoder, "8286 84be 5886 a8eb 1064 9cbf"), [...first, ["cache-control", "no-cache"]]);
    assert.deepEqual(decode(decoder, "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf"), [
      [":method", "GET"],
      [":scheme", "https"],
      [":path", "/index.html"],
      [":authority", "www.example.com"],
      ["custom-key", "custom-value"],
    ]);
  });

  it("C.2: literals that are put into no table", () => {
    const decoder = new HeaderDecoder(4096);
    assert.deepEqual(decode(decoder, "040c 2f73 616d 706c 652f 7061 7468"), [[":path", "/sample/path"]]);
    assert.deepEqual(decode(decoder, "1008 7061 7373 776f 7264 0673 6563 7265 74"), [["password", "secret"]]);
  });

  it("a table that shrinks forgets its oldest headers", () => {
    const decoder = new HeaderDecoder(4096);
    decode(decoder, "4001 6101 31 4001 6201 32");
    assert.deepEqual(decode(decoder, "3f05 be"), [["b", "2"]]);
    assert.throws(() => decode(decoder, "bf"), /stands for nothing/);
  });

  it("a table keeps to its size, however much is put into it", () => {
    const decoder = new HeaderDecoder(4096);
    // 32 bytes for the entry, 1 for its name, 95 for its value: 32 of them fill a table.
    const header = Buffer.concat([Buffer.from([0x40, 1, 0x61, 95]), Buffer.alloc(95, 0x62)]);
    for (let i = 0; i < 10_000; i++) decoder.decode(header);
    assert.deepEqual(decode(decoder, (0x80 + 61 + 32).toString(16)), [["a", "b".repeat(95)]]);
    assert.throws(() => decode(decoder, (0x80 + 61 + 33).toString(16)), /stands for nothing/);
  });

  for (const [name, hex] of [
    ["an index that stands for nothing", "ff 00"],
    ["index 0", "80"],
    ["a cut literal", "40 05 61"],
    ["a cut number", "7f ff"],
    ["an endless number", "7f ff ff ff ff ff ff ff ff ff 01"],
    ["a number that overflows", `3f ${"80".repeat(400)} 01`],
    ["a number with zeros without need", "7f 80 80 80 80 00"],
    ["a table that changes its size in the middle of a block", "82 20"],
    ["Huffman padding of zeros", "00 01 61 81 00"],
    ["the Huffman code of the end", "00 01 61 84 ff ff ff ff"],
    ["a table that is larger than allowed", "3f e2 1f"],
  ] as const) {
    it(`refuses ${name}`, () => {
      assert.throws(() => decode(new HeaderDecoder(4096), hex), { code: 9 });
    });
  }

  it("refuses a list that grows beyond the limit from few bytes", () => {
    const long = `40 01 61 7f ${"a0 01".replaceAll(" ", "")} ${"61".repeat(287)}`;
    const decoder = new HeaderDecoder(4096);
    decode(decoder, long);
    assert.throws(() => decode(decoder, "be".repeat(40)), { code: 11 });
  });
});
