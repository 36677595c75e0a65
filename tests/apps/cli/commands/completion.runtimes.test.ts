import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { scriptFor } from "../../../../apps/cli/commands/completion.ts";
import { commandsOf } from "../../../../apps/cli/commands.ts";
import { builtIns } from "../../../../plugins/registry.ts";

/** What bash completes for these words, the last of them begun. */
function completed(...words: string[]): readonly string[] {
  const line = `${scriptFor("bash", commandsOf(builtIns))}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _signalbox; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", line], { encoding: "utf8" });
  assert.equal(stderr, "");
  return stdout.trim().split("\n");
}

describe("completions in bash", () => {
  const rows: readonly (readonly [words: readonly string[], expected: readonly string[]])[] = [
    [
      ["signalbox", "st"],
      ["start", "status"],
    ],
    [["signalbox", "--v"], ["--version"]],
    [
      ["signalbox", "get", ""],
      ["rewrites", "endpoints", "config"],
    ],
    [["signalbox", "completion", "f"], ["fish"]],
    [["signalbox", "drain", "gpu1", "--g"], ["--grace"]],
    [["signalbox", "apply", "--w"], ["--write"]],
    [["signalbox", "check", "package.js"], ["package.json"]],
  ];
  for (const [words, expected] of rows) it(words.join(" "), () => assert.deepEqual(completed(...words), expected));
});

describe("the scripts of other shells", () => {
  for (const shell of ["zsh", "fish"]) {
    it(`${shell} has every command, and no quote that ends too early`, () => {
      const script = scriptFor(shell, commandsOf(builtIns)) ?? "";
      for (const { name } of commandsOf(builtIns)) assert.ok(script.includes(name), name);
      for (const line of script.split("\n")) assert.equal((line.match(/'/g) ?? []).length % 2, 0, line);
    });
  }
});
