import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CONTRACT_VERSION, contractProblem } from "../../../core/contract/version.ts";
import * as contract from "../../../core/plugin.ts";

describe("a plugin's contract", () => {
  const cases: readonly (readonly [wanted: unknown, current: string, problem: RegExp])[] = [
    ["1.3", "1.3", /^$/],
    ["1.2", "1.3", /^$/],
    ["1.1", "1.3", /^$/],
    ["1.0", "1.3", /^is for contract 1\.0, and this router has 1\.3, which runs plugins from 1\.1 on: .* contract: "1\.3"\.$/],
    ["1.0", "1.1", /^$/],
    ["1.4", "1.3", /take a newer router/],
    ["2.0", "1.3", /take a newer router/],
    ["1.9", "2.0", /runs plugins from 2\.0 on/],
    ["one", "1.3", /^is for the contract "one", which is no version: write contract: "1\.3"\.$/],
    [1, "1.3", /is no version/],
    [Symbol("1.0"), "1.3", /is no version/],
  ];
  for (const [wanted, current, problem] of cases)
    it(`${String(wanted)} with a router of ${current}`, () => assert.match(contractProblem(wanted, current), problem));
});

/** What plugins could import with 1.0. A name goes at the earliest two minors after it was marked as deprecated. */
const NAMES_OF_1_0 = `Bounds CONTRACT_VERSION ERRORS Histogram RouterError defineAdmission defineAuthenticator defineDetector defineDiscovery
  defineFilter defineKind defineObserver defineParser definePicker defineRewriter defineScorer defineSource doubleZeros endpointName
  estimateAt expectedFirstTokenMs firstTokenAfterMs firstTokenMs isServing listOf nameSet parseEndpointUrl printable printableLines ringPlace
  thrownCode thrownMessage thrownText uncachedTokens z`;

it(`has in ${CONTRACT_VERSION} what it had in 1.0`, () => {
  assert.deepEqual(
    NAMES_OF_1_0.split(/\s+/).filter((name) => !(name in contract)),
    [],
  );
});
