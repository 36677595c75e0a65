import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { CommandError, type Input, UsageError } from "../../../config/command.ts";
import { writtenIn } from "../new/dependency.ts";

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
  if (writtenIn("package.json") !== undefined && !isInstalled("signalbox"))
    throw new CommandError(
      1,
      "signalbox, which package.json lists, is not installed for this folder: npm install (or bun install).\n",
    );
  const hasTsx = isInstalled("tsx");
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

/** Whether modules of this folder find the package: in its node_modules, or in one above. */
function isInstalled(name: string, folder: string = resolve(".")): boolean {
  if (existsSync(join(folder, "node_modules", name))) return true;
  const above = dirname(folder);
  return above !== folder && isInstalled(name, above);
}
