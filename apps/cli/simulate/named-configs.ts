import { basename } from "node:path";
import { UsageError } from "../../../config/command.ts";
import { type LoadedConfig, loadConfig, loadTexts } from "../../../config/load.ts";
import { formatProblems } from "../../../config/read/problems.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import { printableLines } from "../../../core/contract/printable.ts";
import type { NamedConfig } from "../../lab/simulate/run.ts";

type Registry = ReadonlyMap<string, Definition>;

/** Makes a config without endpoints valid. It is never used: simulated replicas replace the pool. */
const ANY_URL = "http://127.0.0.1:8000";
/** The transfer of modelled replicas. */
const MODELLED = "nixl";
const PAIRS = {
  file: "pairs",
  text: "apiVersion: signalbox/v1\nkind: Router\nspec: { disaggregation: {} }\n",
};

const EVENTS = {
  file: "events",
  text: "apiVersion: signalbox/v1\nkind: Router\nspec: { kvEvents: {} }\n",
};

export const defaultConfig = (registry: Registry) => ownConfig([], registry);

/** The default config with pairs of replicas. */
export const pairConfig = (registry: Registry) => ownConfig([PAIRS], registry);

/** The default config that follows the events of replicas' caches. */
export const eventsConfig = (registry: Registry) => ownConfig([EVENTS], registry);

async function ownConfig(texts: readonly (typeof PAIRS)[], registry: Registry): Promise<LoadedConfig> {
  const loaded = await loadTexts(texts, registry, [ANY_URL]);
  if (loaded.problems === undefined) return loaded;
  throw new Error(`The default config is not valid: ${formatProblems(loaded.problems)}`);
}

const ONE_POOL =
  "the simulator has one pool; leave out the Pool documents, or simulate each pool by a Router document of its own.";

/** Every config under its file's name. Prints the problems and returns undefined if there are any. */
export async function readConfigs(files: readonly string[], registry: Registry): Promise<readonly NamedConfig[] | undefined> {
  const configs: NamedConfig[] = [];
  let isRefused = false;
  for (const file of files) {
    const strict = await loadConfig([file], registry);
    const relaxed = strict.problems === undefined ? strict : await loadConfig([file], registry, [ANY_URL]);
    const loaded = relaxed.problems === undefined ? relaxed : strict;
    if (loaded.problems === undefined && loaded.pools.length > 0) {
      process.stderr.write(`${printableLines(file)}: ${ONE_POOL}\n`);
      isRefused = true;
    } else if (loaded.problems === undefined) configs.push({ name: nameOf(file, files), loaded });
    else {
      process.stderr.write(`${printableLines(formatProblems(loaded.problems))}\n`);
      isRefused = true;
    }
  }
  if (isRefused) process.stderr.write("Nothing was simulated.\n");
  return isRefused ? undefined : configs;
}

/** The file's name without folder and extension; the whole path if another file has the same name. */
function nameOf(file: string, files: readonly string[]): string {
  const short = (path: string) => basename(path).replace(/\.(ya?ml|json)$/, "");
  return files.filter((other) => short(other) === short(file)).length === 1 ? short(file) : file;
}

/** How its replicas share requests; undefined where each serves its own. */
function transferOf({ config }: LoadedConfig): string | undefined {
  return (config.features.get("disaggregation") as { readonly transfer: string } | undefined)?.transfer;
}

/** Throws a UsageError for pairs that modelled replicas can't be. */
export function checkTransfers(configs: readonly NamedConfig[]): void {
  for (const { name, loaded } of configs) {
    const transfer = transferOf(loaded);
    if (transfer !== undefined && transfer !== MODELLED)
      throw new UsageError(
        `Modelled replicas know the transfer ${MODELLED}, not ${transfer}; leave "transfer" out of ${name} to simulate it.`,
      );
  }
}

/** Throws a UsageError if a switch for pairs is of no use with these configs. */
export function checkForPairs(name: string, configs: readonly NamedConfig[]): void {
  if (configs.some(({ loaded }) => transferOf(loaded) !== undefined)) return;
  const names = configs.map((config) => config.name).join(", ");
  throw new UsageError(`--${name} is for pairs of replicas; add "disaggregation: {}" to the spec of ${names}, or leave out -f.`);
}

/** Throws a UsageError if replicas publish events that no config follows. */
export function checkForEvents(configs: readonly NamedConfig[]): void {
  if (configs.some(({ loaded }) => loaded.config.features.get("kvEvents") !== undefined)) return;
  const names = configs.map((config) => config.name).join(", ");
  throw new UsageError(
    `--events is of no use with ${names}, which follow none; name a config with -f whose spec has "kvEvents: {}".`,
  );
}

/** Throws a UsageError if a config has pairs, whose prompts are computed elsewhere than the losses are looked for. */
export function checkForLosses(configs: readonly NamedConfig[]): void {
  const paired = configs.find(({ loaded }) => transferOf(loaded) !== undefined);
  if (paired === undefined) return;
  throw new UsageError(
    `--explain-losses can't look into pairs of replicas; leave it out, or the disaggregation of ${paired.name}.`,
  );
}
