import assert from "node:assert/strict";

/** One server-sent event; `name` is empty where the stream has `data:` lines only. */
export interface SseEvent {
  readonly name: string;
  readonly data: string;
}

/** Splits a complete event stream, which must consist of whole events with an optional name and one data line each. */
export function parseSse(text: string): SseEvent[] {
  assert.ok(text.endsWith("\n\n"), "the stream ends in the middle of an event");
  return text
    .slice(0, -2)
    .split("\n\n")
    .map((block) => {
      const event = /^(?:event: (.+)\n)?data: (.*)$/.exec(block);
      assert.ok(event, "every event is an optional event line and one data line");
      return { name: event[1] ?? "", data: event[2] ?? "" };
    });
}
