import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RouterError } from "../../../core/contract/errors.ts";
import type { EndedRequest } from "../../../core/report/decision-report.ts";
import { makeDecision, makeOutcome } from "../../../core/test-kit/records.ts";
import { decisionFilter } from "../../../plugins/observers/decision-filter.ts";

const made = (id: string, overrides: Partial<EndedRequest> = {}): EndedRequest => ({
  ...makeOutcome({ id }),
  isStream: false,
  promptTokens: 0,
  refusal: undefined,
  ...overrides,
});

const REQUESTS: readonly EndedRequest[] = [
  made("plain"),
  made("rewritten", { decision: makeDecision({ model: "food", target: "food-v2" }), durationMs: 2_000 }),
  made("retried", {
    status: 503,
    attempts: [
      { endpoint: "e2", result: "reset", startedMs: 1, endedMs: 2 },
      { endpoint: "e1", result: 503, startedMs: 2, endedMs: 3 },
    ],
  }),
  made("unread", { status: 400, decision: undefined, attempts: [] }),
  made("left", { status: 0, ending: "client-left", durationMs: 1_999.9 }),
];

describe("which requests a query wants", () => {
  const rows: readonly (readonly [query: string, ids: string])[] = [
    ["", "plain rewritten retried unread left"],
    ["model=base", "plain retried left"],
    ["model=food", "rewritten"],
    ["model=food-v2", "rewritten"],
    ["model=foo", ""],
    ["status=200", "plain rewritten"],
    ["status=5xx", "retried"],
    ["status=5XX,400", "retried unread"],
    ["status=0", "left"],
    ["endpoint=e2", "retried"],
    ["endpoint=e1", "plain rewritten retried left"],
    ["slow=2000", "rewritten"],
    ["slow=0", "plain rewritten retried unread left"],
    ["slow=1999.5&status=2xx", "rewritten"],
  ];
  for (const [query, ids] of rows) {
    it(query || "all", () => {
      const filter = decisionFilter(new URLSearchParams(query));
      const seen = REQUESTS.filter(filter).map(({ id }) => id);
      assert.equal(seen.join(" "), ids);
    });
  }
});

describe("what is refused, with the fix", () => {
  const rows: readonly (readonly [query: string, message: RegExp])[] = [
    ["model=", /leave it out/],
    ["endpoint=", /leave it out/],
    ...["", "6xx", "5x", "20", "2000", "ok", "5xx,", "-1", "00"].map((text) => [`status=${text}`, /such as 502/] as const),
    ...["", "-1", "1e3", "fast", "0x10", "Infinity", "9".repeat(13)].map((text) => [`slow=${text}`, /milliseconds/] as const),
  ];
  for (const [query, message] of rows) {
    it(query, () =>
      assert.throws(
        () => decisionFilter(new URLSearchParams(query)),
        (thrown: unknown) =>
          thrown instanceof RouterError &&
          thrown.code === "invalid_value" &&
          thrown.status === 400 &&
          message.test(thrown.message),
      ),
    );
  }
});
