import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Definition, PluginKind } from "../core/contract/plugin.ts";
import { importModule } from "./import-module.ts";
import { moduleFiles } from "./module-files.ts";

const KINDS: Readonly<Record<PluginKind, true>> = {
  parser: true,
  rewriter: true,
  filter: true,
  scorer: true,
  picker: true,
  discovery: true,
  detector: true,
  source: true,
  observer: true,
};

/**
 * Loads a plugin from a file (relative to `baseDir`) or from a package installed there. Rejects with an Error whose message
 * says what to do.
 */
export async function loadPluginModule(from: string, baseDir: string): Promise<Definition> {
  const url = locate(from, baseDir);
  const module = await importPlugin(url);
  return checkDefinition(module);
}

/** The files that a plugin's code comes from, absolute; none for a package, which is loaded once. */
export async function pluginFiles(from: string, baseDir: string): Promise<readonly string[]> {
  if (!isFile(from)) return [];
  const path = from.startsWith("file:") ? fileURLToPath(from) : resolve(baseDir, from);
  return [path, ...(await moduleFiles(path)).paths];
}

function isFile(from: string): boolean {
  return from.startsWith("file:") || from.startsWith(".") || isAbsolute(from);
}

function locate(from: string, baseDir: string): string {
  if (from.startsWith("file:")) return urlOfFile(fileURLToPath(from));
  if (isFile(from)) return urlOfFile(resolve(baseDir, from));
  if (/^[a-z][a-z0-9+.-]*:/i.test(from))
    throw new Error("A plugin is a file or an installed package: write ./file.ts or a package name.");
  try {
    return pathToFileURL(createRequire(join(resolve(baseDir), "config.js")).resolve(from)).href;
  } catch {
    // A package without a CommonJS entry: let the runtime resolve it from Signalbox's own folder.
    return from;
  }
}

function urlOfFile(path: string): string {
  if (!existsSync(path)) throw new Error(`There is no file ${path}: a path is relative to the config file.`);
  return pathToFileURL(path).href;
}

async function importPlugin(url: string): Promise<unknown> {
  try {
    return await importModule(url);
  } catch (error) {
    throw new Error(importFailure(error, url), { cause: error });
  }
}

function importFailure(error: unknown, url: string): string {
  // The file exists, so a missing module is one that it imports.
  const isMissing = !url.startsWith("file:") && /MODULE_NOT_FOUND$/.test(codeOf(error));
  return isMissing
    ? `${firstLine(error)}: install the package, or write ./file.ts for a file.`
    : `It fails while loading: ${firstLine(error)}.`;
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? `${error.name === "Error" ? "" : `${error.name}: `}${error.message}` : String(error);
  return (text.split("\n")[0] ?? "").replace(/\.$/, "");
}

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}

/** A module's default export. Throws an Error if it is not a plugin. */
function checkDefinition(module: unknown): Definition {
  const exported = defaultOf(module);
  // For a file outside an ES module package, tsx nests the exports one level deeper.
  const plugin = defaultOf(exported) ?? exported;
  if (typeof plugin !== "object" || plugin === null) throw new Error(`It has no plugin as its default export: ${EXPORT_ONE}`);
  const { kind, type, create, options } = plugin as Partial<Definition>;
  if (typeof kind !== "string" || !Object.hasOwn(KINDS, kind))
    throw new Error(`Its default export has no known kind: ${EXPORT_ONE}`);
  if (typeof type !== "string" || type === "")
    throw new Error('Its default export has no type: give it a name such as type: "my-scorer".');
  if (typeof create !== "function") throw new Error("Its default export has no create function: add create(options, host).");
  if (typeof options?.["~standard"]?.validate !== "function")
    throw new Error("Its options are no Standard Schema: write options: z.strictObject({ … }).");
  return plugin as Definition;
}

function defaultOf(value: unknown): unknown {
  return typeof value === "object" && value !== null && "default" in value ? value.default : undefined;
}

const EXPORT_ONE = "write export default defineScorer({ … }), or defineFilter, definePicker and so on.";
