import { randomBytes } from "node:crypto";
import { realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { thrownCode } from "../../core/contract/thrown-text.ts";
import { readBounded, UnreadableFile } from "../../core/runtime/read-file.ts";

/** Writes what `edit` makes of a file's text, in one step; a link stays one. Rejects with an Error that says what to do. */
export async function editFile(file: string, edit: (text: string) => string, ifMissing: string): Promise<void> {
  if (/\.json$/i.test(file)) throw new Error(`${file} is a JSON file: change it there, or move it to a .yaml file`);
  await edited(file, edit, ifMissing);
}

async function edited(file: string, edit: (text: string) => string, ifMissing: string): Promise<void> {
  try {
    const path = await realpath(file);
    await replace(path, edit((await readBounded(path, Infinity)).toString("utf8")), (await stat(path)).mode);
  } catch (thrown) {
    const code = thrownCode(thrown);
    if (code === "ENOENT") throw new Error(`There is no file ${file}: ${ifMissing}`);
    if (code !== "") throw new Error(`${file} can't be written (${code}): check its permissions and those of its folder`);
    throw thrown instanceof UnreadableFile ? new Error(`${file} can't be read: ${thrown.message}. ${thrown.fix}`) : thrown;
  }
}

/**
 * Puts one text of a file in the place of another, in one step. Rejects with an Error that says what to do, also if the file
 * holds something else.
 */
export async function restoreFile(file: string, before: string, after: string): Promise<void> {
  const restored = (text: string) => {
    if (text === before || text === after) return after;
    throw new Error(`${file} was edited since it was read: compare it with what runs, and change it there`);
  };
  await edited(file, restored, "put it back first");
}

async function replace(path: string, text: string, mode: number): Promise<void> {
  const next = `${path}.signalbox-${process.pid}-${randomBytes(4).toString("hex")}.tmp`;
  try {
    await writeFile(next, text, { mode, flag: "wx" });
    await rename(next, path);
  } catch (thrown) {
    await rm(next, { force: true });
    throw thrown;
  }
}
