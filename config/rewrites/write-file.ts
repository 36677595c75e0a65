import { readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { thrownCode } from "../../core/contract/thrown-text.ts";
import { editedText, type ResourceName } from "./file-text.ts";
import type { RewriteDocument } from "./schema.ts";

/**
 * Changes, adds (`before` undefined) or deletes (`after` undefined) a resource in a config file, as it is on disk now; its
 * comments stay. The file is replaced in one step. Rejects with an Error that says what to do.
 */
export async function writeRewrite(
  file: string,
  resource: ResourceName,
  before: RewriteDocument | undefined,
  after: RewriteDocument | undefined,
): Promise<void> {
  if (/\.json$/i.test(file)) throw new Error(`${file} is a JSON file: change the resource there, or move it to a .yaml file`);
  try {
    // Behind a link, the link stays.
    const path = await realpath(file);
    const text = editedText(await readFile(path, "utf8"), resource, before, after);
    await replace(path, text, (await stat(path)).mode);
  } catch (thrown) {
    const code = thrownCode(thrown);
    if (code === "ENOENT") throw new Error(`There is no file ${file}: the resource comes from no file that can be written`);
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
