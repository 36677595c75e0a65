import assert from "node:assert/strict";
import { RouterError } from "../../../core/contract/errors.ts";
import { lastWords } from "../../../core/errors/dialects.ts";
import { EventBoundary } from "../../../core/stream/event-boundary.ts";
import type { CutEvent } from "../../../core/stream/open-event.ts";
import { TAIL_BYTES, UsageTap } from "../../../core/stream/usage-tap.ts";
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
  ].map((text) => Buffer.from(text)),
  words: [
    ...'\n|\r|\r\n|\n\n|\r\n\r\n|data: |event: a\n|:|"usage"|"usage":{|{|}|"prompt_tokens":5|"completion_tokens":6,|"cached_tokens":1|"input_tokens":9|\\|"|null|\0|\xff|999999999|9999999999'.split(
      "|",
    ),
    " ".repeat(TAIL_BYTES / 2),
  ],
  check(input, dice) {
    const opening = dice.below(MOST_OPENING + 1);
    const whole = look([input], opening);
    assert.deepEqual(look(singles(input), opening), whole, "byte by byte");
    assert.deepEqual(look(cut(input, dice.places(input.length, 6)), opening), whole, "in pieces");
    assert.deepEqual(inSpans(input, opening, dice), whole, "in spans");
    const text = input.toString("latin1");
    checkLastWords(input, whole.cut);
    assert.equal(whole.isOpeningOver, isOver(text, opening), "opening");
    assert.deepEqual(whole.usage, look([input.subarray(-TAIL_BYTES)], 0).usage, "the tail");
    const { characterEnd, text: completion, object } = whole.cut;
    return `${characterEnd.length} ${completion.length} ${object} ${whole.isOpeningOver} ${Object.values(whole.usage ?? {}).map(Number.isNaN)}`;
  },
};

function look(pieces: readonly Buffer[], opening: number) {
  const boundary = new EventBoundary(opening);
  const usage = new UsageTap(true, "openai");
  for (const piece of pieces) {
    const lent = Buffer.from(piece);
    boundary.read(lent, [0, lent.length], 1);
    usage.read(lent, [0, lent.length], 1);
    lent.fill("X"); // reads share their memory
  }
  return { cut: boundary.cut(), isOpeningOver: boundary.isOpeningOver, usage: usage.finish(true).usage };
}

const ERROR = new RouterError("upstream_reset", "The replica closed.");

/** Whatever the stream is and wherever it ends: its last event is the error. */
function checkLastWords(input: Buffer, cutEvent: CutEvent): void {
  for (const dialect of ["openai", "responses", "anthropic"] as const) {
    const events = readEventSource(Buffer.concat([input, lastWords(ERROR, dialect, "req-1", cutEvent)]));
    const last = events.at(-1);
    assert.ok(last, "an event");
    assert.equal(last.type, dialect === "openai" ? "message" : "error", "its type");
    // What is no JSON before the cut can't become some behind it.
    if (cutEvent.object === "theirs" && dialect !== "openai") assert.ok(last.data.includes('"upstream_reset"'), "the error");
    else assert.equal((JSON.parse(last.data) as { error: { code: string } }).error.code, "upstream_reset", "the error");
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
  const boundary = new EventBoundary(opening);
  const usage = new UsageTap(true, "openai");
  boundary.read(chunk, spans, pieces.length);
  usage.read(chunk, spans, pieces.length);
  return { cut: boundary.cut(), isOpeningOver: boundary.isOpeningOver, usage: usage.finish(true).usage };
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
