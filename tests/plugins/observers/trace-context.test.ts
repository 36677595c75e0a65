import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeHeaders, seededRandom } from "../../../core/contract/test-kit.ts";
import { readTraceparent, sampledTrace } from "../../../plugins/observers/trace-context.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

describe("readTraceparent", () => {
  const good: readonly (readonly [value: string, isSampled: boolean])[] = [
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, false],
    // Only the lowest bit is known; the others may mean anything.
    [`00-${TRACE}-${SPAN}-ff`, true],
    [`00-${TRACE}-${SPAN}-02`, false],
    // Later versions are read as far as they are known.
    [`01-${TRACE}-${SPAN}-01`, true],
    [`fe-${TRACE}-${SPAN}-01-what-comes-then`, true],
    [`cc-${TRACE}-${SPAN}-01-`, true],
  ];
  for (const [value, isSampled] of good) {
    it(`reads ${value}`, () => assert.deepEqual(readTraceparent(value), { traceId: TRACE, spanId: SPAN, isSampled }));
  }

  const bad: readonly (readonly [why: string, value: string | undefined])[] = [
    ["none", undefined],
    ["an empty one", ""],
    ["zeros as trace", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["zeros as span", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["capitals", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ["capitals in the span", `00-${TRACE}-${SPAN.toUpperCase()}-01`],
    ["version ff", `ff-${TRACE}-${SPAN}-01`],
    ["more than version 00 has", `00-${TRACE}-${SPAN}-01-more`],
    ["a dash at the end of version 00", `00-${TRACE}-${SPAN}-01-`],
    ["more without a dash", `01-${TRACE}-${SPAN}-01more`],
    ["a short trace", `00-${TRACE.slice(1)}-${SPAN}-01`],
    ["a long trace", `00-0${TRACE}-${SPAN}-01`],
    ["a short span", `00-${TRACE}-${SPAN.slice(1)}-01`],
    ["no flags", `00-${TRACE}-${SPAN}`],
    ["one digit of flags", `00-${TRACE}-${SPAN}-1`],
    ["no hex in flags", `00-${TRACE}-${SPAN}-0x`],
    ["one digit of version", `0-${TRACE}-${SPAN}-01`],
    ["spaces", ` 00-${TRACE}-${SPAN}-01`],
    ["underscores", `00_${TRACE}_${SPAN}_01`],
    ["two of them", `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ["other digits", `00-${TRACE}-${SPAN.slice(1)}\u0661-01`],
    ["a line feed", `00-${TRACE}-${SPAN}-01\n`],
    ["a very long one", `01-${TRACE}-${SPAN}-01${"x".repeat(100_000)}`],
    ["markup", `<script>`],
  ];
  for (const [why, value] of bad) it(`ignores ${why}`, () => assert.equal(readTraceparent(value), undefined));
});

describe("sampledTrace", () => {
  const always = { ratio: 1, followParent: true };
  const never = { ratio: 0, followParent: true };
  const from = (headers: Readonly<Record<string, string>>, sampling: { ratio: number; followParent: boolean }) =>
    sampledTrace(makeHeaders(headers), sampling, seededRandom(7));

  it("begins a trace with ids of its own", () => {
    const random = seededRandom(1);
    const ids = new Set<string>();
    for (let count = 0; count < 1000; count++) {
      const trace = sampledTrace(makeHeaders({}), always, random);
      assert.match(trace?.traceId ?? "", /^[1-9a-f][0-9a-f]{31}$/);
      assert.match(trace?.spanId ?? "", /^[1-9a-f][0-9a-f]{15}$/);
      assert.equal(trace?.parentId, "");
      ids.add(trace?.traceId ?? "").add(trace?.spanId ?? "");
    }
    assert.equal(ids.size, 2000);
  });

  it("takes the share that it is told", () => {
    const random = seededRandom(2);
    const taken = Array.from({ length: 10_000 }, () =>
      sampledTrace(makeHeaders({}), { ratio: 0.1, followParent: true }, random),
    ).filter((trace) => trace !== undefined);
    assert.ok(taken.length > 850 && taken.length < 1150, String(taken.length));
  });

  const rows: readonly (readonly [flags: string, sampling: typeof always, isTraced: boolean])[] = [
    ["01", never, true],
    ["00", always, false],
    ["01", { ratio: 0, followParent: false }, false],
    ["00", { ratio: 1, followParent: false }, true],
  ];
  for (const [flags, sampling, isTraced] of rows) {
    it(`flags ${flags} with ${JSON.stringify(sampling)}: ${isTraced ? "traced" : "not"}`, () => {
      const trace = from({ traceparent: `00-${TRACE}-${SPAN}-${flags}` }, sampling);
      assert.deepEqual([trace?.traceId, trace?.parentId], isTraced ? [TRACE, SPAN] : [undefined, undefined]);
    });
  }

  it("keeps the caller's state if it is short and printable", () => {
    const traceparent = `00-${TRACE}-${SPAN}-01`;
    assert.equal(from({ traceparent, tracestate: "a=1,b=2" }, always)?.state, "a=1,b=2");
    assert.equal(from({ traceparent, tracestate: `a=${"x".repeat(600)}` }, always)?.state, "");
    assert.equal(from({ traceparent, tracestate: "a=\u00e9" }, always)?.state, "");
    assert.equal(from({ tracestate: "a=1" }, always)?.state, "");
  });
});
