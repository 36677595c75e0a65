import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { OWN_ROOT } from "../../../core/runtime/own-files.ts";

/** What a plugin's package.json says of this program. */
interface Dependency {
  /** A version, or "file:" and a path. */
  readonly spec: string;
  /** Where a path leads, in words; undefined for a version, which a registry has. */
  readonly from?: string;
}

/**
 * The same program that runs: by its version where it came from a registry, else by the file or the folder that it came from. Version and
 * root are those of the program.
 */
export function ownDependency(version: string, root: string = resolve(OWN_ROOT)): Dependency {
  const parent = dirname(root);
  if (OWN_ROOT === "" || isInDenoCache(root, version)) return { spec: version };
  if (basename(parent) !== "node_modules") return { spec: `file:${root}`, from: "the folder where this program is" };
  const written = writtenIn(join(dirname(parent), "package.json"));
  const [, path] = /^(?:file:)?(\.{0,2}\/.*|[^:]*\.(?:tgz|tar\.gz))$/.exec(written ?? "") ?? [];
  const file = path === undefined ? "" : resolve(dirname(parent), path);
  if (existsSync(file)) return { spec: `file:${file}`, from: "the file that it was installed from" };
  // What is installed for the whole machine is in no package.json, so nobody knows whether a registry has it.
  if (written === undefined || path !== undefined) return { spec: `file:${root}`, from: "the folder where it is installed" };
  return { spec: version };
}

/** Deno keeps what it has from a registry in folders named by the package and its version. */
const isInDenoCache = (root: string, version: string) => basename(root) === version && basename(dirname(root)) === "signalbox";

/** What a package.json says of the program; undefined where it is not there, or says nothing. */
export function writtenIn(file: string): string | undefined {
  try {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(file, "utf8"));
    return { ...devDependencies, ...dependencies }["signalbox"];
  } catch {
    return undefined;
  }
}
