import { createHash } from "node:crypto";
import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import { OWN_ROOT } from "../../core/runtime/own-files.ts";

/** A module of the user's own: its file, and those that it imports by relative paths, and so on. */
export interface ModuleFiles {
  /** Absolute, without symbolic links; the module's own first. A file that can't be read is among them. */
  readonly paths: readonly string[];
  /** Of all their contents: another one when any of them has changed. */
  readonly hash: string;
}

/** Files of this program stay as they are while it runs. */
const OWN_FOLDERS =
  OWN_ROOT === "" ? [] : ["core", "config", "plugins", "node_modules"].map((folder) => `${OWN_ROOT}${folder}${sep}`);

/** Whatever looks like a relative path: one that is none costs a look at the disk. */
const RELATIVE = /["'`](\.{1,2}\/[^"'`\n]+)["'`]/g;
const ENDINGS = ["", ".ts", ".js", ".mjs", ".cjs", ".json", "/index.ts", "/index.js"];
const MOST_FILES = 200;
/** What is larger is data rather than code. */
const MOST_BYTES = 1024 * 1024;

/** Finds the files of the module at `path`. Never rejects: what is missing is the importer's problem. */
export async function moduleFiles(path: string): Promise<ModuleFiles> {
  const contents = new Map<string, string>();
  const waiting = [await realpath(path).catch(() => path)];
  for (let file = waiting.shift(); file !== undefined && contents.size < MOST_FILES; file = waiting.shift()) {
    if (contents.has(file)) continue;
    const text = await textOf(file).catch(() => "");
    contents.set(file, text);
    for (const [, specifier = ""] of text.matchAll(RELATIVE)) {
      const imported = await fileAt(resolve(dirname(file), specifier));
      if (imported !== undefined) waiting.push(imported);
    }
  }
  const hash = createHash("sha256");
  for (const [file, text] of contents) hash.update(`${file}\0${text.length}\0${text}`);
  return { paths: [...contents.keys()], hash: hash.digest("hex").slice(0, 16) };
}

/** Of a large file only what changes when it does; of what is no file (a pipe would never end) nothing. */
async function textOf(file: string): Promise<string> {
  const status = await stat(file);
  if (!status.isFile()) return "";
  return status.size > MOST_BYTES ? `${status.size} ${status.mtimeMs}` : readFile(file, "utf8");
}

/** The file that an import of this path may mean. */
async function fileAt(path: string): Promise<string | undefined> {
  for (const ending of ENDINGS) {
    const found = await realpath(`${path}${ending}`).catch(() => undefined);
    // A folder can't be read as a file, so it counts for nothing.
    if (found !== undefined && isOfUser(found)) return found;
  }
  return undefined;
}

function isOfUser(file: string): boolean {
  return !file.includes(`${sep}node_modules${sep}`) && !OWN_FOLDERS.some((folder) => file.startsWith(folder));
}
