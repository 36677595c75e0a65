import type { Registry } from "../plugins/instances.ts";
import type { EntryNote, PickerParts } from "../router/read.ts";
import { type Entry, jobOf } from "./entries.ts";
import { PARSER_TYPES, PASSTHROUGH_PARSER } from "./types.ts";

/** What becomes of an entry that is no plugin here. */
export function noteOn({ name, role, type }: Entry): readonly EntryNote[] {
  const job = jobOf(type);
  if (job !== undefined) return [{ name, effect: job.effect, why: job.why }];
  if (role !== "parser" || type === PASSTHROUGH_PARSER) return [];
  return [{ name, effect: "taken over", why: `by the router's own ${PARSER_TYPES[type]!.join(", ")}` }];
}

/** The notes on a document; none without one. Of a plugin its parameters that change nothing are noted. */
export function notesOn(picker: PickerParts | undefined, registry: Registry): readonly EntryNote[] {
  if (picker === undefined) return [];
  const ignored = picker.plugins.flatMap(({ spec: { type = "", name = type, parameters } }): readonly EntryNote[] => {
    const given = typeof parameters === "object" && parameters !== null ? Object.keys(parameters) : [];
    const ignores = (registry.get(type)?.ignores ?? []).filter((key) => given.includes(key));
    return ignores.length === 0 ? [] : [{ name, effect: "no meaning here", why: ignores.join(", ") }];
  });
  return [...picker.notes, ...ignored];
}
