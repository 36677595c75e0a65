import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import type { Input } from "../frame/command.ts";
import { CommandError, UsageError } from "../frame/usage.ts";

/** How each runtime runs test files. Node 20 needs tsx for TypeScript, which `signalbox new` lists for it. */
const RUNTIMES: readonly (readonly [program: string, words: (hasTsx: boolean) => readonly string[]])[] = [
  ["node", (hasTsx) => [...(hasTsx ? ["--import", "tsx"] : []), "--test"]],
  ["deno", () => ["test", "-A", "--no-check", "--quiet"]],
  ["bun", () => ["test"]],
];

/** `signalbox test [FILE...]`: runs a plugin's tests on each runtime that is on this machine. Returns the exit code. */
export function test({ words }: Input): number {
  const files = words.length > 0 ? words : readdirSync(".").filter((name) => /\.test\.[cm]?[jt]s$/.test(name));
  if (files.length === 0) throw new UsageError("There is no file like plugin.test.ts in this folder: name the tests.");
  const missing = files.find((file) => !existsSync(file));
  if (missing !== undefined) throw new CommandError(1, `There is no file ${missing}.\n`);
  const bin = join("node_modules", ".bin");
  const env = { ...process.env, PATH: [process.env["PATH"], resolve(bin)].filter(Boolean).join(delimiter) };
  const hasTsx = existsSync(join("node_modules", "tsx")) || existsSync(join("..", "node_modules", "tsx"));
  const ended = RUNTIMES.map(([program, wordsFor]) => {
    process.stdout.write(`== ${program}\n`);
    // Bun takes what looks like no path for a part of a name.
    const paths = files.map((file) => (/^[./]/.test(file) ? file : `./${file}`));
    const { status, error } = spawnSync(program, [...wordsFor(hasTsx), ...paths], { stdio: "inherit", env });
    const end = error !== undefined ? "not on this machine" : status === 0 ? "passed" : "FAILED";
    process.stdout.write(`== ${program}: ${end}\n`);
    return end;
  });
  return ended.includes("passed") && !ended.includes("FAILED") ? 0 : 1;
}
