import * as nodeModule from "node:module";
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { thrownCode } from "../../core/contract/thrown-text.ts";
import { findPackage } from "./find-package.ts";
import { type ModuleFiles, moduleFiles } from "./module-files.ts";
import { expectCompiler, expectsCompiler } from "./own-modules.ts";

/** Error codes with which Node reports TypeScript that it can't run itself. */
const NEEDS_TSX = new Set([
  "ERR_UNKNOWN_FILE_EXTENSION",
  "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX",
  "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING",
]);

/** What was imported last of each file; the runtimes keep modules as long as the process runs, too. */
interface Imported {
  readonly hash: string;
  readonly module: unknown;
}
const imported = new Map<string, Imported>();
/** Imports of each file so far. */
const attempts = new Map<string, number>();
/** Files of modules that were imported again, by URL: they are imported under the same version as what imports them. */
const versioned = new Set<string>();

/**
 * Imports a module by URL. A file whose text has changed since, or that imports one by a relative path whose text has, is loaded
 * anew; modules of packages are loaded once. Rejects with what the runtime throws.
 */
export async function importModule(url: string): Promise<unknown> {
  if (!url.startsWith("file:")) return importFirst(url);
  const files = await moduleFiles(fileURLToPath(url));
  const known = imported.get(url);
  if (known?.hash === files.hash) return known.module;
  const attempt = (attempts.get(url) ?? 0) + 1;
  attempts.set(url, attempt);
  const module = attempt === 1 ? await importFirst(url) : await importAgain(url, files, attempt);
  imported.set(url, { hash: files.hash, module });
  return module;
}

async function importFirst(url: string): Promise<unknown> {
  if (expectsCompiler()) return importByTsx(url);
  try {
    return await import(url);
  } catch (error) {
    if (!NEEDS_TSX.has(thrownCode(error))) throw error;
  }
  return importByTsx(url);
}

/**
 * Modules can't be unloaded, so each runtime is told in its way that it does not have these yet: Node 24 and Deno by a version
 * in their URLs, Bun and CommonJS by their entries in the cache of `require`, Node 20 by tsx, which loads anew each time.
 */
async function importAgain(url: string, { paths }: ModuleFiles, attempt: number): Promise<unknown> {
  forgetRequired(new Set(paths));
  if (process.versions["bun"] !== undefined) return import(url);
  if (registerHooks === undefined) return importByTsx(url);
  if (versioned.size === 0) registerHooks({ resolve: withVersion });
  for (const path of paths) versioned.add(pathToFileURL(path).href);
  return import(`${url}?${VERSION}=${attempt}`).catch((error: unknown) => {
    if (!NEEDS_TSX.has(thrownCode(error))) throw error;
    return importByTsx(url);
  });
}

/** tsx puts a query behind the paths of what it has loaded. */
function forgetRequired(paths: ReadonlySet<string>): void {
  const { cache } = nodeModule.createRequire(process.execPath);
  for (const key of Object.keys(cache)) if (paths.has(key.replace(/\?.*$/, ""))) delete cache[key];
}

const VERSION = "signalbox-version";

/** The part of `registerHooks` that is used here; Node 20 and Bun have none. */
interface Resolved {
  readonly url: string;
}
type Resolve = (
  specifier: string,
  context: { readonly parentURL?: string },
  next: (specifier: string, context: object) => Resolved,
) => Resolved;
const { registerHooks } = nodeModule as { readonly registerHooks?: (hooks: { readonly resolve: Resolve }) => void };

/** What a module with a version imports of the files beside it gets the same version. */
const withVersion: Resolve = (specifier, context, next) => {
  const resolved = next(specifier, context);
  const version = /[?&]signalbox-version=\d+/.exec(context.parentURL ?? "")?.[0];
  if (version === undefined || !versioned.has(resolved.url)) return resolved;
  return { ...resolved, url: `${resolved.url}?${version.slice(1)}` };
};

async function importByTsx(url: string): Promise<unknown> {
  const tsx = await import("tsx/esm/api").catch(() => importTsxBeside(fileURLToPath(url)));
  expectCompiler();
  return tsx.tsImport(url, url);
}

/** The compiler that is installed where the plugin is: this program's own folder may be one that npx keeps. */
async function importTsxBeside(file: string): Promise<Tsx> {
  const found = findPackage("tsx/esm/api", dirname(file));
  if (found !== undefined) return import(pathToFileURL(found).href);
  const message = "This Node can't run its TypeScript: npm i tsx beside it, compile it to .js, or take Node 24";
  // Its place is the plugin's file, not this one.
  throw Object.assign(new Error(message), { stack: "" });
}

interface Tsx {
  tsImport(url: string, parent: string): Promise<unknown>;
}
