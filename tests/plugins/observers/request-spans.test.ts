import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RouterError } from "../../../core/contract/errors.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";
import { makeRequest } from "../../../core/contract/test-kit.ts";
import type { Trace } from "../../../core/contract/trace.ts";
import { makeDecision, makeOutcome } from "../../../core/test-kit/records.ts";
import type { Span } from "../../../plugins/observers/otlp-exporter.ts";
import { spansOf } from "../../../plugins/observers/request-spans.ts";

const trace: Trace = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7100000000", parentId: "", state: "" };
const resource = { attributes: {} } as unknown as Span["resource"];
const none = Number.NaN;
const times = { receivedMs: 10, admittedMs: 20, decidedMs: 21, dispatchedMs: 22, firstByteMs: 90, endMs: 800 };
const tried = (result: Outcome["attempts"][number]["result"], startedMs: number, endedMs: number, endpoint = "e1") => ({
  endpoint,
  result,
  startedMs,
  endedMs,
});

/** Name, status, and when it began and ended, in milliseconds after the head. */
function shown(outcome: Outcome, traced = trace) {
  const headMs = outcome.wallMs - outcome.durationMs;
  const msOf = ([seconds, nanoseconds]: readonly [number, number]) => Math.round(seconds * 1000 + nanoseconds / 1e6 - headMs);
  return spansOf(outcome, traced, resource).map(({ name, status, startTime, endTime }) => [
    name,
    status.code,
    msOf(startTime),
    msOf(endTime),
  ]);
}

describe("spansOf", () => {
  it("places every part in the request's time", () => {
    const attempts = [tried("connect-failed", 22, 30, "e0"), tried(200, 35, 799)];
    assert.deepEqual(shown(makeOutcome({ attempts, times })), [
      ["POST /v1/chat/completions", 0, 0, 800],
      ["admission", 0, 10, 20],
      ["decision", 0, 20, 21],
      ["try e0", 2, 22, 30],
      ["try e1", 0, 35, 799],
    ]);
  });

  it("leaves out what did not happen", () => {
    const never = { receivedMs: none, admittedMs: none, decidedMs: none, dispatchedMs: none, firstByteMs: none, endMs: 5 };
    const outcome = makeOutcome({ attempts: [], times: never, request: undefined, decision: undefined, status: 408 });
    assert.deepEqual(
      shown(outcome).map(([name]) => name),
      ["POST /v1/chat/completions"],
    );
    for (const { attributes } of spansOf(outcome, trace, resource))
      for (const value of Object.values(attributes)) assert.ok(value !== undefined && !Number.isNaN(value));
  });

  it("says of a refusal why", () => {
    const refusal = new RouterError("no_ready_endpoint", "No replica is ready.");
    const decision = makeDecision({ refusal, order: [], candidates: [], scores: [], totals: [] });
    const outcome = makeOutcome({
      decision,
      attempts: [],
      times,
      status: 503,
      error: { code: refusal.code, message: refusal.message },
    });
    const [root, , choice] = spansOf(outcome, trace, resource);
    assert.deepEqual(root?.status, { code: 2, message: "No replica is ready." });
    assert.deepEqual(choice?.status, { code: 2, message: "No replica is ready." });
    assert.deepEqual([choice?.attributes["error.type"], choice?.attributes["signalbox.why"]], [refusal.code, refusal.message]);
  });

  it("has at most 32 tries, and says how many there were", () => {
    const attempts = Array.from({ length: 200 }, (_, index) => tried(404, index, index + 1));
    const spans = spansOf(makeOutcome({ attempts, times }), trace, resource);
    assert.equal(spans.filter(({ kind }) => kind === 2).length, 32);
    assert.equal(spans[0]?.attributes["signalbox.tries"], 200);
    assert.equal(new Set(spans.map((span) => span.spanContext().spanId)).size, spans.length);
  });

  it("never lets a span end before it begins", () => {
    assert.deepEqual(shown(makeOutcome({ attempts: [tried("aborted", 30, 29)], times })).at(-1), ["try e1", 2, 30, 30]);
  });

  it("is inside of the caller's span, in its trace", () => {
    const traced = { ...trace, parentId: "00f067aa0ba902b7", state: "a=1" };
    const [root, inner] = spansOf(makeOutcome({ times }), traced, resource);
    assert.deepEqual(
      [root?.parentSpanContext?.spanId, root?.parentSpanContext?.isRemote, root?.spanContext().traceState?.serialize()],
      ["00f067aa0ba902b7", true, "a=1"],
    );
    assert.deepEqual([inner?.parentSpanContext?.spanId, inner?.parentSpanContext?.isRemote], [trace.spanId, false]);
  });

  it("has texts that are short and printable", () => {
    const request = makeRequest({ model: `\u202e${"m".repeat(10_000)}` });
    const spans = spansOf(makeOutcome({ request, finishReason: "a\nb", path: "/v1/\u0007", times }), trace, resource);
    for (const { name, attributes } of spans)
      for (const text of [name, ...Object.values(attributes).flat()]) {
        if (typeof text === "string") assert.match(text, /^[^\x00-\x1f\u202e]{0,256}$/);
      }
  });
});
