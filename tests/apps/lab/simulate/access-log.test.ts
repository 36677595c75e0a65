import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { TraceReader } from "../../../../apps/lab/simulate/read-trace.ts";
import type { Trace } from "../../../../apps/lab/simulate/trace.ts";
import { PrefixIndex } from "../../../../core/state/prefix-index.ts";
import { makeAttempt, makeOutcome } from "../../../../core/test-kit/records.ts";
import accessLog from "../../../../plugins/observers/access-log.ts";
import { makeRequest } from "../../../support/endpoints.ts";
import { createPlugin, makeHost } from "../../../support/plugins.ts";

function readLines(lines: readonly string[]): Trace {
  const reader = new TraceReader("access.log");
  reader.push(lines.join("\n"));
  return reader.end();
}

const LINE = {
  time: "2030-01-01T00:00:10.000Z",
  method: "POST",
  status: 200,
  model: "m",
  durationMs: 4000,
  requestBytes: 4000,
  responseBytes: 2400,
};

describe("a line of the access log", () => {
  const rows: readonly [name: string, changes: object, tokens: number, outputTokens: number][] = [
    ["by default: lengths from bytes", {}, 1000, 10],
    ["a response that is not streamed", { stream: false }, 1000, 500],
    ["a response shorter than the JSON around its text", { stream: false, responseBytes: 100 }, 1000, 1],
    ["with counts that are not known", { promptTokens: null, outputTokens: null, stream: null }, 1000, 10],
    ["with the replica's own counts", { promptTokens: 900, outputTokens: 77 }, 900, 77],
  ];
  for (const [name, changes, tokens, outputTokens] of rows) {
    it(name, () => {
      const { requests, hasPrefixes } = readLines([JSON.stringify({ ...LINE, ...changes })]);
      assert.equal(hasPrefixes, false);
      const [request] = requests;
      assert.deepEqual([request?.prompt.tokens, request?.outputTokens, request?.model], [tokens, outputTokens, "m"]);
    });
  }

  it("has the time at which a request ended; it arrived earlier", () => {
    const lines = [LINE, { ...LINE, time: "2030-01-01T00:00:11.000Z", durationMs: 4500 }];
    assert.deepEqual(
      readLines(lines.map((line) => JSON.stringify(line))).requests.map(({ atMs }) => atMs),
      [0, 500],
    );
  });

  it("without hashes shares no prefix with another", () => {
    const { requests } = readLines([JSON.stringify(LINE), JSON.stringify(LINE)]);
    const ids = requests.flatMap(({ prompt }) => Array.from(prompt.blocks));
    assert.equal(new Set(ids).size, ids.length);
  });

  it("is skipped if no replica has served the request", () => {
    const others = [
      { ...LINE, status: 503 },
      { ...LINE, path: "/v1/messages/count_tokens" },
      { ...LINE, status: 0 },
      { ...LINE, method: "GET", model: "" },
      { time: LINE.time, level: "info", message: "The config was read again" },
    ].map((line) => JSON.stringify(line));
    const trace = readLines(["Signalbox is listening on http://127.0.0.1:8080", JSON.stringify(LINE), ...others]);
    assert.deepEqual([trace.requests.length, trace.skippedLines], [1, 6]);
  });

  for (const [name, changes, message] of [
    ["no date", { time: "yesterday" }, /access\.log:1: "time" must be a date/],
    ["half a hash", { prefixBlockTokens: 64, prefixHashes: "abc" }, /"prefixHashes" must be 8 hexadecimal digits/],
    ["no block size", { prefixHashes: "00000001" }, /"prefixBlockTokens" must be a number/],
  ] as const) {
    it(`with ${name} is refused`, () => {
      assert.throws(() => readLines([JSON.stringify({ ...LINE, ...changes })]), { message });
    });
  }
});

test("a log recorded for replay shows shared prefixes, block by block", () => {
  const index = new PrefixIndex({ blockBytes: 256, maxBytes: 1 << 20 });
  const lines: string[] = [];
  const log = createPlugin(
    accessLog,
    { replay: true },
    makeHost({ output: { isTerminal: false, print: (line) => lines.push(line) } }),
  );
  const record = (text: string) => {
    const body = new TextEncoder().encode(text);
    const promptTokens = Math.ceil(body.length / 4);
    const prefix = index.match({ api: "completions", target: "m", cacheSalt: "" }, body, [[0, body.length]], promptTokens);
    log.finished({ ...RECORD, request: makeRequest({ model: "m", body, promptTokens, isStream: true, prefix }) });
  };
  const system = "You are a helpful assistant. ".repeat(1_000);
  record(`${system}What is a semaphore?`);
  record(`${system}What is a signal box? ${"Tell me all. ".repeat(50)}`);
  record("Hello");

  const { requests, hasPrefixes } = readLines(lines);
  assert.equal(hasPrefixes, true);
  assert.deepEqual(
    requests.map(({ prompt }) => prompt.tokens),
    [7_255, 7_418, 2],
  );
  const [one, other, short] = requests.map(({ prompt }) => prompt);
  let shared = 0;
  let sharedTokens = 0;
  for (; one!.blocks[shared] === other!.blocks[shared]; shared++) sharedTokens += one!.tokensIn(shared);
  // Blocks have 256 tokens there, so the shared 7,250 are found up to the last block's end.
  assert.ok(sharedTokens > 7_250 - 256 && sharedTokens <= 7_250, String(sharedTokens));
  for (const prompt of [one!, other!, short!]) {
    const sizes = Array.from(prompt.blocks, (_, block) => prompt.tokensIn(block));
    assert.equal(
      sizes.reduce((sum, size) => sum + size, 0),
      prompt.tokens,
    );
    assert.ok(sizes.every((size) => size > 0));
  }
});

const RECORD = makeOutcome({
  request: undefined,
  decision: undefined,
  attempts: [makeAttempt("gpu1", 200)],
  id: "r1",
  method: "POST",
  path: "/v1/completions",
  api: "completions",
  status: 200,
  error: undefined,
  ending: "complete",
  wallMs: Date.UTC(2030, 0, 1),
  durationMs: 800,
  firstByteMs: 100,
  requestBytes: 420,
  responseBytes: 1999,
  usage: undefined,
  predictedTokens: undefined,
});
