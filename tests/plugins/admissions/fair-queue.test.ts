import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Admission, Waiting } from "../../../core/contract/admission.ts";
import { createPlugin, makeHeaders, makeRoom, makeWaiting } from "../../../core/contract/test-kit.ts";
import fairQueue from "../../../plugins/admissions/fair-queue.ts";

/** So many requests of one tenant. */
const requestsOf = (tenant: string, count: number, overrides: Partial<Waiting> = {}) =>
  Array.from({ length: count }, (_, index) => makeWaiting({ id: `${tenant}-${index}`, tenant, sinceMs: index, ...overrides }));

function joined(line: Admission, ...lists: readonly (readonly Waiting[])[]): Admission {
  for (const request of lists.flat()) line.join(request);
  return line;
}

/** What of so many requests that go on belongs to whom, in tokens. */
function tokensByTenant(line: Admission, count: number): Readonly<Record<string, number>> {
  const tokens: Record<string, number> = {};
  for (let left = count; left > 0; left--) {
    const taken = line.take(makeRoom())!;
    tokens[taken.tenant] = (tokens[taken.tenant] ?? 0) + taken.tokens;
  }
  return tokens;
}

const names = (line: Admission, count: number) => Array.from({ length: count }, () => line.take(makeRoom())?.id);

describe("fair shares", () => {
  it("are of tokens: long requests get fewer turns", () => {
    const line = joined(
      createPlugin(fairQueue),
      requestsOf("long", 300, { tokens: 9_000 }),
      requestsOf("short", 3_000, { tokens: 500 }),
      requestsOf("greedy", 3_000, { tokens: 1_500 }),
    );
    const { long = 0, short = 0, greedy = 0 } = tokensByTenant(line, 1_000);
    const mean = (long + short + greedy) / 3;
    for (const share of [long, short, greedy]) assert.ok(Math.abs(share - mean) < 0.05 * mean, `${long} ${short} ${greedy}`);
  });

  it("are corrected by what requests took in the end", () => {
    const line = joined(createPlugin(fairQueue), requestsOf("modest", 1_000), requestsOf("talker", 1_000));
    let [modest, talker] = [0, 0];
    for (let left = 600; left > 0; left--) {
      const taken = line.take(makeRoom())!;
      const took = taken.tenant === "talker" ? 3_000 : 1_000;
      if (taken.tenant === "talker") talker += took;
      else modest += took;
      line.spent?.(taken, took);
    }
    assert.ok(Math.abs(talker - modest) < 0.05 * (talker + modest), `${talker} ${modest}`);
  });

  it("keep the debt of a tenant whose line was empty for a moment", () => {
    const line = joined(createPlugin(fairQueue), requestsOf("modest", 100), requestsOf("talker", 1));
    const first = [line.take(makeRoom())!, line.take(makeRoom())!].find(({ tenant }) => tenant === "talker")!;
    line.spent?.(first, 11_000);
    joined(line, requestsOf("talker", 1));
    const next = names(line, 12).indexOf("talker-0");
    assert.ok(next === -1 || next >= 9, String(next));
  });

  it("can be of requests, or none at all", () => {
    const lists = () => [requestsOf("a", 4, { tokens: 9_000 }), requestsOf("b", 4, { sinceMs: 10, tokens: 10 })] as const;
    const turns = joined(createPlugin(fairQueue, { fairness: "requests" }), ...lists());
    assert.deepEqual(names(turns, 4), ["a-0", "b-0", "a-1", "b-1"]);
    const order = joined(createPlugin(fairQueue, { fairness: "none" }), ...lists());
    assert.deepEqual(names(order, 5), ["a-0", "a-1", "a-2", "a-3", "b-0"]);
  });
});

describe("priorities", () => {
  it("go first, but those that have waited too long get a turn in sixteen", () => {
    const line = joined(
      createPlugin(fairQueue, { agingMs: 1_000 }),
      requestsOf("high", 64, { priority: 9 }),
      requestsOf("low", 64, { priority: -1, sinceMs: 0 }),
    );
    const at = (nowMs: number) => Array.from({ length: 32 }, () => line.take(makeRoom({ nowMs }))!.tenant);
    assert.deepEqual(
      at(999).filter((tenant) => tenant === "low"),
      [],
    );
    assert.equal(at(1_001).filter((tenant) => tenant === "low").length, 2);
  });

  it("say who is sent away: the newest of the longest share of the lowest", () => {
    const line = joined(createPlugin(fairQueue), requestsOf("a", 5), requestsOf("b", 2), requestsOf("high", 9, { priority: 3 }));
    assert.equal(line.least(makeWaiting({ tenant: "c" })).id, "a-4");
    assert.equal(line.least(makeWaiting({ tenant: "high", priority: 3 })).id, "a-4");
    const ofLongest = makeWaiting({ tenant: "a" });
    assert.equal(line.least(ofLongest), ofLongest);
    const low = makeWaiting({ tenant: "c", priority: -1 });
    assert.equal(line.least(low), low);
  });
});

