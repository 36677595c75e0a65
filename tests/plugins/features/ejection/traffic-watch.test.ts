import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import { EndpointRecords } from "../../../../plugins/features/ejection/endpoint-records.ts";
import { TrafficWatch } from "../../../../plugins/features/ejection/traffic-watch.ts";
import { makeEndpoint, makeRequest } from "../../../support/endpoints.ts";

const endpoint = makeEndpoint(0, { models: ["m"] });
const other = makeEndpoint(1, { models: ["m"] });
const SENT_MS = 3_000;
const NOW_MS = 7_000;

function setUp(isStream = true) {
  const told: string[] = [];
  const ejector = {
    sent: ({ name }: Endpoint, nowMs: number) => void told.push(`sent ${name} ${nowMs}`),
    ended: ({ name }: Endpoint, sentAtMs: number) => void told.push(`ended ${name} ${sentAtMs}`),
    failed: ({ name }: Endpoint, sentAtMs: number, nowMs: number) => void told.push(`failed ${name} ${sentAtMs} ${nowMs}`),
    cleared: (_endpoint: Endpoint, retract: () => void) => retract(),
    succeeded: ({ name }: Endpoint, sentAtMs: number, nowMs: number) => void told.push(`succeeded ${name} ${sentAtMs} ${nowMs}`),
  };
  const records = new EndpointRecords();
  const watch = new TrafficWatch({ records, ejector, poolRate: () => 1, endpoints: () => [endpoint, other] });
  const request = makeRequest({ target: "m", isStream, body: Buffer.from("one") });
  return { watch, records, request, told, record: () => records.of(endpoint, 0, NOW_MS) };
}

type Setup = ReturnType<typeof setUp>;

describe("what the ejector is told of a request that was sent before", () => {
  const rows: readonly (readonly [name: string, happens: (setup: Setup) => void, told: string])[] = [
    ["200", ({ watch, request }) => watch.responded(request, endpoint, 200, SENT_MS, NOW_MS), "succeeded e0 3000 7000"],
    ["500", ({ watch, request }) => watch.responded(request, endpoint, 500, SENT_MS, NOW_MS), "failed e0 3000 7000"],
    ["501", ({ watch, request }) => watch.responded(request, endpoint, 501, SENT_MS, NOW_MS), "ended e0 3000"],
    ["429", ({ watch, request }) => watch.responded(request, endpoint, 429, SENT_MS, NOW_MS), "ended e0 3000"],
    [
      "an empty answer, where others have content",
      ({ watch, request }) => {
        watch.responded(request, other, 200, SENT_MS, NOW_MS, "some");
        watch.responded(request, endpoint, 200, SENT_MS, NOW_MS, "none");
      },
      "succeeded e1 3000 7000,failed e0 3000 7000",
    ],
    [
      "an empty answer, as others are",
      ({ watch, request }) => {
        watch.responded(request, other, 200, SENT_MS, NOW_MS, "none");
        watch.responded(request, endpoint, 200, SENT_MS, NOW_MS, "none");
      },
      "failed e1 3000 7000,succeeded e0 3000 7000",
    ],
    [
      "404 for its model, on a path that none has served",
      ({ watch, request }) => watch.responded(request, endpoint, 404, SENT_MS, NOW_MS),
      "ended e0 3000",
    ],
    [
      "404 for what another replica has stored",
      ({ watch, request }) => watch.responded({ ...request, isFollowUp: true }, endpoint, 404, SENT_MS, NOW_MS),
      "ended e0 3000",
    ],
    [
      "a response that lacks something",
      ({ watch, request }) => watch.malformed(request, endpoint, "no end", SENT_MS, NOW_MS),
      "failed e0 3000 7000",
    ],
    ["a reset", ({ watch, request }) => watch.failed(request, endpoint, "reset", SENT_MS, NOW_MS), "failed e0 3000 7000"],
    [
      "no connection",
      ({ watch, request }) => watch.failed(request, endpoint, "connect-failed", SENT_MS, NOW_MS),
      "failed e0 3000 7000",
    ],
    ["a stale connection", ({ watch, request }) => watch.failed(request, endpoint, "stale", SENT_MS, NOW_MS), "ended e0 3000"],
    ["a cut from this side", ({ watch, request }) => watch.failed(request, endpoint, "wedged", SENT_MS, NOW_MS), "ended e0 3000"],
    [
      "a gateway that did without it",
      ({ watch, request }) => watch.failed(request, endpoint, "passed-over", SENT_MS, NOW_MS),
      "ended e0 3000",
    ],
    [
      "a gateway that did without it on trial",
      ({ watch, request }) => watch.failed(request, { ...endpoint, isOnTrial: true }, "passed-over", SENT_MS, NOW_MS),
      "failed e0 3000 7000",
    ],
    ["bytes that belong to no request", ({ watch }) => watch.unasked(endpoint, NOW_MS), "failed e0 7000 7000"],
    ["a client that left", ({ watch, request }) => watch.abandoned(request, endpoint, SENT_MS), "ended e0 3000"],
  ];
  for (const [name, happens, told] of rows) {
    it(name, () => {
      const setup = setUp();
      setup.watch.sent(setup.request, endpoint, NOW_MS);
      happens(setup);
      assert.deepEqual(setup.told, ["sent e0 7000", ...told.split(",")]);
      assert.equal(setup.record().quietMs, 0);
    });
  }

  it("404 for its model, on a path that another one has served", () => {
    const { watch, request, told, record } = setUp();
    watch.responded(request, other, 200, SENT_MS, NOW_MS);
    watch.responded(request, endpoint, 404, SENT_MS, NOW_MS);
    assert.deepEqual(told, ["succeeded e1 3000 7000", "failed e0 3000 7000"]);
    assert.equal(record().missingModelCount, 1);
  });

  it("the request's own fault: it fails on a second endpoint too", () => {
    const { watch, request, told, record } = setUp();
    watch.responded(request, endpoint, 500, SENT_MS, NOW_MS);
    watch.responded(request, other, 500, SENT_MS, NOW_MS);
    assert.deepEqual(told, ["failed e0 3000 7000", "ended e1 3000"]);
    assert.equal(record().consecutiveFailures, 0);
  });
});

