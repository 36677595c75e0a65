import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { FirstIdTap } from "../../../core/stream/first-id-tap.ts";

/** Passes the text in pieces, in memory that is used again. */
function pass(tap: FirstIdTap, text: string, cuts: readonly number[]): void {
  const body = Buffer.from(text);
  const places = [...new Set([0, ...cuts.map((cut) => cut % body.length), body.length])].sort((a, b) => a - b);
  for (const [index, end] of places.slice(1).entries()) {
    const chunk = Buffer.concat([Buffer.from("framing"), body.subarray(places[index], end), Buffer.from("\r\n")]);
    tap.read(chunk, [7, chunk.length - 2], 1);
    chunk.fill(0);
  }
  tap.end();
}

function idIn(text: string, isEventStream: boolean, cuts: readonly number[] = []): string | undefined {
  const found: string[] = [];
  pass(new FirstIdTap(isEventStream, (id) => void found.push(id)), text, cuts);
  assert.ok(found.length <= 1);
  return found[0];
}

describe("the id of a response that passes", () => {
  const rows: readonly (readonly [name: string, text: string, isEventStream: boolean, id: string | undefined])[] = [
    ["as vLLM sends it", '{"id":"resp_1","created_at":1,"output":[]}', false, "resp_1"],
    [
      "behind plain values",
      '{ "object" : "response", "created_at":1.5e3,"background":false,"error":null , "id" : "resp_1"}',
      false,
      "resp_1",
    ],
    ["in an event", 'event: response.created\ndata: {"response":{"id":"resp_1"},"type":"response.created"}\n\n', true, "resp_1"],
    [
      "in an event with its type first",
      ': hi\n\nevent: x\ndata:{"type":"response.created","sequence_number":0,"response":{"object":"response","id":"resp_1"}}\n\n',
      true,
      "resp_1",
    ],
    ["behind a client's own, in what it sent", '{"metadata":{"id":"resp_9"},"id":"resp_1"}', false, "resp_1"],
    ["behind a client's own, in a text", '{"instructions":"\\"id\\":\\"resp_9\\"","id":"resp_1"}', false, "resp_1"],
    ["behind a client's own, in a list", '{"tools":[{"id":"resp_9"},"]}"] , "id":"resp_1"}', false, "resp_1"],
    ["behind that of an item in an event", 'data: {"item":{"id":"msg_1"},"response":{"id":"resp_1"}}\n\n', true, "resp_1"],
    ["of a client alone, in what it sent", '{"metadata":{"id":"resp_9"},"a":{"response":{"id":"resp_9"}}}', false, undefined],
    ["of an item alone, in an event", 'data: {"item":{"id":"msg_1"},"response":[{"id":"resp_9"}]}\n\n', true, undefined],
    ["with escapes in the key and in the id", '{"\\u0069d":"resp\\u005f\\"\\\\1"}', false, 'resp_"\\1'],
    ["with letters of any script", '{"\u00e9":"\u00e9","id":"resp_\u00e9\ud83d\ude00"}', false, "resp_\u00e9\ud83d\ude00"],
    ["of no text", '{"id":7}', false, undefined],
    ["too long", `{"id":"${"x".repeat(257)}"}`, false, undefined],
    ["behind too much", `{"model":"${"m".repeat(5_000)}","id":"resp_1"}`, false, undefined],
  ];
  for (const [name, text, isEventStream, id] of rows)
    it(name, () => {
      fc.assert(
        fc.property(fc.array(fc.nat(5_000), { maxLength: 20 }), (cuts) => assert.equal(idIn(text, isEventStream, cuts), id)),
        { numRuns: 50 },
      );
    });

  it("is looked for in a time that does not grow with what a replica makes up", () => {
    for (const text of [
      `{${'"a":1,'.repeat(5_000)}`,
      `{"a":${" ".repeat(5_000)}`,
      `{"a":"${"\\".repeat(5_000)}`,
      "data: {\n".repeat(1_000),
    ])
      assert.equal(
        idIn(
          text,
          text.startsWith("data"),
          Array.from({ length: 500 }, (_, at) => at * 10),
        ),
        undefined,
      );
  });
});
