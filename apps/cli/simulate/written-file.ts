import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "../../../config/command.ts";
import { thrownCode } from "../../../core/contract/thrown-text.ts";

/** Throws a UsageError if the file that the switch names can't be written, so that no long run is for nothing. */
export function checkWritable(name: string, path: string): void {
  if (path === "") throw new UsageError(`${name} wants the name of a file.`);
  const folder = dirname(path);
  const refused = (why: string) => new UsageError(`${name}: ${path} can't be written: ${why}`);
  if (isFolder(path) === true) throw new UsageError(`${name} wants a file, and ${path} is a folder; add a name to it.`);
  if (isFolder(folder) === false) throw refused(`${folder} is no folder; name another file.`);
  try {
    accessSync(isFolder(path) === undefined ? folder : path, constants.W_OK);
  } catch (thrown) {
    throw refused(reason(thrownCode(thrown), folder));
  }
}

/** Undefined: it can't be seen, or there is none. */
function isFolder(path: string): boolean | undefined {
  try {
    return statSync(path).isDirectory();
  } catch {
    return undefined;
  }
}

function reason(code: string, folder: string): string {
  if (code === "ENOENT") return `there is no folder ${folder}; make it first.`;
  if (code === "ENOTDIR") return `a part of ${folder} is no folder; name another file.`;
  if (code === "EROFS") return "it is on a file system that is read-only; name another file.";
  if (code === "EACCES" || code === "EPERM") return "it may not be written; check the permissions, or name another file.";
  return `${code || "the file system refuses it"}; name another file.`;
}
