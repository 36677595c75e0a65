import { existsSync } from "node:fs";
import { join } from "node:path";

/** Absolute path of a data set that lives beside a checkout, or undefined where it is absent (as on most machines). */
export function sharedPath(name: string): string | undefined {
  const path = join(import.meta.dirname ?? ".", "..", "..", "..", "shared", name);
  return existsSync(path) ? path : undefined;
}
