import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isEventStream } from "../../../core/wire/media-type.ts";
import { responseHead } from "../../support/wire-heads.ts";

describe("an event stream", () => {
  const rows: readonly (readonly [lines: readonly string[], isOne: boolean])[] = [
    [["Content-Type: text/event-stream"], true],
    [["content-type: Text/Event-Stream; charset=utf-8", "Content-Encoding: Identity"], true],
    [["Content-Type: text/event-stream", "Content-Encoding: gzip"], false],
    [["Content-Type: application/json"], false],
    [[], false],
  ];
  for (const [lines, isOne] of rows) {
    it(`${lines.join(", ") || "no type"}: ${isOne ? "yes" : "no"}`, () => {
      assert.equal(isEventStream(responseHead(lines)), isOne);
    });
  }
});
