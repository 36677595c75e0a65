import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describe, it } from "node:test";
import { dependences } from "./support/suite/dependence.ts";
import { RUN_ONCE } from "./support/suite/run-once.ts";
import type { Runtime } from "./support/suite/runtimes.ts";
import { type Extent, groups, isForEachRuntime, jobsOf, LONGEST, testFiles } from "./support/suite/selection.ts";

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
    env: {
      ...process.env,
      // The runner of this test would have the other one report to it in its own format.
      NODE_TEST_CONTEXT: undefined,
      SIGNALBOX_TEST_FILES: `${broken} ${good}`,
      SIGNALBOX_TEST_TIMES: join(folder, "times"),
      SIGNALBOX_TEST_FOLDERS: folder,
    },
    timeout: 60_000,
  });
  rmSync(folder, { recursive: true });
  assert.equal(status, 1);
  assert.match(stdout, /✖ .*broken\.mjs loads[\s\S]*no such thing/);
  assert.match(stdout, /✔ runs/);
});

describe("the files that run", () => {
  const files = testFiles("tests");
  const nodes = ["node", "node:/other/node"];
  const runtimes: readonly Runtime[] = [...nodes, "deno", "bun"].map((name) => ({ name, command: name, args: [] }));
  const once = "tests/core/ticket.test.ts";
  const each = "tests/core/wire/head.runtimes.test.ts";
  const self = "tests/package/package.test.ts";

  const cases: readonly (readonly [extent: Extent, chosen: readonly (readonly string[])[]])[] = [
    ["usual", [[once, each, self], [], [each], [each]]],
    ["all", [[once, each, self], ...runtimes.slice(1).map(() => [once, each])]],
    ["rest", [[], [once, each], [once], [once]]],
  ];
  for (const [extent, chosen] of cases)
    it(`are chosen by their names: ${extent}`, () => {
      const jobs = jobsOf(extent, runtimes, [once, each, self]);
      assert.deepEqual(
        jobs.map(({ files: those }) => those),
        chosen,
      );
      assert.deepEqual(
        jobs.map(({ runtime }) => runtime),
        runtimes,
      );
    });

  it("say by their names that they depend on the runtime, where they do", () => {
    const hidden = files
      .filter((file) => !isForEachRuntime(file) && !RUN_ONCE.some(({ place }) => file.startsWith(place)))
      .flatMap((file) => dependences(file).map((why) => `${file} ${why}: name it *.runtimes.test.ts`));
    assert.deepEqual(hidden, []);
  });

  it("are found to depend on the runtime by what they import", () => {
    assert.deepEqual(dependences("tests/support/suite/known-times.test.ts"), ["imports node:fs", "imports node:os"]);
    assert.deepEqual(dependences("tests/core/wire/idle-habit.runtimes.test.ts"), ["imports core/wire/idle-habit.ts"]);
    assert.match(dependences("tests/e2e/top.runtimes.test.ts").join(), /starts a process by tests\/support\//);
    assert.deepEqual(dependences(once), []);
  });

  it("are each in one group", () => {
    assert.deepEqual(groups(files).flat().sort(), files);
  });

  it("are there where a list names them", () => {
    for (const start of [...RUN_ONCE.map(({ place }) => place), ...LONGEST])
      assert.ok(
        files.some((file) => file.startsWith(start)),
        start,
      );
  });
});
