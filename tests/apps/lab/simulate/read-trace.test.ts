import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { TraceReader } from "../../../../apps/lab/simulate/read-trace.ts";
import type { Trace } from "../../../../apps/lab/simulate/trace.ts";

function readAll(text: string, pieceLength = Number.POSITIVE_INFINITY): Trace {
  const reader = new TraceReader("t.jsonl");
  for (let at = 0; at < text.length; at += pieceLength) reader.push(text.slice(at, at + pieceLength));
  return reader.end();
}

const plain = ({ requests, ...trace }: Trace) => ({
  ...trace,
  requests: requests.map(({ atMs, prompt, outputTokens, model }) => ({
    atMs,
    tokens: prompt.tokens,
    blocks: Array.from(prompt.blocks),
    sizes: Array.from(prompt.blocks, (_, index) => prompt.tokensIn(index)),
    outputTokens,
    model,
  })),
});

const FIRST = '{"timestamp": 2000, "input_length": 1030, "output_length": 7, "hash_ids": [0, 50, 9]}';
const SECOND = '{"timestamp": 1500, "input_length": 512, "output_length": 0, "hash_ids": [0]}';

describe("a Mooncake trace", () => {
  const trace = {
    name: "t.jsonl",
    hasPrefixes: true,
    skippedLines: 0,
    requests: [
      { atMs: 0, tokens: 512, blocks: [1], sizes: [512], outputTokens: 1, model: "simulated" },
      { atMs: 500, tokens: 1030, blocks: [1, 2, 3], sizes: [512, 512, 6], outputTokens: 7, model: "simulated" },
    ],
  };

  for (const pieceLength of [1, 7, 64, 1000]) {
    it(`is sorted by time, starting at 0, read in pieces of ${pieceLength}`, () => {
      assert.deepEqual(plain(readAll(`${FIRST}\n${SECOND}\n`, pieceLength)), trace);
    });
  }

  it("may have empty lines, CRLF and no final line break", () => {
    assert.deepEqual(plain(readAll(`\n${FIRST}\r\n\r\n${SECOND}`)), trace);
  });

  it("knows the line of each request", () => {
    const lines = readAll(`\n${FIRST}\r\n\r\n${SECOND}`).requests.map(({ line }) => line);
    assert.deepEqual(lines, [4, 2]);
  });

  const bad: readonly [name: string, line: string, message: RegExp][] = [
    ["a line that is cut off", '{"timestamp": 1', /t\.jsonl:2: the line is not complete JSON/],
    ["a string for a number", SECOND.replace("512", '"512"'), /t\.jsonl:2: "input_length" must be a number from 1 to 16777216/],
    ["a negative number", SECOND.replace("512", "-1"), /"input_length" must be/],
    ["too few ids", SECOND.replace("512", "513"), /"hash_ids" must list one id for each 512 tokens of input_length: 2/],
    ["no ids", SECOND.replace("hash_ids", "ids"), /"hash_ids" must list one id/],
    ["ids that are null", SECOND.replace("[0]", "[null]"), /"hash_ids" must be numbers or strings/],
    ["a repeated id", FIRST.replace("50", "0"), /"hash_ids" must differ/],
    ["a missing time", SECOND.replace("timestamp", "when"), /"timestamp" must be a number/],
  ];
  for (const [name, line, message] of bad) {
    it(`with ${name} is refused with its line`, () => {
      assert.throws(() => readAll(`${FIRST}\n${line}\n`), { name: "Error", message });
    });
  }
});

describe("a trace of sessions", () => {
  const line = (fields: object) =>
    JSON.stringify({ session: "s1", think_ms: 0, input_length: 512, output_length: 3, hash_ids: [1], ...fields });

  it("has each turn at the time at which it would come if no turn took any time", () => {
    const { requests, hasPrefixes } = readAll(
      [{ start_ms: 4_000 }, { session: "s2", start_ms: 5_000 }, { think_ms: 2_500 }, { think_ms: 0 }].map(line).join("\n"),
    );
    assert.ok(hasPrefixes);
    assert.deepEqual(
      requests.map(({ atMs, turn, line: at }) => [at, atMs, turn?.session, turn?.tookMs]),
      [
        [1, 0, "s1", 0],
        [2, 1_000, "s2", 0],
        [3, 2_500, "s1", 0],
        [4, 2_500, "s1", 0],
      ],
    );
  });

  const bad: readonly [fields: object, message: RegExp][] = [
    [{ session: "" }, /"session" must be a text of 1 to 200 letters/],
    [{ session: "a\r\nx-evil: 1" }, /"session" must be a text/],
    [{ session: 7 }, /"session" must be a text/],
    [{ think_ms: -1 }, /"think_ms" must be a number from 0 to/],
    [{ start_ms: "now" }, /"start_ms" must be a number from 0 to/],
    [{ hash_ids: [] }, /"hash_ids" must list one id/],
  ];
  for (const [fields, message] of bad) {
    it(`refuses ${JSON.stringify(fields)}`, () => assert.throws(() => readAll(line(fields)), message));
  }
});

describe("a file that is not a trace", () => {
  const bad: readonly [name: string, text: string, message: RegExp][] = [
    ["nothing", "", /t\.jsonl has no request to replay: a trace has lines like/],
    ["text", "hello\nworld\n", /has no request/],
    ["other JSON", '{"a":1}\n', /t\.jsonl:1: a trace has lines like/],
  ];
  for (const [name, text, message] of bad) it(name, () => assert.throws(() => readAll(text), { message }));

  it("an endless line", () => {
    const reader = new TraceReader("t.jsonl");
    const piece = "x".repeat(2 ** 20);
    assert.throws(() => {
      for (let pieces = 0; pieces < 10; pieces++) reader.push(piece);
    }, /the line is too long/);
  });
});
