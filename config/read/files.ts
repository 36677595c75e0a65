import { isUtf8 } from "node:buffer";
import { readdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { thrownCode } from "../../core/contract/thrown-text.ts";
import { isHandedOver, readBounded, UnreadableFile } from "../../core/runtime/read-file.ts";
import { allOf, type Finding, type Problem, problemAt, quoted } from "./problems.ts";

/** The text of one config file, and its name in messages. */
export interface ConfigText {
  readonly file: string;
  readonly text: string;
  /** A resource of a cluster, instead of a text; `file` is its kind and name. */
  readonly resource?: unknown;
}

/** A larger file is no config. */
export const MOST_BYTES = 1024 * 1024;
/** Names of the files that are read in a folder. */
export const CONFIG_NAME = /^[^.].*\.(yaml|yml|json)$/;

/** The folder that paths in this file begin at: of what was handed over to the process the one that it runs in. */
export function folderOf(file: string): string {
  return isHandedOver(file) ? "." : dirname(file);
}

/** The absolute path that a path in this file means. */
export function besideFile(file: string, path: string): string {
  return resolve(folderOf(file), path);
}

/** What "-" means on a command line. */
export const STANDARD_INPUT = "/dev/stdin";

/** By path, what was handed over to this process: it comes once, so a further reader gets what was read. */
const handedOver = new Map<string, Buffer>();

/** Reads files, "-" for the standard input, and from folders all .yaml, .yml and .json files sorted by name; each once. Appends to `problems`. */
export async function readFiles(paths: readonly string[], problems: Problem[]): Promise<readonly ConfigText[]> {
  const texts: ConfigText[] = [];
  const seen = new Set<string>();
  for (const path of paths) {
    for (const file of await filesAt(path === "-" ? STANDARD_INPUT : path, problems)) {
      if (seen.has(resolve(file))) continue;
      seen.add(resolve(file));
      const text = await readText(file, problems);
      if (text !== undefined) texts.push({ file, text });
    }
  }
  return texts;
}

/** The path itself; for a folder, the config files in it, sorted by name. Rejects with the system's error. */
export async function configFilesAt(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => CONFIG_NAME.test(name)).sort();
  return names.map((name) => join(path, name));
}

async function filesAt(path: string, problems: Problem[]): Promise<readonly string[]> {
  try {
    const files = await configFilesAt(path);
    if (files.length > 0) return files;
    problems.push(problemWith(path, { found: "a folder without config files", wanted: "a .yaml, .yml or .json file in it" }));
  } catch (error) {
    problems.push(problemWith(path, unreadable(error)));
  }
  return [];
}

async function readText(file: string, problems: Problem[]): Promise<string | undefined> {
  try {
    const bytes = handedOver.get(file) ?? (await readBounded(file, MOST_BYTES));
    if (isHandedOver(file)) handedOver.set(file, bytes);
    if (bytes.length > MOST_BYTES) problems.push(problemWith(file, TOO_LARGE));
    else if (!isUtf8(bytes)) problems.push(problemWith(file, NOT_UTF8));
    else if (bytes.includes(0)) problems.push(problemWith(file, NOT_TEXT));
    else return bytes.toString("utf8");
  } catch (error) {
    problems.push(problemWith(file, unreadable(error)));
  }
  return undefined;
}

const SPLIT_IT = "Split it: -f takes a folder too.";
const TOO_LARGE: Finding = { found: "more than 1 MiB of text", wanted: "a smaller file", hint: SPLIT_IT };
const NOT_UTF8: Finding = { found: "bytes that are not UTF-8 text", wanted: "a file saved as UTF-8" };
const NOT_TEXT: Finding = { found: "a zero byte, which no text has", wanted: "a config in YAML or JSON" };

/** What is wrong with a file that a config names, from what `readBounded` threw. `wanted` is what would be right there. */
export function unreadableFile(file: string, thrown: unknown, wanted?: string): Finding {
  const code = thrownCode(thrown) || String(thrown);
  const more = wanted === undefined ? {} : { wanted };
  if (code === "ENOENT") return { found: `no file ${quoted(file)}`, ...more, hint: "A path is relative to the config file." };
  const named = `the file ${quoted(file)}, which can't be read`;
  if (thrown instanceof UnreadableFile) return { found: `${named}: ${thrown.message}`, hint: thrown.fix };
  return { found: `${named} (${code})`, hint: "Check its permissions." };
}

const problemWith = (file: string, finding: Finding) => problemAt(allOf(file), [], finding);

function unreadable(error: unknown): Finding {
  const code = thrownCode(error) || String(error);
  if (error instanceof UnreadableFile) return { found: `a file that can't be read: ${error.message}`, hint: error.fix };
  if (code === "ENOENT") return { found: "no such file or folder", hint: "Check the path given with -f." };
  if (code === "EACCES") return { found: "a file that may not be read", hint: "Check its permissions." };
  return { found: `a file that can't be read (${code})` };
}
