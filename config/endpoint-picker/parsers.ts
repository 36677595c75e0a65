import { DEFAULT_PARSERS } from "../plugins/defaults.ts";
import type { PluginSource } from "../plugins/read.ts";
import { REFUSED_TYPES } from "../plugins/refused-types.ts";
import { type Entry, type PickerResource, referredTo, refuseReference } from "./entries.ts";
import { OTHER_PATHS, PARSER_TYPES, PASSTHROUGH_PARSER, PATHS_BY_PARSER } from "./types.ts";

/** The parsers that run. */
export interface ChosenParsers {
  /** Default parsers that do not run. */
  readonly left: readonly string[];
  /** The passthrough parser with its routes, if chosen. */
  readonly passthrough: readonly PluginSource[];
}

/** Without a choice, all default parsers run; a choice replaces them, as in the reference. */
export function chooseParsers(entries: readonly Entry[], resource: PickerResource): ChosenParsers {
  const { requestHandler, parser } = resource.document;
  const listed = (requestHandler?.parsers ?? []).map((ref, index) => ({ ...ref, path: ["requestHandler", "parsers", index] }));
  const refs = listed.length === 0 && parser !== undefined ? [{ ...parser, path: ["parser"] }] : listed;
  if (refs.length === 0) return { left: [], passthrough: [] };
  const chosen = refs.filter(({ pluginRef, path }) => {
    const { role, type } = referredTo(pluginRef, entries);
    // A refused type is already reported where it is listed.
    const isRefused = REFUSED_TYPES.has(type) && entries.some((entry) => entry.name === pluginRef);
    if (role !== "parser" && !isRefused) refuseReference(pluginRef, path, "a parser", entries, resource);
    return role === "parser";
  });
  const types = chosen.map(({ pluginRef }) => referredTo(pluginRef, entries).type);
  const ours = new Set(types.flatMap((type) => PARSER_TYPES[type] ?? []));
  const left = DEFAULT_PARSERS.filter((type) => !ours.has(type));
  const at = types.indexOf(PASSTHROUGH_PARSER);
  return { left, passthrough: at === -1 ? [] : [passthroughOf(chosen[at]!, left, resource)] };
}

function passthroughOf(
  { pluginRef, path }: { readonly pluginRef: string; readonly path: readonly (string | number)[] },
  unreadParsers: readonly string[],
  resource: PickerResource,
): PluginSource {
  const paths = [...unreadParsers.flatMap((type) => PATHS_BY_PARSER[type] ?? []), ...OTHER_PATHS];
  const parameters = { routes: paths.map((each) => ({ method: "POST", path: each })) };
  return { spec: { type: "passthrough", name: pluginRef, parameters }, path, place: resource };
}
