import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { RouterError } from "../../../core/contract/errors.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";
import type { DecisionReport } from "../../../core/report/report-schema.ts";
import { makeDecision, makeOutcome } from "../../../core/test-kit/records.ts";
import decisions from "../../../plugins/observers/decisions.ts";
import { makeRequest } from "../../support/endpoints.ts";
import { createPlugin, makeHost } from "../../support/plugins.ts";
import { makeView } from "../../support/view.ts";

function shownAfter(records: readonly Partial<Outcome>[], query = "", parameters: unknown = {}): readonly DecisionReport[] {
  const observer = createPlugin(decisions, parameters);
  for (const record of records) observer.finished(makeOutcome(record));
  const [page] = observer.pages ?? [];
  assert.equal(page?.path, "/decisions");
  const text = page.render(makeView(), new URLSearchParams(query));
  return (JSON.parse(text) as { decisions: DecisionReport[] }).decisions;
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `r${index}` }));

describe("which requests are shown", () => {
  const cases: readonly [name: string, records: readonly Partial<Outcome>[], query: string, ids: readonly string[]][] = [
    ["none yet", [], "", []],
    ["the latest first", numbered(3), "", ["r2", "r1", "r0"]],
    ["as many as asked for", numbered(3), "limit=2", ["r2", "r1"]],
    ["all if the limit is not valid", numbered(3), "limit=-1", ["r2", "r1", "r0"]],
    ["at most `size`", numbered(6), "", ["r5", "r4", "r3", "r2"]],
    ["at most `size`, after several rounds", numbered(11), "", ["r10", "r9", "r8", "r7"]],
    ["the one asked for", numbered(6), "id=r4", ["r4"]],
    ["both with the same id", [{ id: "a" }, { id: "b" }, { id: "a" }], "id=a", ["a", "a"]],
    ["one that was forgotten", numbered(6), "id=r1", []],
    ["no probes of the router", [{ id: "a" }, { id: "b", api: "", decision: undefined }], "", ["a"]],
    ["a request that could not be parsed", [{ id: "a", decision: undefined, request: undefined, status: 400 }], "", ["a"]],
  ];
  for (const [name, records, query, ids] of cases) {
    it(name, () =>
      assert.deepEqual(
        shownAfter(records, query, { size: 4, memoryBytes: 0 }).map(({ id }) => id),
        ids,
      ),
    );
  }
});

test("neither prompt nor headers are kept", () => {
  const body = new TextEncoder().encode('{"model":"base","prompt":"PRIVATE"}');
  const request = makeRequest({ body, cacheSalt: "PRIVATE", headers: { get: () => "PRIVATE" } });
  assert.doesNotMatch(JSON.stringify(shownAfter([{ request }])), /PRIVATE/);
});

test("a name as long as a body is not kept", () => {
  const model = "x".repeat(1_000_000);
  const [shown] = shownAfter([{ decision: makeDecision({ model, target: model }) }]);
  assert.equal(shown?.model, "(a name of 1000000 characters)");
  assert.equal(shown?.target, "(a name of 1000000 characters)");
});

test("how it waited is shown", () => {
  const wait = { tenant: "a", priority: 2, tokens: 40, position: 3, reason: "no room", end: "admitted", waitedMs: 12 } as const;
  assert.deepEqual(shownAfter([{ wait }])[0]?.wait, wait);
});

test("a refusal is kept as code and message", () => {
  const refusal = new RouterError("no_ready_endpoint", "No replica is ready.", { cause: new Error("PRIVATE") });
  const [shown] = shownAfter([{ decision: makeDecision({ refusal, order: [], candidates: [] }) }]);
  assert.deepEqual(shown?.refusal, { code: "no_ready_endpoint", message: "No replica is ready." });
  assert.doesNotMatch(JSON.stringify(shown), /PRIVATE/);
});

test("another size holds from the first use on, and keeps the latest", () => {
  let kept: unknown;
  const host = makeHost({
    keep(_version, make) {
      kept ??= make();
      return kept as never;
    },
  });
  const shown = (observer: ReturnType<typeof makeWith>) =>
    JSON.parse(observer.pages![0]!.render(makeView(), new URLSearchParams())).decisions.length as number;
  const makeWith = (size: number) => createPlugin(decisions, { size }, host);
  const before = makeWith(4);
  for (const record of numbered(6)) before.finished(makeOutcome(record));
  const refused = makeWith(1);
  assert.equal(shown(before), 4, "the next config may be refused");
  assert.equal(shown(refused), 1);
});
