import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type EndedRequest, reportOf } from "../../../core/report/decision-report.ts";
import { makeAttempt, makeDecision, makeOutcome } from "../../../core/test-kit/records.ts";
import { RememberedRequests } from "../../../plugins/observers/remembered-requests.ts";

const MIB = 1024 ** 2;
const [COUNT, MEMORY] = [100, 4 * MIB];

function ended(number: number, more: Partial<EndedRequest> = {}): EndedRequest {
  const { request: _, ...record } = makeOutcome();
  // 40 a second.
  const wallMs = number * 25;
  return { ...record, isStream: true, promptTokens: 100, refusal: undefined, id: `r${number}`, wallMs, ...more };
}

const FAILED = { status: 502, error: { code: "upstream_failed", message: "" }, attempts: [makeAttempt("e1", "reset")] };

function after(count: number, make: (number: number) => EndedRequest, bytes = MEMORY): readonly string[] {
  const requests = new RememberedRequests();
  requests.resize(COUNT, bytes);
  for (let number = 0; number < count; number++) requests.add(make(number));
  return requests.latestFirst().map(({ id }) => id);
}

describe("what is remembered", () => {
  it("is by far more than the latest, at 40 a second", () => {
    const ids = after(1_000, ended);
    assert.equal(ids.length, 1_000);
    assert.deepEqual([ids[0], ids.at(-1)], ["r999", "r0"]);
  });

  it("has a bound, whatever comes", () => {
    const endpoints = Array.from({ length: 1_000 }, () => makeDecision().endpoints[0]!);
    const rows: readonly (readonly [name: string, more: Partial<EndedRequest>, count: number, most: number])[] = [
      ["small ones", {}, 5_000, 3_000],
      ["a thousand replicas", { decision: makeDecision({ endpoints, candidates: endpoints }) }, 600, 250],
      ["failed ones", FAILED, 5_000, 3_000],
      ["long messages", { error: { code: "upstream_failed", message: "x".repeat(8_000) }, status: 502 }, 5_000, 3_000],
    ];
    for (const [name, more, count, most] of rows) {
      const ids = after(count, (number) => ended(number, more));
      assert.ok(ids.length > COUNT && ids.length < most, `${name}: ${ids.length}`);
      assert.deepEqual(
        ids.slice(0, COUNT),
        Array.from({ length: COUNT }, (_, at) => `r${count - 1 - at}`),
        name,
      );
    }
  });

  it("is the latest alone where there is no memory for more", () => {
    assert.equal(after(1_000, ended, 0).length, COUNT);
  });

  it("keeps what failed or was slow longer than the rest", () => {
    const odd: Readonly<Record<number, Partial<EndedRequest>>> = {
      50: FAILED,
      60: { firstByteMs: 9_000 },
      70: { ending: "broken" },
    };
    const ids = after(10_000, (number) => ended(number, odd[number]));
    for (const id of ["r50", "r60", "r70"]) assert.ok(ids.includes(id), id);
    assert.ok(!ids.includes("r51"));
  });

  it("is a sample while thousands end each second, with the failed ones", () => {
    const ids = after(5_000, (number) => ended(number, { wallMs: number / 5, ...(number === 1_000 && FAILED) }));
    assert.ok(ids.length > 150 && ids.length < 300, `${ids.length}`);
    assert.ok(ids.includes("r1000"));
  });

  it("is all of a short burst", () => {
    const ids = after(140, (number) => ended(number, { wallMs: number }));
    assert.equal(ids.length, 140);
  });

  it("goes on after the machine's clock was set back", () => {
    const ids = after(1_000, (number) => ended(number, number < 500 ? {} : { wallMs: number * 25 - 3_600_000 }));
    assert.equal(ids.length, 1_000);
  });

  it("is shown as it was", () => {
    const requests = new RememberedRequests();
    requests.resize(1, MEMORY);
    const [older, latest] = [ended(0), ended(1)];
    for (const each of [older, latest]) requests.add(each);
    assert.deepEqual(
      requests.latestFirst().map(({ report }) => JSON.stringify(report())),
      [latest, older].map((each) => JSON.stringify(reportOf(each))),
    );
  });

  it("takes new bounds: the oldest are forgotten", () => {
    const requests = new RememberedRequests();
    requests.resize(COUNT, MEMORY);
    for (let number = 0; number < 1_000; number++) requests.add(ended(number));
    requests.resize(3, 0);
    assert.deepEqual(
      requests.latestFirst().map(({ id }) => id),
      ["r999", "r998", "r997"],
    );
  });
});
