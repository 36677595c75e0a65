import { checkConfig } from "../../../config/show/check.ts";
import type { Definition } from "../../contract/plugin.ts";
import { printableLines } from "../../contract/printable.ts";
import type { Input } from "../frame/command.ts";
import { UsageError } from "../frame/usage.ts";

/** `signalbox check`: prints every problem, or a summary of a valid config and its warnings. Returns the exit code. */
export async function check(input: Input, registry: ReadonlyMap<string, Definition>): Promise<number> {
  const isUrl = (word: string) => /^https?:\/\//i.test(word);
  const paths = [...input.all("file"), ...input.words.filter((word) => !isUrl(word))];
  if (paths.length === 0) throw new UsageError("Name the files to check: signalbox check -f signalbox.yaml");
  const options = { paths, urls: input.words.filter(isUrl), isJson: input.isJson, isStrict: input.has("strict") };
  const { text, isValid } = await checkConfig(options, registry);
  process.stdout.write(`${printableLines(text.trimEnd())}\n`);
  return isValid ? 0 : 1;
}
