import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../../config/command.ts";
import { CONFIG_NAME, MOST_BYTES } from "../../../config/read/files.ts";
import { readBounded } from "../../../core/runtime/read-file.ts";

/** What a command reads in a folder where it is given no config. */
const DEFAULT_NAMES = ["signalbox.yaml", "signalbox.yml"];
/** So many files are looked into for configs of other names. */
const MOST_FILES = 50;
/** What stands in a config of this router's, or in one of the reference router that it takes too. */
const IS_OURS = /^[ \t]*(?:\{[ \t]*)?["']?(apiVersion["']?:[ \t]*["']?signalbox\/|kind["']?:[ \t]*["']?EndpointPickerConfig\b)/m;

/**
 * The config of a folder, for a command that is given none: its signalbox.yaml or signalbox.yml. Empty where the folder has no config at
 * all. `named` is the switch that names one. Throws a UsageError where somebody has to say which one is meant: both are there, or only configs of other names.
 */
export async function defaultFiles(named = "-f", folder = ""): Promise<readonly string[]> {
  const files = DEFAULT_NAMES.filter((name) => existsSync(join(folder, name)));
  if (files.length > 1)
    throw new UsageError(`Both ${files.join(" and ")} are in this folder: name one with ${named}, or delete the other.`);
  const other = files.length === 0 ? await otherConfig(folder) : undefined;
  if (other === undefined) return files.map((name) => join(folder, name));
  throw new UsageError(
    `There is no ${DEFAULT_NAMES[0]} in this folder, but ${other} is a config: name it with ${named} ${other}.`,
  );
}

/** The name of the first file in a folder that is a config by its text. */
async function otherConfig(folder: string): Promise<string | undefined> {
  const names = await readdir(folder || ".").catch(() => []);
  for (const name of names
    .filter((each) => CONFIG_NAME.test(each))
    .sort()
    .slice(0, MOST_FILES)) {
    const bytes = await readBounded(join(folder, name), MOST_BYTES).catch(() => undefined);
    if (bytes !== undefined && IS_OURS.test(bytes.toString("utf8"))) return name;
  }
  return undefined;
}
