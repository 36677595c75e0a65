import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EndpointStatus } from "../../../../apps/admin/endpoint-schema.ts";
import { type Status, statusOf } from "../../../../apps/admin/status.ts";
import { SORT_KEYS, topLines } from "../../../../apps/cli/commands/top.ts";
import { makeEndpoint } from "../../../support/endpoints.ts";
import { TEXTS } from "../../../support/section-modules.ts";
import { makeShownRouter, makeSite } from "../../../support/view.ts";

const ENDLESS = { columns: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY };

function makeStatus(count: number, overrides: (index: number) => object = () => ({}), more: object = {}): Status {
  const pool = Array.from({ length: count }, (_, index) => makeEndpoint(index));
  const status = statusOf(makeSite(makeShownRouter(pool)));
  // As a router sends it that has no figures.
  const bare = status.endpoints.map(({ figures: _, ...rest }: EndpointStatus & { figures?: unknown }, index) => ({
    ...rest,
    ...overrides(index),
  }));
  return { ...status, traffic: undefined, warnings: [], endpoints: bare as never, ...more } as unknown as Status;
}

const figures = (index: number) => ({
  inFlight: index,
  figures: {
    windowS: 300,
    requests: 300 * (index + 1),
    replicaErrors: 3 - index,
    overloads: 5,
    ttftP50Ms: index === 1 ? null : 100 * index,
    ttftP95Ms: 20_000,
    hitRate: 0.456,
    outputTokensPerS: 1234.5,
  },
});

const names = (lines: readonly string[]) => lines.flatMap((line) => /^e\d+/.exec(line) ?? []);

describe("signalbox top", () => {
  it("shows what a router without figures knows", () => {
    const lines = topLines(makeStatus(2), TEXTS, "name", ENDLESS);
    assert.deepEqual(lines.slice(1), [
      "0 requests in flight",
      "",
      "replica  phase  in flight  prefill tokens  connections",
      "e0       ready          0               0            0",
      "e1       ready          0               0            0",
    ]);
  });

  it("has those out of use first, also where the others do not fit", () => {
    const isDown = (index: number) => ({ isAvailable: index !== 2 && index !== 11 });
    const lines = topLines(makeStatus(20, isDown), TEXTS, "name", { ...ENDLESS, rows: 9 });
    assert.equal(names(lines).slice(0, 3).join(" "), "e2 e11 e0");
    assert.ok(names(lines).length < 20);
  });

  it("says below a replica why it is out of use, and cuts names in their middle before a column is left out", () => {
    const name = "vllm-llama-3-70b-instruct-7f9c5d-abcde.default";
    const state = "not-ready: connect ECONNREFUSED 10.0.0.7:8000 (its last probe); it has been so since noon";
    const isDown = (index: number) => (index === 1 ? { name, phase: "not-ready", state, isAvailable: false, why: "x" } : {});
    const wide = topLines(makeStatus(3, isDown), TEXTS, "name", ENDLESS);
    assert.deepEqual([wide[4]?.split(" ")[0], wide[5]], [name, `  ${state}`]);
    const lines = topLines(makeStatus(3, isDown), TEXTS, "name", { columns: 80, rows: 24 }).slice(3);
    assert.match(lines[0]!, /^replica +phase +in flight +prefill tokens +connections$/);
    assert.match(lines[1]!, /^vllm-llama-3-…bcde\.default +not-ready /);
    assert.match(lines[2]!, /^ {2}not-ready: connect ECONNREFUSED .*…$/);
    assert.deepEqual(names(lines), ["e0", "e2"]);
    const few = topLines(makeStatus(20, isDown), TEXTS, "name", { columns: 80, rows: 10 });
    assert.equal(few.length, 10);
    assert.equal(few.at(-1), "… and 16 more replicas");
  });

  it("shows figures where there are any", () => {
    const traffic = { windowS: 300, requests: 600, routerErrors: 1, replicaErrors: 5, outputTokensPerS: 80.25 };
    const lines = topLines(makeStatus(2, figures, { traffic }), TEXTS, "name", ENDLESS);
    assert.deepEqual(lines.slice(1), [
      "1 request in flight, 2.00 a second, 0.02 errors a second, 80.3 tokens a second (in the last 5 min)",
      "",
      "replica  phase  in flight  requests/s  errors  refused  TTFT p50     p95  hit rate  tokens/s  prefill tokens  connections",
      "e0       ready          0        1.00       3        5      0 ms  20.0 s       46%     1,235               0            0",
      "e1       ready          1        2.00       2        5         -  20.0 s       46%     1,235               0            0",
    ]);
  });

  const orders: readonly (readonly [sort: string, order: string])[] = [
    ["name", "e0 e1 e2"],
    ["inflight", "e2 e1 e0"],
    ["requests", "e2 e1 e0"],
    ["errors", "e0 e1 e2"],
    ["ttft", "e2 e0 e1"],
    ["waiting", "e0 e1 e2"],
  ];
  for (const [sort, order] of orders) {
    it(`sorts by ${sort}`, () => {
      assert.ok(SORT_KEYS.includes(sort));
      assert.equal(names(topLines(makeStatus(3, figures), TEXTS, sort, ENDLESS)).join(" "), order);
    });
  }

  it("leaves out columns and rows that do not fit", () => {
    const status = makeStatus(200, figures);
    for (const columns of [110, 80, 60, 40, 20, 1]) {
      const lines = topLines(status, TEXTS, "inflight", { columns, rows: 24 });
      assert.equal(lines.length, 24);
      assert.equal(lines.at(-1), "… and 181 more replicas");
      const table = lines.slice(3, -1);
      if (columns > 7)
        assert.ok(
          table.every((line) => line.length <= columns),
          `${columns}: ${table[0]}`,
        );
      assert.match(table[0] ?? "", / …$/, "columns are missing");
      assert.match(table[0] ?? "", /^replica/);
    }
    assert.doesNotMatch(topLines(status, TEXTS, "inflight", ENDLESS)[3] ?? "", /…/);
    assert.equal(names(topLines(makeStatus(20, figures), TEXTS, "name", { columns: 80, rows: 24 })).length, 20);
    assert.ok(topLines(status, TEXTS, "name", { columns: 80, rows: 3 }).length > 3, "what is too much is cut by who draws it");
  });

  it("shows the first warnings", () => {
    const warnings = ["one", "two", "three", "four", "five"];
    const lines = topLines(makeStatus(1, undefined, { warnings }), TEXTS, "name", ENDLESS);
    assert.deepEqual(lines.slice(2, 6), ["! one", "! two", "! three", "! and 2 more, which signalbox status lists"]);
  });
});
