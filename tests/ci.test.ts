import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, describe, it } from "node:test";

const root = join(import.meta.dirname ?? ".", "..");

/** Beginnings of the commands that `.ci/run` gives to npm. */
const STEPS = ["run check", "run fuzz", "install", "test", "run soak", "run test:vllm"];

describe(".ci/run", () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-ci-"));
  after(() => rmSync(folder, { recursive: true }));
  /** The script in a checkout of its own, with an npm that only fails at the step `failing`. */
  const run = (failing: string, { vllm = "" } = {}) => {
    for (const name of ["checkout/.ci", "bin", "shared/vllm"]) mkdirSync(join(folder, name), { recursive: true });
    copyFileSync(join(root, ".ci", "run"), join(folder, "checkout", ".ci", "run"));
    writeFileSync(
      join(folder, "bin", "npm"),
      `#!/bin/sh\ncase "$*" in ${failing.replaceAll(" ", "\\ ")}*) exit 3;; *) echo "npm $*";; esac\n`,
    );
    chmodSync(join(folder, "bin", "npm"), 0o755);
    writeFileSync(join(folder, "shared", "vllm", "install.sh"), "exit 1\n");
    const env = { ...process.env, PATH: `${join(folder, "bin")}${delimiter}${process.env["PATH"]}` };
    const own = { HOME: folder, XDG_CACHE_HOME: folder, SIGNALBOX_NODE24: join(folder, "none"), SIGNALBOX_VLLM: vllm };
    const { status, stdout } = spawnSync("bash", [join(folder, "checkout", ".ci", "run")], {
      env: { ...env, ...own },
      encoding: "utf8",
    });
    return { status, output: stdout };
  };

  it("passes when every step does", () => {
    const { status, output } = run("none", { vllm: "there" });
    assert.equal(status, 0, output);
    assert.match(output, /all steps passed/);
  });

  for (const step of STEPS) {
    it(`fails when "npm ${step}" does, and names it`, () => {
      const { status, output } = run(step);
      assert.equal(status, 1, output);
      assert.equal(output.match(/^== FAILED: npm .*$/gm)?.length, 1, output);
      assert.ok(output.includes(`== FAILED: npm ${step}`), output);
    });
  }

  it("fails at once when the packages can't be installed", () => {
    const { status, output } = run("ci");
    assert.equal(status, 1);
    assert.doesNotMatch(output, /run check/);
  });

  it("runs the other steps after one that failed, and names it at the end", () => {
    const { output } = run("run check");
    assert.match(output, /npm test\n.*npm run test:vllm\n.*== FAILED: npm run check\n$/s);
  });

  it("says so when no vLLM can be installed, and goes on", () => {
    const { status, output } = run("none");
    assert.equal(status, 0);
    assert.match(output, /WARNING: vLLM could not be installed.*npm run test:vllm/s);
  });
});
