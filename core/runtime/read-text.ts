import { readFileSync } from "node:fs";

/** The text of a file of the system, such as those of /proc; "" where it can't be read. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
