import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { killAll, signalbox, until } from "../../../support/cli.ts";
import { closeTerminals, inTerminal, NO_TERMINAL } from "../../../support/terminal.ts";

const TIMEOUT = { timeout: 120_000 };
const folder = mkdtempSync(join(tmpdir(), "signalbox-colour-"));
const file = join(folder, "a.yaml");
writeFileSync(file, "apiVersion: signalbox/v1\nkind: Router\nspec: { lisen: {} }\n");
after(() => {
  killAll();
  closeTerminals();
  rmSync(folder, { recursive: true });
});

const HINT = '\u001b[36mDid you mean "listen"?\u001b[39m';
const MARK = "\u001b[31m^\u001b[39m";

/** Runs `start` with these variables alone deciding on colours: what it starts gets them. */
function withEnv<Started>(env: Readonly<Record<string, string>>, start: () => Started): Started {
  // Runtimes show no colours in a CI job that they do not know.
  const names = ["TERM", "FORCE_COLOR", "NO_COLOR", "CI"];
  const before = new Map(names.map((name) => [name, process.env[name]]));
  const set = (values: (name: string) => string | undefined) => {
    for (const name of names) {
      const value = values(name);
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  set((name) => (name === "TERM" ? "xterm-256color" : env[name]));
  try {
    return start();
  } finally {
    set((name) => before.get(name));
  }
}

describe("colours", () => {
  for (const [name, env, isColoured] of [
    ["are left out where the output is no terminal", {}, false],
    ["are there by FORCE_COLOR", { FORCE_COLOR: "1" }, true],
  ] as const)
    it(name, TIMEOUT, async () => {
      const { output, ended } = withEnv(env, () => signalbox("check", file));
      assert.equal(await ended, 1);
      assert.match(output.out, /Did you mean "listen"\?/);
      assert.deepEqual([output.out.includes(HINT), output.out.includes(MARK)], [isColoured, isColoured]);
      if (!isColoured) assert.doesNotMatch(output.out, /\u001b/);
    });

  for (const [name, env, isColoured] of [
    ["are there at a terminal", {}, true],
    ["are left out by NO_COLOR", { NO_COLOR: "1" }, false],
  ] as const)
    it(name, { ...TIMEOUT, skip: NO_TERMINAL }, async () => {
      const terminal = withEnv(env, () => inTerminal(100, 30, "check", file));
      await until(() => /exit 1\r?\n$/.test(terminal.text));
      assert.match(terminal.text, /Did you mean "listen"\?/);
      assert.equal(terminal.text.includes(HINT), isColoured);
    });
});
