import { existsSync, realpathSync, writeSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { systemClock } from "../../core/contract/clock.ts";
import type { Definition } from "../../core/contract/plugin.ts";
import { afterAwake } from "../../core/contract/standstill.ts";
import { thrownCode } from "../../core/contract/thrown-text.ts";
import { enter, leave, pluginNumber } from "../../core/runtime/current-plugin.ts";
import { onStrayExit } from "../../core/runtime/stray-exit.ts";
import { checkDefinition } from "./check-definition.ts";
import { findPackage } from "./find-package.ts";
import { importModule } from "./import-module.ts";
import { linesOf, loadFailure } from "./module-error.ts";
import { type ModuleFiles, moduleFiles } from "./module-files.ts";
import { shareContract } from "./own-modules.ts";

/** A plugin type and the file that it comes from, as an absolute path. */
export interface LoadedPlugin {
  readonly definition: Definition;
  readonly file: string;
}

/**
 * Loads a plugin from a file (relative to `baseDir`) or from a package installed there. Rejects with an Error whose message
 * says where it failed and what to do.
 */
export async function loadPluginModule(from: string, baseDir: string): Promise<LoadedPlugin> {
  const located = locate(from, baseDir);
  // The path that a stack shows, whatever links lead to it.
  const file = located && realpathSync(located);
  const files = file && (await moduleFiles(file));
  if (files) refuseEndless(files);
  const load = () => (file && files ? importFile(imported(file, files)) : importPackage(packageName(from)));
  const module = await namedAtExit(file ?? from, load);
  return { definition: checkDefinition(module, file ?? from), file: file ?? "" };
}

/** What `useVersions` is given: called before a version of a plugin's file is imported, returns the file to import. */
export type ChooseVersion = (file: string, files: ModuleFiles) => string;
let imported: ChooseVersion = (file) => file;

/** From now on `choose` says what is imported in the place of a plugin's file. */
export function useVersions(choose: ChooseVersion): void {
  imported = choose;
}

/** The runtimes read what they import in one go: what has no end would stop the whole program. */
function refuseEndless({ endless: [first] }: ModuleFiles): void {
  if (first !== undefined) throw new Error(`${first} is no regular file, and may have no end: put a file in its place.`);
}

/** The files that a plugin's code comes from, absolute; none for a package, which is loaded once. */
export async function pluginFiles(from: string, baseDir: string): Promise<readonly string[]> {
  const path = pathOf(from, baseDir);
  return path === undefined ? [] : [path, ...(await moduleFiles(path)).paths];
}

/** Modules that are loading now. */
const loading = new Set<string>();
let isWatching = false;

/** Where a module ends the process while it is loading, it is named, and the exit code says that something failed. */
async function namedAtExit(name: string, load: () => Promise<unknown>): Promise<unknown> {
  if (!isWatching) onStrayExit(nameLoading);
  isWatching = true;
  loading.add(name);
  enter(pluginNumber(name));
  try {
    return await load();
  } finally {
    leave(0);
    loading.delete(name);
  }
}

function nameLoading(): void {
  if (loading.size === 0) return;
  process.exitCode = Number(process.exitCode) || 1;
  writeSync(
    2,
    `signalbox: the program ended while it loaded ${[...loading].join(" and ")}; a plugin's module must not end it.\n`,
  );
}

/** The path of a file; undefined for a package. */
function pathOf(from: string, baseDir: string): string | undefined {
  if (from.startsWith("file:")) return fileURLToPath(from);
  return from.startsWith(".") || isAbsolute(from) ? resolve(baseDir, from) : undefined;
}

/** The plugin's file; undefined for a package that is not installed at or above `baseDir`. */
function locate(from: string, baseDir: string): string | undefined {
  const path = pathOf(from, baseDir);
  if (path !== undefined) {
    if (!existsSync(path)) throw new Error(`There is no file ${path}: a path is relative to the config file.`);
    return path;
  }
  const name = packageName(from);
  if (/^[a-z][a-z0-9+.-]*:/i.test(name))
    throw new Error("A plugin is a file or an installed package: write ./file.ts or a package name.");
  return findPackage(name, baseDir);
}

/** "npm:name" means what is installed as "name", as it does for Deno. */
function packageName(from: string): string {
  return from.replace(/^npm:/, "");
}

/** Imports a package that only Signalbox itself, or the runtime's own import map, may know. */
async function importPackage(name: string): Promise<unknown> {
  try {
    return await import(name);
  } catch (error) {
    if (!/MODULE_NOT_FOUND$/.test(thrownCode(error))) throw new Error(loadFailure(error, name), { cause: error });
    const found = `There is no package "${name}" in a node_modules folder beside the config or above it`;
    throw new Error(`${found}: install the package there, or write ./file.ts for a file.`, { cause: error });
  }
}

async function importFile(file: string): Promise<unknown> {
  const url = pathToFileURL(file).href;
  shareContract();
  const before = enumerableNames();
  try {
    const module = await withinTime(importModule(url), file);
    refusePollution(before, file);
    return module;
  } catch (error) {
    if (error instanceof RefusedModule) throw error;
    throw new Error(loadFailure(error, file), { cause: error });
  }
}

/** What is wrong with a module as a whole, in words. */
class RefusedModule extends Error {}

/** How long a module may take to load. */
const MODULE_MS = 10_000;

/** Rejects if the module waits for what does not come. The timer keeps the process, which would end with nothing else to do. */
async function withinTime(module: Promise<unknown>, file: string): Promise<unknown> {
  let cancel: (() => void) | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    cancel = afterAwake(systemClock, MODULE_MS, () => reject(new RefusedModule(unfinished(file))));
  });
  try {
    return await Promise.race([module, tooLong]);
  } finally {
    cancel?.();
  }
}

function unfinished(file: string): string {
  const line = linesOf(file).findIndex((each) => /^\S.*\bawait\b|^await\b/.test(each));
  const place = line === -1 ? file : `${file}:${line + 1}`;
  return `It has not finished loading after ${MODULE_MS / 1000} s, at ${place}: what is awaited at its top level must come to an end.`;
}

/** Whose properties every object, list, function or text of the program has. */
const SHARED = { Object, Array, Function, String, Number, Promise };

function enumerableNames(): ReadonlySet<string> {
  return new Set(
    Object.entries(SHARED).flatMap(([name, { prototype }]) => Object.keys(prototype).map((key) => `${name}.prototype.${key}`)),
  );
}

/** Takes back what a module has added where every loop over keys finds it, and throws RefusedModule. */
function refusePollution(before: ReadonlySet<string>, file: string): void {
  const added = [...enumerableNames()].filter((name) => !before.has(name));
  if (added.length === 0) return;
  for (const name of added) {
    const [owner = "", , ...key] = name.split(".");
    Reflect.deleteProperty(SHARED[owner as keyof typeof SHARED].prototype, key.join("."));
  }
  throw new RefusedModule(
    `${file} changes the whole program: it sets ${added.slice(0, 5).join(", ")}. Write a function instead.`,
  );
}
