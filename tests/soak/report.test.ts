import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { problemsOf } from "./report.ts";
import type { Findings } from "./soak.ts";

const results = {
  ...{ served: 900, refused: 9, broken: 5, "plugin fault": 6, left: 80 },
  ...{ wrong: 0, damaged: 0, "mixed up": 0, hung: 0 },
};
const rest = { inFlight: 0, prefillTokens: 0, upstreamConnections: 0, clientConnections: 0, heldBytes: 0, openFiles: 31 };
const GOOD: Findings = {
  results,
  unexplained: [],
  disturbances: new Map([["killed", 3]]),
  pluginFaults: 50,
  starvedMs: 0,
  samples: Array.from({ length: 40 }, (_, index) => ({ requests: index * 25, resident: 120e6, live: 60e6 })),
  rest,
  filesBefore: 30,
  uncaught: [],
  endedEarly: undefined,
  exitCode: 0,
};
const leak = GOOD.samples.map((sample) => ({ ...sample, live: sample.live + 5_000 * sample.requests }));

describe("a soak", () => {
  it("passes when all is well", () => assert.deepEqual(problemsOf(GOOD), []));

  const cases: readonly (readonly [what: string, change: Partial<Findings>, problem: RegExp])[] = [
    ["a wrong response", { results: { ...results, wrong: 1 } }, /1 responses: wrong/],
    ["a damaged response", { results: { ...results, damaged: 1 } }, /1 responses: damaged/],
    ["a response of another request", { results: { ...results, "mixed up": 1 } }, /1 responses: mixed up/],
    ["a hung request", { results: { ...results, hung: 1 } }, /1 responses: hung/],
    ["a failure without a disturbed replica", { unexplained: [["soak-7", undefined]] }, /1 requests failed that met no/],
    ["a run in which nothing was served", { results: { ...results, served: 0 } }, /too little happened/],
    ["a run without disturbances", { disturbances: new Map() }, /too little happened/],
    ["a run without faults of plugins", { pluginFaults: 0 }, /too little happened/],
    ["a request still in flight", { rest: { ...rest, inFlight: 1 } }, /inFlight is 1/],
    ["prompt tokens that stay", { rest: { ...rest, prefillTokens: 12 } }, /prefillTokens is 12/],
    ["less than nothing in flight", { rest: { ...rest, inFlight: -1 } }, /inFlight is -1/],
    ["memory that stays booked", { rest: { ...rest, heldBytes: 4096 } }, /heldBytes is 4096/],
    ["a connection that stays", { rest: { ...rest, upstreamConnections: 1 } }, /upstreamConnections is 1/],
    ["files that stay open", { rest: { ...rest, openFiles: 60 } }, /60 open files/],
    ["growing memory", { samples: leak }, /live memory grows by 5000 bytes a request/],
    ["an error that no code caught", { uncaught: ["boom"] }, /no code caught: boom/],
    ["a router that ends by itself", { endedEarly: "ended with SIGSEGV" }, /ended with SIGSEGV/],
    ["another exit code than 0", { exitCode: 1 }, /ended with code 1/],
  ];
  for (const [what, change, problem] of cases) {
    it(`fails for ${what}`, () => assert.match(problemsOf({ ...GOOD, ...change }).join("\n"), problem));
  }
});
