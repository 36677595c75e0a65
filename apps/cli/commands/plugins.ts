import { CommandError, type Input, print, UsageError } from "../../../config/command.ts";
import { loadConfig } from "../../../config/load.ts";
import { didYouMean, formatProblems } from "../../../config/read/problems.ts";
import { NO_OVERLAY } from "../../../config/rewrites/overlay.ts";
import { editorSchema, type OwnPlugin } from "../../../config/show/editor-schema.ts";
import { describePlugins, type PluginDescription } from "../../../config/show/plugin-reference.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import { printable, printableLines } from "../../../core/contract/printable.ts";
import { table } from "../../../core/report/table.ts";

type Registry = ReadonlyMap<string, Definition>;

/** `signalbox plugins list|show TYPE`: the built-in types, and those that the config files load. Returns the exit code. */
export async function plugins(input: Input, registry: Registry): Promise<number> {
  const [action, type, ...rest] = input.words;
  const own = await ownPlugins(input.all("file"), registry);
  const all = describePlugins(new Map([...registry, ...own.map(({ definition }) => [definition.type, definition] as const)]));
  if (action === "list" && type === undefined) return print(input, all, () => `${listText(all)}\n`);
  if (action !== "show" || type === undefined || rest.length > 0)
    throw new UsageError("Write: signalbox plugins list, or signalbox plugins show TYPE");
  const found = all.find((each) => each.type === type || each.otherNames.includes(type));
  if (found !== undefined) return print(input, found, () => `${printableLines(text(found))}\n`);
  const hint = didYouMean(
    type,
    all.map((each) => each.type),
  );
  throw new CommandError(
    1,
    `There is no plugin type "${printable(type)}"; "signalbox plugins list" lists them. ${hint}`.trimEnd(),
  );
}

/** `signalbox schema`: the JSON Schema that editors check config files with, plugins of one's own included. Returns the exit code. */
export async function schema(input: Input, registry: Registry): Promise<number> {
  const own = await ownPlugins(input.all("file"), registry);
  process.stdout.write(`${JSON.stringify(editorSchema(registry, own), null, 2)}\n`);
  return 0;
}

/** The plugins that these files load. Throws CommandError for a config with problems. */
async function ownPlugins(files: readonly string[], registry: Registry): Promise<readonly OwnPlugin[]> {
  if (files.length === 0) return [];
  const loaded = await loadConfig(files, registry, [], NO_OVERLAY, false);
  if (loaded.problems !== undefined) throw new CommandError(1, printableLines(formatProblems(loaded.problems)));
  return loaded.config.plugins.flatMap(({ name, from }) => {
    const definition = loaded.definitions.get(name);
    return from === undefined || definition === undefined ? [] : [{ from, definition }];
  });
}

function listText(all: readonly PluginDescription[]): string {
  const rows = all.map(({ kind, type, summary }) => [kind, printable(type), printable(summary)]);
  return table(["left", "left", "left"], [["kind", "type", "summary"], ...rows]).join("\n");
}

function text({ kind, type, summary, otherNames, configuredBy, options, example }: PluginDescription): string {
  const rows = options.map(({ name, value, default: usual, isRequired, meaning }) => {
    return [name, value, isRequired ? "required" : usual, meaning];
  });
  const columns = ["left", "left", "left", "left"] as const;
  return [
    `${type}, a ${kind}: ${summary}`,
    ...(otherNames.length === 0 ? [] : [`The reference router's names: ${otherNames.join(", ")}`]),
    ...(configuredBy === "" ? [] : [`It runs by itself: configured by ${configuredBy}.`]),
    ...(rows.length === 0 ? [] : ["", ...table(columns, [["option", "value", "default", "meaning"], ...rows])]),
    ...(example === "" ? [] : ["", `  ${example}`]),
  ].join("\n");
}
