import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type EventWriter, MOST_HELD_BYTES, WholeEvents } from "../../../core/stream/whole-events.ts";
import { ChunkedDecoder } from "../../../core/wire/chunked.ts";

/** The client's end of a chunked response. */
class Client implements EventWriter {
  hasRoom = true;
  wire = "";
  /** One entry for each write: "verbatim" or the bytes. */
  readonly writes: string[] = [];

  write(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number, isVerbatim: boolean): boolean {
    let text = "";
    for (let i = 0; i < spanCount; i++) text += latin1(chunk.subarray(spans[2 * i], spans[2 * i + 1]));
    this.writes.push(isVerbatim ? "verbatim" : text);
    if (isVerbatim) this.wire += latin1(chunk);
    else if (text !== "") this.wire += framed([text]);
    return this.hasRoom;
  }

  end(isVerbatimEnd: boolean): void {
    if (!isVerbatimEnd) this.wire += "0\r\n\r\n";
  }

  /** What has come; throws if that is no chunked framing. */
  get body(): string {
    const bytes = Buffer.from(this.wire, "latin1");
    const decoder = new ChunkedDecoder("response");
    decoder.push(bytes, 0);
    const { spans, spanCount } = decoder;
    return Array.from({ length: spanCount }, (_, i) => latin1(bytes.subarray(spans[2 * i], spans[2 * i + 1]))).join("");
  }
}

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
const framed = (pieces: readonly string[]) => pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join("");

function begin() {
  const client = new Client();
  const events = new WholeEvents(0, client);
  const memory = Buffer.alloc(8 * MOST_HELD_BYTES);
  const decoder = new ChunkedDecoder("response");
  /** One read of the replica's chunks; all reads share their memory. Returns what `write` does. */
  const read = (wire: string): boolean => {
    const chunk = memory.subarray(0, memory.write(wire, "latin1"));
    decoder.push(chunk, 0);
    events.stream.read(chunk, decoder.spans, decoder.spanCount);
    return events.write(chunk, decoder.spans, decoder.spanCount, decoder.isVerbatim);
  };
  return { client, events, read };
}

const LONG = `data: ${"x".repeat(MOST_HELD_BYTES)}`;

describe("what is passed on of each read", () => {
  const cases: readonly (readonly [name: string, reads: readonly (readonly [wire: string, writes: readonly string[]])[]])[] = [
    [
      "lines that no empty line ends: after eight of them, as they come",
      [
        [framed(["data: 1\n".repeat(8)]), []],
        [framed(["data: 9\n"]), ["data: 1\n".repeat(8), "verbatim"]],
        [framed(["data: 10\n"]), ["verbatim"]],
      ],
    ],
    [
      "whole events: as they came",
      [
        [framed(["data: 1\n\n"]), ["verbatim"]],
        [framed(["data: 2\n\n", ": a\n"]), ["verbatim"]],
      ],
    ],
    [
      "a cut event: nothing, then all of it, and what follows as it came",
      [
        [framed(["data: 1\n"]), []],
        [framed(["\n", "data: 2\n\n"]), ["data: 1\n", "verbatim"]],
      ],
    ],
    [
      "whole events and a cut one",
      [
        [framed(["data: 1\n\n", "data: 2\n\nda", "ta", ": 3"]), ["data: 1\n\ndata: 2\n\n"]],
        [framed(["\n\n"]), ["data: 3", "verbatim"]],
      ],
    ],
    [
      "an event that ends and one that is cut",
      [
        [framed(["da"]), []],
        [framed(["ta: 1\n\nda"]), ["da", "ta: 1\n\n"]],
      ],
    ],
    [
      "a chunk that the read cuts",
      [
        ["12\r\ndata: 1\n\n", ["data: 1\n\n"]],
        ["data: 2\n\n\r\n", ["data: 2\n\n"]],
      ],
    ],
    [
      "CRLF, cut between CR and LF",
      [
        [framed(["data: 1\r\n\r"]), []],
        [framed(["\ndata: 2\r"]), ["data: 1\r\n\r", "\n"]],
        [framed(["\n\r\n"]), ["data: 2\r", "verbatim"]],
      ],
    ],
    ["lines that end with CR", [[framed(["data: 1\r\rdata: 2\r\r"]), ["verbatim"]]]],
    [
      "an event that is too long to wait: as it comes, until it ends",
      [
        [framed([LONG.slice(0, -9)]), []],
        [framed(["123456789"]), [LONG.slice(0, -9), "verbatim"]],
        [framed(["a"]), ["verbatim"]],
        [framed(["\n\ndata"]), ["\n\n"]],
        [framed([": 2\n\n"]), ["data", "verbatim"]],
      ],
    ],
  ];
  for (const [name, reads] of cases) {
    it(name, () => {
      const { client, read } = begin();
      for (const [wire, writes] of reads) {
        const before = client.writes.length;
        read(wire);
        assert.deepEqual(client.writes.slice(before), writes);
      }
    });
  }

  const ends: readonly (readonly [name: string, wire: string, isVerbatimEnd: boolean])[] = [
    ["with its last event", `${framed(["data: 1\n"])}0\r\n\r\n`, true],
    ["with its last event, whole", `${framed(["data: 1\n\n"])}0\r\n\r\n`, true],
    ["later", framed(["data: 1"]), false],
  ];
  for (const [name, wire, isVerbatimEnd] of ends) {
    it(`a response that ends ${name}: all of it, and one end`, () => {
      const { client, events, read } = begin();
      read(wire);
      events.end(isVerbatimEnd);
      assert.equal(client.wire, `${framed([client.body])}0\r\n\r\n`);
      assert.ok(wire.startsWith(framed([client.body])));
    });
  }

  it("a response whose end comes alone", () => {
    const { client, events, read } = begin();
    read(framed(["data: 1\n\n"]));
    read("0\r\n\r\n");
    events.end(true);
    assert.equal(client.wire, `${framed(["data: 1\n\n"])}0\r\n\r\n`);
  });
});

describe("whether the client is between two events", () => {
  it("it is, whatever is held; but not inside an event that is too long", () => {
    const { events, read } = begin();
    const states = [": a", "\ndata: 1", "\n\n", LONG, "x", "\n", "\nda"].map((piece) => {
      read(framed([piece]));
      return events.isBetween;
    });
    assert.deepEqual(states, [true, true, true, false, false, false, true]);
  });
});

describe("a client that takes no more", () => {
  it("is told of with each write, and loses nothing", () => {
    const { client, read } = begin();
    client.hasRoom = false;
    assert.deepEqual([read(framed(["data: "])), read(framed(["1\n\ndata"])), read(framed([": 2\n\n"]))], [true, false, false]);
    assert.equal(client.body, "data: 1\n\ndata: 2\n\n");
  });
});
