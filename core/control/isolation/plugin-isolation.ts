import { isOwnKind } from "../../contract/kinds.ts";
import type { PluginKinds } from "../../contract/plugin.ts";
import type { Isolate, PluginEntry } from "../../router-config.ts";
import { PluginError } from "../plugin-error.ts";
import { AuthorViews } from "./author-views.ts";
import { isolatedFeature } from "./isolated-feature.ts";
import { isolated } from "./isolated-plugin.ts";
import { Outside } from "./outside.ts";

/** A plugin that does not come with the router reads what it is given, and changes nothing of it. */
export const isolate: Isolate = ({ clock, random, log, output }, faults, waitMs) => {
  const authors = new AuthorViews();
  return (entry, kind) => {
    const { name, file, from = file } = entry;
    const views = authors.of(from);
    return {
      services: { clock: views.of(clock), random, log: views.of(log), output: views.of(output) },
      plugin(plugin) {
        // Other plugins call those of a kind of their own: what they hand to one another is theirs.
        if (isOwnKind(kind)) return plugin;
        if (kind !== "feature") return isolated(plugin, views);
        return featureOf(plugin as PluginKinds["feature"], entry, new Outside({ name, file, views, clock, faults, waitMs }));
      },
    };
  };
};

function featureOf(plugin: PluginKinds["feature"], { name }: PluginEntry, outside: Outside): PluginKinds["feature"] {
  try {
    return isolatedFeature(plugin, outside);
  } catch (cause) {
    throw new PluginError(name, `The feature "${name}" can't be used`, cause);
  }
}
