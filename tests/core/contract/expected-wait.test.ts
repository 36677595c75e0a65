import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { expectedFirstTokenMs } from "../../../core/contract/expected-wait.ts";
import { LoadTable } from "../../../core/state/load.ts";
import { DEFAULT_RATE } from "../../../core/state/replica-speeds.ts";
import { makeEndpoint, makeRequest } from "../../support/endpoints.ts";

const TOKENS = 8_000;
const TIME_MS = TOKENS / DEFAULT_RATE;

/** Of an endpoint that computes as fast as is assumed at first. */
function ofKnownSpeed(): LoadTable {
  const load = new LoadTable();
  load.speedOf(0).measured(TOKENS, 0, TIME_MS, 0);
  return load;
}

describe("the time to the first token that is expected of a try at an idle endpoint", () => {
  const rows: readonly (readonly [name: string, promptTokens: number, load: LoadTable, expectedMs: number])[] = [
    ["is the prompt's length by the endpoint's speed", TOKENS, ofKnownSpeed(), TIME_MS],
    ["is unknown without a prompt", 0, ofKnownSpeed(), Number.NaN],
    ["is unknown before the endpoint's speed is", TOKENS, new LoadTable(), Number.NaN],
  ];
  for (const [name, promptTokens, load, expectedMs] of rows) {
    it(name, () => assert.equal(expectedFirstTokenMs(makeRequest({ promptTokens }), makeEndpoint(0), load.at(0)), expectedMs));
  }
});
