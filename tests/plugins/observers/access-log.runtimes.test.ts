import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, test } from "node:test";
import type { Outcome } from "../../../core/contract/outcome.ts";
import { RESPONSE_FLAGS } from "../../../core/report/response-flags.ts";
import { makeAttempt, makeDecision, makeOutcome } from "../../../core/test-kit/records.ts";
import accessLog from "../../../plugins/observers/access-log.ts";
import { makePrefix, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, makeHost } from "../../support/plugins.ts";
import { heldBytes } from "../../support/process-usage.ts";

const decision = makeDecision({ model: "food", target: "food-v2", rule: "food-review/0" });

const record = makeOutcome({
  request: makeRequest({ model: "food", target: "food-v2" }),
  decision,
  attempts: [makeAttempt("gpu1", "connect-failed"), makeAttempt("gpu2", 200)],
  id: "r1",
  api: "chat-completions",
  method: "POST",
  path: "/v1/chat/completions",
  status: 200,
  error: undefined,
  ending: "complete",
  wallMs: Date.UTC(2025, 0, 2, 3, 4, 5, 678),
  durationMs: 812.345,
  firstByteMs: 101.96,
  requestBytes: 420,
  responseBytes: 1999,
  usage: undefined,
  predictedTokens: undefined,
});

function lineOf(record: Outcome, isTerminal: boolean, parameters: object = {}): string {
  const lines: string[] = [];
  createPlugin(accessLog, parameters, makeHost({ output: { isTerminal, print: (line) => lines.push(line) } })).finished(record);
  assert.equal(lines.length, 1);
  return lines[0]!;
}

