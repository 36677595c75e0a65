import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { JsonLines } from "../../../apps/kubernetes/json-lines.ts";

const TEXT = '{"type":"ADDED","name":"Grüße 🚂"}\n\n{"a":[1,2]}\r\n{"b":2}\n';
const DOCUMENTS = [{ type: "ADDED", name: "Grüße 🚂" }, { a: [1, 2] }, { b: 2 }];

describe("lines of JSON", () => {
  it("are read the same wherever the bytes are split", () => {
    const bytes = new TextEncoder().encode(TEXT);
    for (let size = 1; size <= bytes.length; size++) {
      const lines = new JsonLines(1000);
      const read: unknown[] = [];
      // One piece of memory for all chunks, as runtimes use it.
      const memory = new Uint8Array(size);
      for (let from = 0; from < bytes.length; from += size) {
        const part = bytes.subarray(from, from + size);
        memory.set(part);
        read.push(...lines.push(memory.subarray(0, part.length)));
      }
      assert.deepEqual(read, DOCUMENTS, `in pieces of ${size}`);
    }
  });

  it("are refused when one is too long, before its end comes", () => {
    const lines = new JsonLines(100);
    assert.deepEqual(lines.push(new TextEncoder().encode(`"${"a".repeat(90)}`)), []);
    assert.throws(() => lines.push(new TextEncoder().encode("a".repeat(20))), /more than 100 bytes/);
  });

  it("are refused when one is no JSON, without quoting it", () => {
    assert.throws(
      () => new JsonLines(100).push(new TextEncoder().encode("secret\n")),
      /^KubernetesError: A line of the watch is not JSON\.$/,
    );
  });
});