describe("responses that lack something", () => {
  it("count in a row until one is whole, and among the failures of half a minute", () => {
    const { watch, request, record } = setUp();
    for (const lack of ["no end", 'no "choices"']) watch.malformed(request, endpoint, lack, SENT_MS, NOW_MS);
    const { malformedCount, malformedBy, recentFailures, consecutiveFailures } = record();
    assert.deepEqual([malformedCount, malformedBy, recentFailures, consecutiveFailures], [2, 'no "choices"', 2, 0]);
    watch.responded(request, endpoint, 200, SENT_MS, NOW_MS);
    assert.equal(record().malformedCount, 0);
  });

  it("are the request's own fault where it gets none on a second endpoint either", () => {
    const { watch, request, told, record } = setUp();
    watch.malformed(request, endpoint, "no end", SENT_MS, NOW_MS);
    watch.malformed(request, other, "no end", SENT_MS, NOW_MS);
    assert.deepEqual(told, ["failed e0 3000 7000", "ended e1 3000"]);
    assert.deepEqual([record().malformedCount, record().recentFailures], [0, 0]);
  });
});

describe("an endpoint has answered", () => {
  const explainedAfter = (isStream: boolean, status: number) => {
    const { watch, request, records, record } = setUp(isStream);
    watch.sent(request, endpoint, NOW_MS);
    if (isStream && status < 300) watch.firstToken(request, endpoint, 100, 100);
    watch.responded(request, endpoint, status, SENT_MS, NOW_MS);
    records.sent(endpoint, true, NOW_MS);
    return record().explainedQuietMs;
  };
  it("with a first token", () => assert.equal(explainedAfter(true, 200), 5_000));
  it("with a whole response", () => assert.equal(explainedAfter(false, 200), 5_000));
  it("not with an error", () => assert.equal(explainedAfter(false, 400), 120_000));
});

describe("a gateway that does without an endpoint, in a pool of two", () => {
  const passOver = ({ watch, request }: Setup) => {
    watch.sent(request, endpoint, SENT_MS);
    watch.failed(request, endpoint, "passed-over", SENT_MS, NOW_MS);
  };
  const serve = ({ watch, request }: Setup) => {
    watch.sent(request, endpoint, SENT_MS);
    watch.responded(request, endpoint, 200, SENT_MS, NOW_MS);
  };
  for (const [name, steps, failures] of [
    ["once", [passOver], 0],
    ["in turn with it", [passOver, serve, passOver, serve, passOver, serve, passOver], 0],
    ["twice in a row", [passOver, passOver], 1],
    ["seven times in a row", Array<typeof passOver>(7).fill(passOver), 3],
    ["twice in a row, then not", [passOver, passOver, serve], 0],
  ] as const) {
    it(`${name}: ${failures} failures in a row`, () => {
      const setup = setUp();
      for (const step of steps) step(setup);
      assert.equal(setup.record().consecutiveFailures, failures);
      assert.equal(setup.record().quietMs, 0, "nothing is open there");
    });
  }
});
