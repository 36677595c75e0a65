import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DocumentTap } from "../../../../plugins/features/stored/document-tap.ts";

describe("a short document that passes", () => {
  const read = (text: string, isWhole = true) => {
    const found: unknown[] = [];
    const tap = new DocumentTap((document) => void found.push(document));
    for (let at = 0; at < text.length; at += 9) {
      const chunk = Buffer.from(`framing${text.slice(at, at + 9)}`);
      tap.read(chunk, [7, chunk.length], 1);
      chunk.fill(0);
    }
    tap.end(isWhole);
    return found[0];
  };

  it("is read when it is whole, and short enough", () => {
    assert.deepEqual(read('{"id":"batch_1","output_file_id":null}'), { id: "batch_1", output_file_id: null });
    assert.equal(read('{"id":"batch_1"}', false), undefined);
    assert.equal(read('{"id":"batch_1'), undefined);
    assert.equal(read("null"), undefined);
    assert.equal(read(`{"id":"batch_1","x":"${"x".repeat(70_000)}"}`), undefined);
  });
});
