import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export const root = join(import.meta.dirname ?? ".", "..", "..");
export const SOURCE_FOLDERS = ["core", "plugins", "config", "apps"];

export interface Import {
  readonly file: string;
  /** As written: a package, a node: module, or a path relative to the root for a file of ours. */
  readonly target: string;
  /** Of types alone: it is gone when the program runs. */
  readonly isOfTypes: boolean;
}

export function sourcesBelow(folder: string): string[] {
  return filesBelow(folder, ".ts");
}

export function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith(ending))
    .filter((file) => statSync(join(root, file)).isFile());
}

const STATEMENTS = /^(?:import|export)\b([^;"]*?)\bfrom "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm;

export function importsOf(file: string): Import[] {
  return [...read(file).matchAll(STATEMENTS)].map(([, names = "", from, bare, dynamic]) => {
    const specifier = from ?? bare ?? dynamic ?? "";
    const target = specifier.startsWith(".") ? relative(root, join(root, dirname(file), specifier)) : specifier;
    return { file, target: target.replaceAll("\\", "/"), isOfTypes: names.startsWith(" type ") };
  });
}

/** A file with all that it imports, and what those import; `isWithTypes`: also what the compiler alone reads. */
export function closureOf(entry: string, isWithTypes: boolean): ReadonlySet<string> {
  const closure = new Set([entry]);
  for (const file of closure) {
    for (const { target, isOfTypes } of importsOf(file)) if (isOurs(target) && (isWithTypes || !isOfTypes)) closure.add(target);
  }
  return closure;
}

export function linesOf(files: Iterable<string>): number {
  return [...files].reduce((sum, file) => sum + lineCount(file), 0);
}

export function isOurs(target: string): boolean {
  return /^(core|plugins|config|apps)\//.test(target);
}

/** "core/wire" for what is in that folder, and the file itself at the top of core, config or apps; plugins are one room, and features one. */
export function roomOf(file: string): string {
  const [top = "", second = ""] = file.split("/");
  if (top === "plugins") return second === "features" ? `${top}/${second}` : top;
  return `${top}/${second}`;
}

export function lineCount(file: string): number {
  return read(file).split("\n").length - 1;
}

export function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}
