import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readBoundedNow } from "../../core/runtime/read-file.ts";
import { isMapping } from "../read/problems.ts";

const MOST_BYTES = 1024 * 1024;

/** Conditions of a package's `exports` that hold for an import on this runtime. */
const CONDITIONS: ReadonlySet<string> = new Set([
  ...["import", "node", "default"],
  ...["deno", "bun"].filter((runtime) => runtime in process.versions),
]);

/**
 * The file that `import` of a package (or of a path in it) loads for modules in `folder`; undefined if it is not installed there or
 * above. The runtimes tell only what a CommonJS `require` would find, which is nothing in packages that are ES modules alone. Throws an
 * Error if the package has nothing to import under this name.
 */
export function findPackage(specifier: string, folder: string): string | undefined {
  const [, name = "", rest = ""] = /^(@[^/]+\/[^/]+|[^@/.][^/]*)(\/.*)?$/.exec(specifier) ?? [];
  if (name === "") return undefined;
  for (const root of packageFolders(name, resolve(folder))) {
    if (!existsSync(root)) continue;
    const file = entryOf(root, `.${rest}`);
    if (file !== undefined && existsSync(file)) return file;
    throw new Error(`The package in ${root} has nothing to import as "${specifier}": look at "exports" in its package.json.`);
  }
  return undefined;
}

function packageFolders(name: string, folder: string): readonly string[] {
  const parent = dirname(folder);
  const above = parent === folder ? [] : packageFolders(name, parent);
  return [join(folder, "node_modules", name), ...above];
}

function entryOf(root: string, subpath: string): string | undefined {
  const { exports, main } = readManifest(join(root, "package.json"));
  if (exports !== undefined && exports !== null) {
    const target = exportedAs(subpath, exports);
    return target && join(root, target);
  }
  if (subpath !== ".") return join(root, subpath);
  const named = typeof main === "string" ? [main, `${main}.js`, join(main, "index.js")] : [];
  return [...named, "index.js"].map((path) => join(root, path)).find((path) => /\.\w+$/.test(path) && existsSync(path));
}

function readManifest(path: string): { readonly exports?: unknown; readonly main?: unknown } {
  try {
    const manifest: unknown = JSON.parse(readBoundedNow(path, MOST_BYTES).toString("utf8"));
    return isMapping(manifest) ? manifest : {};
  } catch {
    return {};
  }
}

/** The path that a subpath ("." or "./name") is exported as (Node's documentation of packages, "exports"). */
function exportedAs(subpath: string, exports: unknown): string | undefined {
  const isByPath = isMapping(exports) && Object.keys(exports).some((key) => key.startsWith("."));
  const paths: Readonly<Record<string, unknown>> = isByPath ? exports : { ".": exports };
  if (Object.hasOwn(paths, subpath)) return targetOf(paths[subpath], "");
  const patterns = Object.keys(paths).filter((key) => key.includes("*"));
  const byPrecision = patterns.sort((one, other) => other.indexOf("*") - one.indexOf("*"));
  for (const pattern of byPrecision) {
    const [before = "", after = ""] = pattern.split("*");
    const isMatch = subpath.length > before.length + after.length && subpath.startsWith(before) && subpath.endsWith(after);
    if (isMatch) return targetOf(paths[pattern], subpath.slice(before.length, subpath.length - after.length));
  }
  return undefined;
}

/** The first target whose conditions hold, with `star` in the place of "*". */
function targetOf(target: unknown, star: string): string | undefined {
  if (typeof target === "string") return target.startsWith("./") ? target.replaceAll("*", star) : undefined;
  const holding = isMapping(target) ? Object.keys(target).filter((condition) => CONDITIONS.has(condition)) : [];
  const choices = isMapping(target) ? holding.map((condition) => target[condition]) : Array.isArray(target) ? target : [];
  for (const choice of choices) {
    const found = targetOf(choice, star);
    if (found !== undefined) return found;
  }
  return undefined;
}
