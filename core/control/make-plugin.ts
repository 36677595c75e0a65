import type { PluginEntry } from "../../config/config.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { trialHost } from "../../config/plugins/trial-host.ts";
import { type Position, type Problem, problemAt } from "../../config/read/problems.ts";
import { shapeProblem } from "../contract/kinds.ts";
import type { Definition, NamedPlugin, OwnPlugin, PluginHost, PluginKind, PluginKinds } from "../contract/plugin.ts";
import { ignoresPromise } from "../contract/returned-promise.ts";
import { thrownMessage } from "../contract/thrown-text.ts";
import { stackPlace } from "../report/stack-place.ts";
import { PluginError } from "./plugin-error.ts";

/** Makes the instance of an entry. Throws PluginError if that fails, or makes something else than a plugin of this kind. */
export function makePlugin(definition: Definition, entry: PluginEntry, host: PluginHost): PluginKinds[PluginKind] {
  const { name, type, parameters, file } = entry;
  let plugin: PluginKinds[PluginKind];
  try {
    plugin = definition.create(parameters, host);
  } catch (cause) {
    throw new PluginError(name, `The plugin "${name}" can't be made`, cause, stackPlace(cause, file));
  }
  ignoresPromise(plugin);
  const problem = shapeProblem(definition.kind, plugin);
  if (problem === "") return plugin;
  throw new PluginError(name, `The plugin "${name}" (${file || type}) is no ${definition.kind}`, new TypeError(problem));
}

/**
 * What keeps plugins of one's own from being made: each is made for a moment, as a router makes it when it starts, behind those that
 * stand before it.
 */
export function problemsOfOwn({ config, definitions }: LoadedConfig): readonly Problem[] {
  const ending = new AbortController();
  const made: { readonly kind: string; readonly named: NamedPlugin<OwnPlugin>; readonly position: Position }[] = [];
  const plugins = (kind: string) => made.filter((each) => each.kind === kind).map(({ named }) => named);
  const problems: Problem[] = [];
  const tried = (position: Position, act: () => void) => {
    try {
      act();
    } catch (thrown) {
      problems.push(problemAt(position, [], { found: `a plugin that can't run: ${thrownMessage(thrown)}` }));
    }
  };
  for (const entry of config.plugins) {
    const { name, from, position } = entry;
    const definition = definitions.get(name);
    if (from === undefined || definition === undefined || position === undefined) continue;
    const host = trialHost(entry, ending.signal, plugins);
    tried(position, () =>
      made.push({ kind: definition.kind, named: { name, plugin: makePlugin(definition, entry, host) }, position }),
    );
  }
  ending.abort();
  for (const { named, position } of made.reverse()) tried(position, () => named.plugin.dispose?.());
  return problems;
}
