import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type ResponseListener, StreamReader, WholeReader } from "../../../../plugins/features/conversations/response-reader.ts";

/** What a reader says, one word for each call. */
function listening() {
  const told: string[] = [];
  const listener: ResponseListener = {
    answered: ({ id, output }) => told.push(`${id} ${Buffer.from(output.items).toString()}`),
    wasTooLong: (id) => told.push(`too long ${id}`),
    wasUnreadable: () => told.push("unreadable"),
    hasFailed: () => told.push("failed"),
  };
  return { told, listener };
}

/** Grants so many bytes; what is taken is given back in the end. */
function room(most = Number.POSITIVE_INFINITY) {
  const taken = { bytes: 0 };
  const mayGrow = (bytes: number) => {
    if (taken.bytes + bytes > most) return false;
    taken.bytes += bytes;
    return true;
  };
  return { taken, mayGrow };
}

const response = (id: string, output: string, status = "completed") => `{"id":"${id}","status":"${status}","output":${output}}`;
const event = (type: string, rest: string) => `event: ${type}\ndata: {${rest},"type":"${type}"}\n\n`;
const created = event("response.created", `"response":${response("resp_1", "[]", "in_progress")}`);
const done = (output: string, type = "completed") =>
  event(`response.${type}`, `"sequence_number":9,"response":${response("resp_1", output, type)}`);
const DELTA = event("response.output_text.delta", '"delta":"\\"response\\":{"');

/** Passes the text in reads of several spans, with framing between them that must not be read. */
function pass(reader: StreamReader | WholeReader, text: string, cuts: readonly number[], isWhole = true): void {
  const body = Buffer.from(text);
  const places = [...new Set([0, ...cuts.map((cut) => cut % body.length), body.length])].sort((a, b) => a - b);
  const pieces = places.slice(1).map((end, index) => body.subarray(places[index], end));
  for (let at = 0; at < pieces.length; at += 3) {
    const chunk: Buffer[] = [];
    const spans: number[] = [];
    let length = 0;
    for (const piece of pieces.slice(at, at + 3)) {
      const framing = Buffer.from('\r\n1f\r\n"response"\n');
      chunk.push(framing, piece);
      spans.push(length + framing.length, length + framing.length + piece.length);
      length += framing.length + piece.length;
    }
    const bytes = Buffer.concat(chunk);
    reader.read(bytes, spans, spans.length / 2);
    bytes.fill(0);
  }
  reader.end(isWhole);
}

describe("the reader of a stream", () => {
  const read = (text: string, cuts: readonly number[] = [], isWhole = true) => {
    const { told, listener } = listening();
    const { taken, mayGrow } = room();
    pass(new StreamReader(listener, mayGrow), text, cuts, isWhole);
    assert.equal(taken.bytes, 0);
    return told;
  };

  it("finds the response in the last event, whatever pieces it comes in", () => {
    const items = '{"type":"message","text":"\\n\\n\\"response\\""},{"é":[1,{}]}';
    const text = created + DELTA.repeat(3) + done(`[${items}]`);
    const ends = fc.constantFrom("", "data: [DONE]\n\n", ": comment\n\n");
    const cuts = fc.array(fc.nat(2_000), { maxLength: 60 });
    fc.assert(
      fc.property(cuts, ends, fc.boolean(), (all, end, isCrlf) => {
        const sent = isCrlf ? (text + end).replaceAll("\n", "\r\n") : text + end;
        assert.deepEqual(read(sent, all), [`resp_1 ${items}`]);
      }),
      { numRuns: 500 },
    );
    assert.deepEqual(
      read(
        text,
        Array.from({ length: text.length }, (_, at) => at),
      ),
      [`resp_1 ${items}`],
    );
  });

  it("tells one that failed, that has no end, and that is too long from each other", () => {
    assert.deepEqual(read(created + done("[]", "failed")), ["failed"]);
    assert.deepEqual(read(created + done("[]", "cancelled")), ["failed"]);
    assert.deepEqual(read(created + DELTA, [], false), ["failed"]);
    assert.deepEqual(read(created + DELTA), ["unreadable"]);
    assert.deepEqual(read(created + done('["\\x"]')), ["unreadable"]);
    assert.deepEqual(read(created + done("{}")), ["unreadable"]);
    assert.deepEqual(read(created + done("[1]").slice(0, -2)), ["unreadable"]);
    const cuts = Array.from({ length: 40 }, (_, at) => at * 60_000);
    assert.deepEqual(read(created + done(`["${"x".repeat(1_100_000)}"]`), cuts), ["too long resp_1"]);
    assert.deepEqual(read(created + done("[1]") + done("[2]")), ["resp_1 1"]);
  });

  it("does not take an event for the last one because its text says so", () => {
    const like = event("response.output_text.done", `"text":"response.completed","response":{"id":"resp_0","output":[]}`);
    const nested = event("response.created", `"response":{"id":"resp_1","tools":[{"type":"response.completed"}]}`);
    assert.deepEqual(read(nested + like + done("[1]")), ["resp_1 1"]);
  });
});

describe("the reader of a whole response", () => {
  const read = (text: string, cuts: readonly number[] = [], isWhole = true, most?: number) => {
    const { told, listener } = listening();
    const { taken, mayGrow } = room(most);
    pass(new WholeReader(listener, mayGrow), text, cuts, isWhole);
    assert.equal(taken.bytes, 0);
    return told;
  };
  const text = response("resp_1", '[ {"a":"b"} ]');

  it("finds its items, and says what is wrong with it", () => {
    assert.deepEqual(read(text, [3, 9, 20, 30, 31, 32]), ['resp_1  {"a":"b"}']);
    assert.deepEqual(read(text, [], false), ["failed"]);
    assert.deepEqual(read(response("resp_1", "[]", "queued")), ["failed"]);
    assert.deepEqual(read(response("", "[]")), ["unreadable"]);
    assert.deepEqual(read(response("x".repeat(300), "[]")), ["unreadable"]);
    assert.deepEqual(read('{"id":7}'), ["unreadable"]);
    assert.deepEqual(read("[1]"), ["unreadable"]);
    assert.deepEqual(read("no JSON"), ["unreadable"]);
    assert.deepEqual(read('{"id":"a","id":"b","status":"completed","output":[]}'), ["unreadable"]);
  });

  it("is too long where there is no room for it", () => {
    const cuts = Array.from({ length: 40 }, (_, at) => at * 3_000);
    assert.deepEqual(read(response("resp_1", `["${"x".repeat(100_000)}"]`), cuts, true, 50_000), ["too long resp_1"]);
    assert.deepEqual(read(text, [], true, 10), ["too long "]);
  });
});
