import assert from "node:assert/strict";
import { RouterError } from "../../../core/contract/errors.ts";
import { errorEvent } from "../../../core/errors/dialects.ts";
import { ResponseCheck } from "../../../core/stream/response-check.ts";
import { TAIL_BYTES, UsageTap } from "../../../core/stream/usage-tap.ts";
import { WholeEvents } from "../../../core/stream/whole-events.ts";
import { CHOICES } from "../../../plugins/parsers/shared-fields.ts";
import { readEventSource } from "../../support/event-source.ts";
import { cut, singles } from "../../support/wire-transcript.ts";
import type { Dice } from "../dice.ts";
import type { Target } from "../fuzz.ts";

const MOST_OPENING = 3;

/** What looks into answers while they pass: the same findings whatever the reads, and those of slower code. */
export const tap: Target = {
  name: "tap",
  seeds: [
    'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"usage":{"prompt_tokens":813,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":800}}}\n\ndata: [DONE]\n\n',
    'event: message_start\r\ndata: {"message":{"usage":{"input_tokens":3,"output_tokens":0}}}\r\n\r\nevent: message_delta\r\ndata: {"usage":{"input_tokens":13,"output_tokens":4,"cache_read_input_tokens":800}}\r\n\r\n',
    `{"x":"${"y".repeat(TAIL_BYTES - 60)}","usage" : {"prompt_tokens":7 , "completion_tokens":2}}`,
    "\n\n: comment\r\rdata\r\n\n",
    'data: {"choices":[{"index":0}]}\n\ndata: {"error":{"message":"x"}}\n\n',
    '{"id":"x","choices" : [ {"message":{"content":"}"},"finish_reason":"stop"} ] }\n',
    "a\ra\ra\ra\ra\ra\ra\ra\ra\ra",
  ].map((text) => Buffer.from(text)),
  words: [
    ...'\n|\r|\r\n|\n\n|\r\n\r\n|data: |event: a\n|:|"usage"|"usage":{|{|}|"prompt_tokens":5|"completion_tokens":6,|"cached_tokens":1|"input_tokens":9|\\|"|null|\0|\xff|999999999|9999999999|"choices":[{"|"finish_reason":"stop"|[DONE]|{"error":{|event: error|data: {"error":'.split(
      "|",
    ),
    " ".repeat(TAIL_BYTES / 2),
  ],
  check(input, dice) {
    const opening = dice.below(MOST_OPENING + 1);
    const { passed, takesError, ...whole } = look([input], opening);
    const others = {
      "byte by byte": look(singles(input), opening),
      "in pieces": look(cut(input, dice.places(input.length, 6)), opening),
      "in spans": inSpans(input, opening, dice),
    };
    for (const [name, other] of Object.entries(others)) {
      assert.deepEqual({ ...other, passed, takesError }, { ...whole, passed, takesError }, name);
      assert.ok(input.subarray(0, other.passed.length).equals(other.passed), `${name}: what is passed on`);
    }
    const text = input.toString("latin1");
    if (hasOneLineEnd(text)) {
      for (const given of [{ passed, takesError }, ...Object.values(others)]) if (given.takesError) checkErrorEvent(given.passed);
      assert.equal(whole.isOpeningOver, isOver(text, opening), "opening");
    }
    const { ended, isOpeningOver, usage, lacks } = whole;
    return `${ended} ${input.length - passed.length} ${isOpeningOver} ${Object.values(usage ?? {}).map(Number.isNaN)} ${lacks}`;
  },
};

/** What is passed on and found out. */
class Look {
  readonly #parts: Buffer[] = [];
  #bytes = 0;
  readonly #events: WholeEvents;
  readonly #usage = new UsageTap("openai", "events");
  readonly #checks = [new ResponseCheck(CHOICES, true), new ResponseCheck(CHOICES, false)];

  constructor(opening: number) {
    this.#events = new WholeEvents(opening, {
      write: (chunk, spans, spanCount) => {
        for (let i = 0; i < spanCount; i++) this.#parts.push(Buffer.from(chunk.slice(spans[2 * i], spans[2 * i + 1])));
        return true;
      },
      end() {},
    });
  }

  read(chunk: Buffer, spans: readonly number[]): void {
    this.#events.stream.read(chunk, spans, spans.length / 2);
    this.#usage.read(chunk, spans, spans.length / 2);
    for (const check of this.#checks) check.read(chunk, spans, spans.length / 2);
    this.#events.write(chunk, spans, spans.length / 2, false);
    this.#usage.readDone();
    chunk.fill("X"); // reads share their memory
    for (let at = 0; at < spans.length; at += 2) this.#bytes += spans[at + 1]! - spans[at]!;
  }

  findings() {
    const { ended, isOpeningOver } = this.#events.stream;
    const passed = Buffer.concat(this.#parts);
    const tail = this.#usage.tail() ?? Buffer.alloc(0);
    const lacks = this.#checks.map((check) => check.flaw(tail, this.#bytes));
    const { usage } = this.#usage.finish(true, this.#bytes, ended);
    return { ended, isOpeningOver, passed, usage, lacks, takesError: this.#events.isBetween };
  }
}

function look(pieces: readonly Buffer[], opening: number) {
  const found = new Look(opening);
  for (const piece of pieces) found.read(Buffer.from(piece), [0, piece.length]);
  return found.findings();
}

const ERROR = new RouterError("upstream_reset", "The replica closed.");

/** Whatever the stream is: where an error may follow what was passed on, the event that does is the error. */
function checkErrorEvent(passed: Buffer): void {
  for (const dialect of ["openai", "responses", "anthropic"] as const) {
    const events = readEventSource(Buffer.concat([passed, Buffer.from(errorEvent(ERROR, dialect, "req-1"))]));
    const last = events.at(-1);
    assert.ok(last, "an event");
    assert.equal(last.type, dialect === "openai" ? "message" : "error", "its type");
    assert.equal((JSON.parse(last.data) as { error: { code: string } }).error.code, "upstream_reset", "the error");
  }
}

/** The same bytes as the data of chunks in one read. */
function inSpans(input: Buffer, opening: number, dice: Dice) {
  const pieces = cut(input, dice.places(input.length, 6));
  const gap = Buffer.from("\r\n5\r\n");
  const chunk = Buffer.concat(pieces.flatMap((piece) => [gap, piece]));
  const spans: number[] = [];
  let at = 0;
  for (const { length } of pieces) {
    spans.push(at + gap.length, at + gap.length + length);
    at += gap.length + length;
  }
  const found = new Look(opening);
  found.read(chunk, spans);
  return found.findings();
}

/** Whether all lines end as the first does: servers do so, and the router relies on it. */
function hasOneLineEnd(text: string): boolean {
  return !/\r(?!\n|$)/.test(text) || !text.includes("\n");
}

/** Whether a byte that is no comment follows the opening events: lines that are not empty, then one that is. */
function isOver(text: string, opening: number): boolean {
  let rest = text.replace(/\r\n?/g, "\n").replace(/^:[^\n]*(?:\n|$)/gm, "");
  for (let left = opening; left > 0; left--) {
    const event = /^\n*(?:[^\n]+\n)+\n/.exec(rest);
    if (event === null) return false;
    rest = rest.slice(event[0].length);
  }
  return /[^\n]/.test(rest);
}
