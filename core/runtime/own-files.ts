import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FILES = Symbol.for("signalbox/files");

/**
 * Files of this program that are no modules, by their paths from its root: beside the modules, or in a single binary, whose first lines
 * put them here (tests/support/package/binary.ts).
 */
const bundled = (globalThis as { readonly [FILES]?: Readonly<Record<string, string>> })[FILES];
const ROOT = new URL("../../", import.meta.url);

/** Throws an Error if there is none. */
export function ownFile(path: string): string {
  if (bundled === undefined) return readFileSync(new URL(path, ROOT), "utf8");
  const text = bundled[path];
  if (text === undefined) throw new Error(`This program was built without its file ${path}`);
  return text;
}

/** Names of the files and folders in a folder, in order; "" is the root. */
export function ownFolder(path: string): readonly string[] {
  if (bundled === undefined) return readdirSync(new URL(`${path}/`, ROOT)).sort();
  const inside = Object.keys(bundled).filter((file) => file.startsWith(`${path}/`));
  return [...new Set(inside.map((file) => file.slice(path.length + 1).split("/")[0] ?? ""))].sort();
}

/** Where the program's modules are, with a separator at the end; "" where they are no files. */
export const OWN_ROOT = bundled === undefined && ROOT.protocol === "file:" ? fileURLToPath(ROOT) : "";
