import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Definition } from "../../core/contract/plugin.ts";
import { thrownCode } from "../../core/contract/thrown-text.ts";
import { checkDefinition } from "./check-definition.ts";
import { findPackage } from "./find-package.ts";
import { importModule } from "./import-module.ts";
import { loadFailure } from "./module-error.ts";
import { moduleFiles } from "./module-files.ts";
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
  const module = file === undefined ? await importPackage(packageName(from)) : await importFile(file);
  return { definition: checkDefinition(module, file ?? from), file: file ?? "" };
}

/** The files that a plugin's code comes from, absolute; none for a package, which is loaded once. */
export async function pluginFiles(from: string, baseDir: string): Promise<readonly string[]> {
  const path = pathOf(from, baseDir);
  return path === undefined ? [] : [path, ...(await moduleFiles(path)).paths];
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
  try {
    return await importModule(url);
  } catch (error) {
    throw new Error(loadFailure(error, file), { cause: error });
  }
}
