import type { ConfigText } from "../../../config/read/files.ts";
import { restoreFile } from "../../../config/read/replace-file.ts";
import type { Generation } from "../../../config/running/config-history.ts";
import { thrownMessage } from "../../../core/contract/thrown-text.ts";
import { Problem } from "../problem.ts";
import type { ApiSite } from "../site.ts";

/** A file, as it was read last and as it was in an earlier generation. */
interface RestorableFile {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

/** The files that differ from what an earlier generation has. Throws Problem where it is not a matter of their texts alone. */
export function restorableFiles({ running }: ApiSite, { generation, texts }: Generation): readonly RestorableFile[] {
  const [now, then] = [inFiles(running.fileTexts), inFiles(texts)];
  const added = now.filter(({ file }) => !then.some((each) => each.file === file));
  const gone = then.filter(({ file }) => !now.some((each) => each.file === file));
  const odd = [...added.map(({ file }) => `${file} came since then`), ...gone.map(({ file }) => `${file} is gone since then`)];
  if (odd.length > 0) {
    const detail = `Generation ${generation} has other files, so they can't be written: ${odd.join("; ")}. Leave out write, and change the files yourself.`;
    throw new Problem(409, "other_files", detail);
  }
  return then.flatMap(({ file, text: after }) => {
    const before = now.find((each) => each.file === file)!.text;
    return before === after ? [] : [{ file, before, after }];
  });
}

function inFiles(texts: readonly ConfigText[]): readonly ConfigText[] {
  return texts.filter(({ resource }) => resource === undefined);
}

/** Writes the files and reads them again: they say what runs. Returns their names. Throws Problem where one can't be written. */
export async function writeGeneration(
  { running }: ApiSite,
  files: readonly RestorableFile[],
  caller: string,
): Promise<readonly string[]> {
  const written: string[] = [];
  for (const { file, before, after } of files) {
    await restoreFile(file, before, after).catch((thrown: unknown) => {
      const others = written.length === 0 ? "" : ` Written before it: ${written.join(", ")}.`;
      throw new Problem(409, "not_written", `The earlier config runs, but was not written. ${thrownMessage(thrown)}.${others}`);
    });
    written.push(file);
  }
  if (running.restored !== undefined) await running.reload("api", caller);
  return written;
}
