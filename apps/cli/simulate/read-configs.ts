import { basename } from "node:path";
import { type LoadedConfig, loadConfig, loadTexts } from "../../../config/load.ts";
import { formatProblems } from "../../../config/read/problems.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import { printableLines } from "../../../core/contract/printable.ts";
import type { NamedConfig } from "../../lab/simulate/run.ts";

type Registry = ReadonlyMap<string, Definition>;

/** Makes a config without endpoints valid. It is never used: simulated replicas replace the pool. */
const ANY_URL = "http://127.0.0.1:8000";

export async function defaultConfig(registry: Registry): Promise<LoadedConfig> {
  const loaded = await loadTexts([], registry, [ANY_URL]);
  if (loaded.problems === undefined) return loaded;
  throw new Error(`The default config is not valid: ${formatProblems(loaded.problems)}`);
}

/** Every config under its file's name. Prints the problems and returns undefined if there are any. */
export async function readConfigs(files: readonly string[], registry: Registry): Promise<readonly NamedConfig[] | undefined> {
  const configs: NamedConfig[] = [];
  let isRefused = false;
  for (const file of files) {
    const strict = await loadConfig([file], registry);
    const relaxed = strict.problems === undefined ? strict : await loadConfig([file], registry, [ANY_URL]);
    const loaded = relaxed.problems === undefined ? relaxed : strict;
    if (loaded.problems === undefined) configs.push({ name: nameOf(file, files), loaded });
    else {
      process.stderr.write(`${printableLines(formatProblems(loaded.problems))}\n`);
      isRefused = true;
    }
  }
  return isRefused ? undefined : configs;
}

/** The file's name without folder and extension; the whole path if another file has the same name. */
function nameOf(file: string, files: readonly string[]): string {
  const short = (path: string) => basename(path).replace(/\.(ya?ml|json)$/, "");
  return files.filter((other) => short(other) === short(file)).length === 1 ? short(file) : file;
}
