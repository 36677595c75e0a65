import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";

const root = join(import.meta.dirname ?? ".", "..");

describe("npm test", () => {
  const cases: readonly (readonly [what: string, argument: string, code: number, said: RegExp])[] = [
    ["fails for a folder without tests", "examples/deploy", 1, /There are no tests in examples\/deploy/],
    ["refuses what is neither a runtime nor a place", "nowhere", 2, /"nowhere" is neither a runtime/],
  ];
  for (const [what, argument, code, said] of cases) {
    it(what, () => {
      const { status, stderr } = spawnSync("node", ["--import", "tsx", "tests/run.ts", argument], {
        cwd: root,
        encoding: "utf8",
      });
      assert.equal(status, code);
      assert.match(stderr, said);
    });
  }
});
