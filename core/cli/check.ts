import { checkConfig } from "../../config/check.ts";
import type { Definition } from "../contract/plugin.ts";
import { printableLines } from "../contract/printable.ts";
import { readCheckArguments } from "./arguments.ts";

/** `signalbox check`: prints every problem, or a summary of a valid config and its warnings. Returns the exit code. */
export async function check(argv: readonly string[], registry: ReadonlyMap<string, Definition>): Promise<number> {
  const { text, isValid } = await checkConfig(readCheckArguments(argv), registry);
  process.stdout.write(`${printableLines(text.trimEnd())}\n`);
  return isValid ? 0 : 1;
}
