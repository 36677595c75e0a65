import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { thrownCode } from "../../core/contract/thrown-text.ts";
import { allOf, type Finding, type Problem, problemAt } from "./problems.ts";

/** The text of one config file, and its name in messages. */
export interface ConfigText {
  readonly file: string;
  readonly text: string;
  /** A resource of a cluster, instead of a text; `file` is its kind and name. */
  readonly resource?: unknown;
}

const MOST_BYTES = 1024 * 1024;
const CONFIG_NAME = /^[^.].*\.(yaml|yml|json)$/;

/** The absolute path that a path in this file means. */
export function besideFile(file: string, path: string): string {
  return resolve(dirname(file), path);
}

/** Reads files and, from folders, all .yaml, .yml and .json files sorted by name; each file once. Appends to `problems`. */
export async function readFiles(paths: readonly string[], problems: Problem[]): Promise<readonly ConfigText[]> {
  const texts: ConfigText[] = [];
  const seen = new Set<string>();
  for (const path of paths) {
    for (const file of await filesAt(path, problems)) {
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
    const bytes = await readBounded(file, MOST_BYTES);
    if (bytes.length <= MOST_BYTES && isUtf8(bytes)) return bytes.toString("utf8");
    problems.push(problemWith(file, bytes.length > MOST_BYTES ? TOO_LARGE : NOT_UTF8));
  } catch (error) {
    problems.push(problemWith(file, unreadable(error)));
  }
  return undefined;
}

const SPLIT_IT = "Split it: -f takes a folder too.";
const TOO_LARGE: Finding = { found: "more than 1 MiB of text", wanted: "a smaller file", hint: SPLIT_IT };
const NOT_UTF8: Finding = { found: "bytes that are not UTF-8 text", wanted: "a file saved as UTF-8" };

/** Reads at most one byte more than `mostBytes`, even from a device or a pipe. Rejects with the system's error. */
export async function readBounded(file: string, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(file, { end: mostBytes })) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const problemWith = (file: string, finding: Finding) => problemAt(allOf(file), [], finding);

function unreadable(error: unknown): Finding {
  const code = thrownCode(error) || String(error);
  if (code === "ENOENT") return { found: "no such file or folder", hint: "Check the path given with -f." };
  if (code === "EACCES") return { found: "a file that may not be read", hint: "Check its permissions." };
  return { found: `a file that can't be read (${code})` };
}