describe("format", () => {
  const rows: readonly (readonly [format: string, isTerminal: boolean, starts: RegExp])[] = [
    ["auto", false, /^\{/],
    ["auto", true, /^\d\d:/],
    ["json", true, /^\{/],
    ["text", false, /^\d\d:/],
    ["none", false, /^$/],
  ];
  for (const [format, isTerminal, starts] of rows) {
    it(`${format} ${isTerminal ? "on a terminal" : "elsewhere"}`, () => {
      const printed: string[] = [];
      createPlugin(accessLog, { format }, makeHost({ output: { isTerminal, print: (line) => printed.push(line) } })).finished(
        record,
      );
      assert.match(printed.join(""), starts);
    });
  }
});

test("names of megabytes are not held after their lines", async () => {
  const print = () => {};
  const log = createPlugin(accessLog, {}, makeHost({ output: { isTerminal: false, print } }));
  const before = await heldBytes();
  for (let n = 0; n < 40; n++) {
    const model = Buffer.alloc(500_000, "m").toString("latin1");
    log.finished({ ...record, decision: makeDecision({ model }), attempts: [makeAttempt(`gpu${n}`, 200)] });
  }
  assert.ok((await heldBytes()) - before < 5_000_000);
  log.finished(record);
});

test("a line of JSON", () => {
  assert.deepEqual(JSON.parse(lineOf(record, false)), {
    time: "2025-01-02T03:04:05.678Z",
    id: "r1",
    method: "POST",
    path: "/v1/chat/completions",
    status: 200,
    ending: "complete",
    flags: "",
    error: "",
    model: "food",
    target: "food-v2",
    rule: "food-review/0",
    endpoint: "gpu2",
    attempts: [
      { endpoint: "gpu1", result: "connect-failed", startedMs: 12, endedMs: 800 },
      { endpoint: "gpu2", result: 200, startedMs: 12, endedMs: 800 },
    ],
    durationMs: 812.3,
    firstByteMs: 102,
    expectedFirstByteMs: null,
    overheadUs: 2000,
    waitedMs: null,
    requestBytes: 420,
    responseBytes: 1999,
    stream: false,
    promptTokens: null,
    outputTokens: null,
    outputEstimated: false,
    cachedTokens: null,
    predictedCachedTokens: null,
    finishReason: "",
    key: "",
    tenant: "",
    session: "",
    turn: null,
    pausedMs: null,
  });
});

describe("config/ACCESS-LOG.md", () => {
  const text = readFileSync(join(import.meta.dirname ?? ".", "..", "..", "..", "config", "ACCESS-LOG.md"), "utf8");
  const [keys = "", replayKeys = "", flags = ""] = text.split(/^\| (?:key|flag) +\| meaning +\|$/m).slice(1);
  const rows = (table: string) => [...table.matchAll(/^\| `(\w+)` +\| (.*?) +\|$/gm)].map(([, name, meaning]) => [name, meaning]);
  const names = (table: string) => rows(table).map(([name]) => name);

  it("lists the keys of every line, in their order", () => {
    const { request: _unread, ...rest } = record;
    for (const each of [record, makeOutcome({ ...rest, request: undefined, decision: undefined, attempts: [] })])
      assert.deepEqual(names(keys), Object.keys(JSON.parse(lineOf(each, false))));
  });

  it("lists what is added for a replay", () => {
    const prefix = { ...makePrefix(1, 64, []), hashes: Int32Array.of(1, 7), tokensIn: () => 64 };
    const line = lineOf({ ...record, request: makeRequest({ prefix }) }, false, { replay: true });
    assert.deepEqual([...names(keys), ...names(replayKeys)], Object.keys(JSON.parse(line)));
  });

  it("lists the flags", () => assert.deepEqual(rows(flags), Object.entries(RESPONSE_FLAGS)));
});

describe("replay: true", () => {
  const prefix = { ...makePrefix(2, 64, []), hashes: Int32Array.of(1, 7, -1, 8), tokensIn: () => 64 };
  const request = makeRequest({ model: "food", promptTokens: 150, isStream: true, prefix });
  const hashed = { promptTokens: 150, prefixBlockTokens: 64, prefixHashes: "00000001ffffffff" };
  const usage = { promptTokens: 140, outputTokens: 9, cachedTokens: undefined };
  const cases: readonly [name: string, changes: Partial<Outcome>, added: object][] = [
    ["lengths and beginnings", { request }, hashed],
    ["the replica's own count, where there is one", { request, usage }, { ...hashed, promptTokens: 140 }],
    ["a prompt that is not hashed", {}, { promptTokens: 0 }],
    ["a request that was refused before parsing", { request: undefined }, {}],
  ];
  for (const [name, changes, added] of cases) {
    it(name, () => {
      const lines: string[] = [];
      const log = createPlugin(
        accessLog,
        { replay: true },
        makeHost({ output: { isTerminal: false, print: (line) => lines.push(line) } }),
      );
      log.finished({ ...record, ...changes });
      assert.deepEqual(JSON.parse(lines[0]!), { ...JSON.parse(lineOf({ ...record, ...changes }, false)), ...added });
    });
  }

  it("asks for the prefix index; without replay it does not", () => {
    const asked: object[] = [];
    for (const replay of [true, false])
      createPlugin(accessLog, { replay }, makeHost({ usePrefixIndex: (settings) => asked.push(settings) }));
    assert.deepEqual(asked, [{}]);
  });
});

describe("a line for people", () => {
  const unread = {
    request: undefined,
    decision: undefined,
    attempts: [],
    firstByteMs: Number.NaN,
    overheadUs: Number.NaN,
  };
  const usage = { promptTokens: 110, outputTokens: 4, cachedTokens: 80 };
  const SERVED = "03:04:05.678 200 POST /v1/chat/completions food -> food-v2 on gpu2 812.3 ms";
  const TRIES = "router 2000 us after gpu1 (connect-failed)";
  const stream = makeRequest({ model: "food", target: "food-v2", isStream: true });
  const cases: readonly [name: string, changes: Partial<Outcome>, line: string][] = [
    ["a rewritten request", {}, `${SERVED} (first byte 102 ms) ${TRIES}`],
    ["a stream", { request: stream }, `${SERVED} (first byte 102 ms, expected 80) ${TRIES}`],
    ["reported tokens", { usage, outputTokens: 4 }, `${SERVED} (first byte 102 ms) tokens: 110 in, 4 out ${TRIES}`],
    ["counted tokens", { outputTokens: 4, isOutputEstimated: true }, `${SERVED} (first byte 102 ms) tokens: ~4 out ${TRIES}`],
    [
      "one that was refused unread",
      { ...unread, status: 400, error: { code: "invalid_json", message: "Why." } },
      "03:04:05.678 400 POST /v1/chat/completions 812.3 ms invalid_json [DPE]",
    ],
    [
      "a client that left",
      { ...unread, status: 0, ending: "client-left" },
      "03:04:05.678 --- POST /v1/chat/completions 812.3 ms client-left [DC]",
    ],
  ];
  for (const [name, changes, line] of cases) it(name, () => assert.equal(lineOf({ ...record, ...changes }, true), line));
});

test("without a decision, model and target come from the request", () => {
  assert.equal(JSON.parse(lineOf({ ...record, decision: undefined }, false)).model, "food");
});

test("the line has the counts that the replica reports, or what was counted instead", () => {
  const usage = { promptTokens: 110, outputTokens: 4, cachedTokens: 80 };
  const counts = (changes: Partial<Outcome>) => {
    const line = JSON.parse(lineOf({ ...record, ...changes }, false)) as Record<string, unknown>;
    const { promptTokens, outputTokens, outputEstimated, cachedTokens, predictedCachedTokens, finishReason } = line;
    return [promptTokens, outputTokens, outputEstimated, cachedTokens, predictedCachedTokens, finishReason];
  };
  const reported = { usage, outputTokens: 4, predictedTokens: 64, finishReason: "stop" };
  assert.deepEqual(counts(reported), [110, 4, false, 80, 64, "stop"]);
  const untold = { usage: { ...usage, cachedTokens: undefined }, outputTokens: 4, predictedTokens: 64 };
  assert.deepEqual(counts(untold), [110, 4, false, null, 64, ""]);
  assert.deepEqual(counts({ outputTokens: 7, isOutputEstimated: true }), [null, 7, true, null, null, ""]);
});

test("no first byte is null", () => {
  assert.equal(JSON.parse(lineOf({ ...record, firstByteMs: Number.NaN }, false)).firstByteMs, null);
});

describe("hostile values", () => {
  const nasty = "\u001b[2J\r\nfake 200\u0000\u007f\u009b\u2028\u202e\u2066end".padEnd(10_000, "x");
  const hostile: Outcome = {
    ...record,
    id: nasty,
    method: nasty,
    path: nasty,
    decision: { ...decision, model: nasty, target: nasty, rule: nasty },
    attempts: new Array(1000).fill(makeAttempt(nasty, 200)),
    finishReason: nasty,
  };

  for (const isTerminal of [false, true]) {
    it(isTerminal ? "never reach a terminal" : "never reach a log", () => {
      const line = lineOf(hostile, isTerminal);
      assert.doesNotMatch(line, /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/);
      assert.doesNotMatch(line, /\\u00|\\[nrbft]/);
      assert.doesNotMatch(line, /x{257}/);
      assert.ok(line.length < 20 * 300 + 16 * 350);
    });
  }

  it("a query stays out of the line", () => {
    for (const isTerminal of [false, true])
      assert.doesNotMatch(lineOf({ ...record, path: "/v1/models?key=secret" }, isTerminal), /secret/);
  });

  it("the prompt never shows", () => {
    const body = new TextEncoder().encode('{"model":"food","prompt":"PRIVATE"}');
    const request = makeRequest({ model: "food", body, promptSpans: [[25, 34]], cacheSalt: "PRIVATE" });
    for (const isTerminal of [false, true]) assert.doesNotMatch(lineOf({ ...record, request }, isTerminal), /PRIVATE/);
  });
});
