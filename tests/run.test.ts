import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";
import { groups, isPure, isRunOnce, LONGEST, ONCE, onEveryRuntime, PURE, testFiles } from "./support/suite/selection.ts";

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

describe("the files that run", () => {
  const files = testFiles("tests");

  it("on every runtime are all that depend on it, and a part of the others", () => {
    const chosen = onEveryRuntime(files);
    assert.deepEqual(
      chosen.filter((file) => !isPure(file)),
      files.filter((file) => !isPure(file) && !isRunOnce(file)),
    );
    const pure = files.filter(isPure).length;
    const sample = chosen.filter(isPure).length;
    assert.ok(sample > 0 && sample < pure / 2, `${sample} of ${pure}`);
  });

  it("are each in one group", () => {
    assert.deepEqual(groups(files).flat().sort(), files);
  });

  it("are there where a list names them", () => {
    for (const start of [...PURE, ...ONCE, ...LONGEST])
      assert.ok(
        files.some((file) => file.startsWith(start)),
        start,
      );
  });
});
