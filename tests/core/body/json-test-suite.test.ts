import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { sharedPath } from "../../support/shared.ts";
import { cutsOf, parsed, utf8, verdict } from "./verdict.ts";

const DEEPER_THAN_ANY = 1_000_000;
const folder = sharedPath("corpora/jsontestsuite/test_parsing");

describe("JSONTestSuite", () => {
  if (folder === undefined) {
    test("the corpus", (t) => t.skip("corpora/jsontestsuite is missing"));
    return;
  }
  for (const [kind, meaning] of Object.entries({ n: "must be refused", y: "must be taken", i: "may go either way" })) {
    test(`files that ${meaning}`, () => {
      const names = readdirSync(folder).filter((name) => name.startsWith(`${kind}_`));
      assert.ok(names.length > 30);
      for (const name of names) {
        const file = new Uint8Array(readFileSync(join(folder, name)));
        check(name, file);
        // Most files hold no object and are refused for that alone, so each is also tried as a member of an object.
        check(`${name} as a member`, utf8Joined('{"a":', file, "}"));
      }
    });
  }
});

function check(name: string, body: Uint8Array): void {
  const value = parsed(body);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const whole = verdict(body, [], DEEPER_THAN_ANY);
  assert.equal(whole.code, isObject ? "ok" : "invalid_json", `${name}: ${whole.message}`);
  if (value !== undefined && !isObject) assert.match(whole.message, /must be a JSON object/, name);
  if (name.startsWith("n_")) assert.equal(whole.code, "invalid_json", name);
  const cuts = cutsOf(body, body.length > 10_000 ? 5 : 150);
  for (const cut of cuts) assert.deepEqual(verdict(body, [cut], DEEPER_THAN_ANY), whole, `${name}, cut at ${cut}`);
  assert.deepEqual(verdict(body, cuts, DEEPER_THAN_ANY), whole, `${name}, all cuts`);
}

function utf8Joined(before: string, middle: Uint8Array, after: string): Uint8Array {
  return Uint8Array.from([...utf8(before), ...middle, ...utf8(after)]);
}
