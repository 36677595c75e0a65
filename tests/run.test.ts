import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
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

it("a file that can't be loaded fails, and the others run", () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return relative(root, join(folder, name));
  };
  const broken = write("broken.mjs", 'throw new Error("no such thing");');
  const good = write("good.mjs", 'import { it } from "node:test"; it("runs", () => {});');
  const { status, stdout } = spawnSync("node", ["--import", "tsx", "--test-reporter=spec", "tests/support/suite/files.ts"], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, SIGNALBOX_TEST_FILES: `${broken} ${good}`, SIGNALBOX_TEST_TIMES: join(folder, "times") },
    timeout: 60_000,
  });
  rmSync(folder, { recursive: true });
  assert.equal(status, 1);
  assert.match(stdout, /✖ .*broken\.mjs loads[\s\S]*no such thing/);
  assert.match(stdout, /✔ runs/);
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
