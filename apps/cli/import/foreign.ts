import { readFiles } from "../../../config/read/files.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import { commandsIn } from "../../import/command-line.ts";
import { recognised } from "../../import/sources.ts";

/** Texts that are meant for this router, whatever is wrong with them. */
const IS_OURS = /signalbox\/v1|EndpointPickerConfig/;

/** For files that can't be loaded: a line for each that is another router's, which `signalbox import` takes. */
export async function foreignHints(paths: readonly string[], registry: ReadonlyMap<string, Definition>): Promise<string> {
  const texts = await readFiles(paths, []);
  const lines = texts.map(({ file, text }) => {
    const source = IS_OURS.test(text) ? undefined : recognised({ file, text, commands: commandsIn(text), registry });
    return source === undefined ? "" : `\n${file} is ${source.title}: "signalbox import ${file}" makes a config of ours of it.`;
  });
  return lines.join("");
}
