import { isDeepStrictEqual } from "node:util";
import type { Definition } from "../../core/contract/plugin.ts";
import { type Registry, validateOptions } from "../plugins/instances.ts";
import { isMapping, quoted } from "../read/problems.ts";
import type { EntryNote, PickerParts } from "../router/read.ts";
import { type Entry, jobOf } from "./entries.ts";
import { PARSER_TYPES, PASSTHROUGH_PARSER, REFUSED_PARSER_PARAMETERS } from "./types.ts";

/** What becomes of an entry that is no plugin here. */
export function noteOn({ name, role, type, parameters }: Entry): readonly EntryNote[] {
  const job = jobOf(type);
  const given = isMapping(parameters) ? parameters : {};
  const ignored = Object.keys(job?.refused ?? (role === "parser" ? REFUSED_PARSER_PARAMETERS : {})).filter((key) =>
    Object.hasOwn(given, key),
  );
  const noted: readonly EntryNote[] = ignored.length === 0 ? [] : [{ name, effect: "no meaning here", why: ignored.join(", ") }];
  if (job !== undefined) return [{ name, effect: job.effect, why: job.why }, ...noted];
  if (role !== "parser" || type === PASSTHROUGH_PARSER) return noted;
  return [{ name, effect: "taken over", why: `by the router's own ${PARSER_TYPES[type]!.join(", ")}` }, ...noted];
}

/** The notes on a document; none without one. Of a plugin its parameters that change nothing are noted. */
export function notesOn(picker: PickerParts | undefined, registry: Registry): readonly EntryNote[] {
  if (picker === undefined) return [];
  const ignored = picker.plugins.flatMap(({ spec: { type = "", name = type, parameters } }): readonly EntryNote[] => {
    const given = typeof parameters === "object" && parameters !== null ? Object.keys(parameters) : [];
    const definition = registry.get(type);
    const ignores = (definition?.ignores ?? []).filter((key) => given.includes(key) && isIdle(definition!, parameters, key));
    return ignores.length === 0 ? [] : [{ name, effect: "no meaning here", why: ignores.join(", ") }];
  });
  return [...picker.notes, ...ignored];
}

/** Whether the plugin would be the same without this parameter. */
function isIdle(definition: Definition, parameters: unknown, key: string): boolean {
  const { [key]: _left, ...others } = parameters as Readonly<Record<string, unknown>>;
  return isDeepStrictEqual(validateOptions(definition, parameters), validateOptions(definition, others));
}

/**
 * A source whose scheme contradicts the url of a listed endpoint is refused: its port is the endpoint's own. Of endpoints that are found
 * later nothing is known.
 */
export function checkSchemes(picker: PickerParts, endpoints: readonly { readonly name: string; readonly url: string }[]): void {
  for (const { spec, path, place } of picker.plugins) {
    const given = isMapping(spec.parameters) ? spec.parameters : {};
    const { scheme, port } = given;
    if (!AT_ENDPOINT.has(spec.type ?? "") || typeof scheme !== "string" || scheme === "" || port) continue;
    const other = endpoints.find(({ url }) => !url.toLowerCase().startsWith(`${scheme.toLowerCase()}:`));
    if (other === undefined) continue;
    const hint = "Leave it out, or name the port of the metrics beside it.";
    const found = `${quoted(scheme)}, although the url of ${quoted(other.name)} has another scheme`;
    place.report([...path, "parameters", "scheme"], { found, hint });
  }
}

const AT_ENDPOINT: ReadonlySet<string> = new Set(["metrics-data-source", "models-data-source"]);
