import { createHash } from "node:crypto";
import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { OWN_ROOT } from "../../core/runtime/own-files.ts";

/** A module of the user's own: its file, and those that it imports by relative paths, and so on. */
export interface ModuleFiles {
  /** Absolute, without symbolic links; the module's own first. A file that can't be read is among them. */
  readonly paths: readonly string[];
  /** What of them is code or small data, by path. */
  readonly texts: ReadonlyMap<string, string>;
  /** Named pipes and devices in the place of a file: the runtime would read them and may never reach their end. */
  readonly endless: readonly string[];
  /** Of all their contents: another one when any of them has changed. */
  readonly hash: string;
}

/** Files of this program stay as they are while it runs. */
const OWN_FOLDERS =
  OWN_ROOT === "" ? [] : ["core", "config", "plugins", "node_modules"].map((folder) => `${OWN_ROOT}${folder}${sep}`);

/**
 * Anything that looks like an imported relative path. One that is no import costs only a look at the disk; it may also name a pipe that the
 * plugin uses.
 */
const RELATIVE = /(\b(?:from|import|require)\s*\(?\s*)?["'`](\.{1,2}\/[^"'`\n]+)["'`]/g;
/** In these, in its folder or above, the runtimes look for how a module is to be read. */
export const MANIFESTS = ["package.json", "tsconfig.json"];
const ENDINGS = ["", ".ts", ".js", ".mjs", ".cjs", ".json", "/index.ts", "/index.js"];
const MOST_FILES = 200;
/** What is larger is data rather than code. */
const MOST_BYTES = 1024 * 1024;
const NO_TEXT = { text: "", isWhole: false };

/** Finds the files of the module at `path`. Never rejects: what is missing is the importer's problem. */
export async function moduleFiles(path: string): Promise<ModuleFiles> {
  const contents = new Map<string, string>();
  const texts = new Map<string, string>();
  const waiting = [await realpath(path).catch(() => path)];
  const toRead = new Set(waiting);
  for (let file = waiting.shift(); file !== undefined && contents.size < MOST_FILES; file = waiting.shift()) {
    if (contents.has(file)) continue;
    const { text, isWhole } = await textOf(file).catch(() => NO_TEXT);
    contents.set(file, text);
    if (isWhole) texts.set(file, text);
    for (const manifest of manifestsAt(dirname(file))) toRead.add(manifest);
    for (const [, keyword, specifier = ""] of text.matchAll(RELATIVE)) {
      const imported = await fileAt(resolve(dirname(file), specifier));
      if (imported === undefined) continue;
      waiting.push(imported);
      if (keyword !== undefined) toRead.add(imported);
    }
  }
  const endless: string[] = [];
  for (const each of toRead) if (await isEndless(each)) endless.push(each);
  const hash = createHash("sha256");
  for (const [file, text] of contents) hash.update(`${file}\0${text.length}\0${text}`);
  return { paths: [...contents.keys()], texts, endless, hash: hash.digest("hex").slice(0, 16) };
}

function manifestsAt(folder: string): readonly string[] {
  const here = MANIFESTS.map((name) => join(folder, name));
  return dirname(folder) === folder ? here : [...here, ...manifestsAt(dirname(folder))];
}

async function isEndless(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats !== undefined && (stats.isFIFO() || stats.isCharacterDevice() || stats.isBlockDevice());
}

/** Of a large file only what changes when it does; of what is no file (a pipe would never end) nothing. */
async function textOf(file: string): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const status = await stat(file);
  if (!status.isFile()) return NO_TEXT;
  if (status.size > MOST_BYTES) return { text: `${status.size} ${status.mtimeMs}`, isWhole: false };
  return { text: await readFile(file, "utf8"), isWhole: true };
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
