import { readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { thrownCode } from "../../core/contract/thrown-text.ts";

/** Writes what `edit` makes of a file's text, in one step; behind a link, the link stays. Rejects with an Error that says what to do. */
export async function editFile(file: string, edit: (text: string) => string, ifMissing: string): Promise<void> {
  if (/\.json$/i.test(file)) throw new Error(`${file} is a JSON file: change it there, or move it to a .yaml file`);
  try {
    const path = await realpath(file);
    await replace(path, edit(await readFile(path, "utf8")), (await stat(path)).mode);
  } catch (thrown) {
    const code = thrownCode(thrown);
    if (code === "ENOENT") throw new Error(`There is no file ${file}: ${ifMissing}`);
    if (code !== "") throw new Error(`${file} can't be written (${code}): check its permissions and those of its folder`);
    throw thrown;
  }
}

async function replace(path: string, text: string, mode: number): Promise<void> {
  const next = `${path}.signalbox-${process.pid}.tmp`;
  try {
    await writeFile(next, text, { mode, flag: "wx" });
    await rename(next, path);
  } catch (thrown) {
    await rm(next, { force: true });
    throw thrown;
  }
}