describe("the order inside a share", () => {
  it("can be by the time at which the first token is due", () => {
    const line = createPlugin(fairQueue, { order: "deadline" });
    for (const [index, ms] of ["", "5000", "100", "900"].entries())
      line.join(
        makeWaiting({ id: `${index}`, sinceMs: index, headers: makeHeaders(ms === "" ? {} : { "x-llm-d-slo-ttft-ms": ms }) }),
      );
    assert.deepEqual(names(line, 4), ["2", "3", "1", "0"]);
  });

  for (const text of ["", " ", "-5", "soon", "NaN", "Infinity", "0x1", "1e0", "1,2", "5 ms", "+1", "9".repeat(400)])
    it(`takes a time of "${text.slice(0, 20)}" for none`, () => {
      const line = createPlugin(fairQueue, { order: "deadline" });
      line.join(makeWaiting({ id: "odd", sinceMs: 0, headers: makeHeaders({ "x-llm-d-slo-ttft-ms": text }) }));
      line.join(makeWaiting({ id: "due", sinceMs: 1, headers: makeHeaders({ "x-slo-ttft-ms": "600000.5" }) }));
      assert.deepEqual(names(line, 2), ["due", "odd"]);
    });
});

describe("ceilings", () => {
  const ceilingOf = (ceiling: unknown, priority: number, saturation = 0) =>
    createPlugin(fairQueue, { ceiling }).ceiling?.(priority, saturation);

  it("are the same for all, by priority, or none", () => {
    assert.equal(ceilingOf(0.7, 5), 0.7);
    assert.equal(ceilingOf(1, 5), undefined);
    assert.equal(ceilingOf({ domain: "explicit", ceilings: { "5": 0.4 } }, 5), 0.4);
    assert.equal(ceilingOf({ domain: "explicit", ceilings: { "5": 0.4 } }, 6), 0);
  });

  it("by rank lie between the least and the most, by value too", () => {
    const byRank = createPlugin(fairQueue, { ceiling: { minCeiling: 0.4, maxCeiling: 0.9 } });
    for (const priority of [100, 10, 0]) byRank.ceiling?.(priority, 0);
    assert.deepEqual(
      [100, 10, 0].map((priority) => Math.round(100 * byRank.ceiling!(priority, 0))),
      [90, 65, 40],
    );
    const byValue = createPlugin(fairQueue, { ceiling: { domain: "value", minCeiling: 0, maxCeiling: 1 } });
    for (const priority of [100, 0]) byValue.ceiling?.(priority, 0);
    assert.equal(byValue.ceiling?.(10, 0), 0.1);
  });

  it("by default keep a tenth of the room from all but the highest priority", () => {
    const line = createPlugin(fairQueue);
    assert.equal(line.ceiling?.(0, 0), 1);
    line.ceiling?.(7, 0);
    assert.equal(line.ceiling?.(0, 0), 0.9);
    assert.equal(line.ceiling?.(7, 0), 1);
  });

  it("that are reflective close lower priorities as the pool fills, but for a part of the turns", () => {
    const line = createPlugin(fairQueue, { ceiling: "reflective" });
    line.ceiling?.(7, 0);
    assert.equal(line.ceiling?.(0, 0.3), 1);
    assert.equal(line.ceiling?.(0, 1), 0);
    const open = Array.from({ length: 90 }, () => line.ceiling!(0, 0.9)).filter((ceiling) => ceiling === 1).length;
    assert.equal(open, 10);
    assert.equal(line.ceiling?.(7, 0.99), 1);
  });

  it("are refused where they contradict themselves", () => {
    for (const ceiling of [{ domain: "rank" }, { domain: "explicit" }, { minCeiling: 0.5, ceilings: {} }])
      assert.throws(() => ceilingOf(ceiling, 0), TypeError);
  });
});
