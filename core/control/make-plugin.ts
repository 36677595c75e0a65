import { shapeProblem } from "../contract/kinds.ts";
import type { Definition, PluginHost, PluginKind, PluginKinds } from "../contract/plugin.ts";
import { ignoresPromise } from "../contract/returned-promise.ts";
import { stackPlace } from "../report/stack-place.ts";
import type { PluginEntry } from "../router-config.ts";
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
