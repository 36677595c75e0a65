import type { Resource } from "../read/fit.ts";
import { type Path, quoted } from "../read/problems.ts";
import type { PickerDocument } from "./schema.ts";
import { BUILT_IN_JOBS, FILE_DISCOVERY, PARSER_TYPES } from "./types.ts";

export type PickerResource = Resource<PickerDocument>;

/** An entry of `plugins`. */
export interface Entry {
  readonly name: string;
  readonly type: string;
  readonly parameters: unknown;
  readonly path: Path;
  /** Its role, if it does not become a plugin instance here. */
  readonly role: string | undefined;
}

export function readEntries({ document, report }: PickerResource): readonly Entry[] {
  const seen = new Map<string, Entry>();
  return (document.plugins ?? []).map(({ type, name = type, parameters }, index) => {
    const entry: Entry = { name, type, parameters, path: ["plugins", index], role: roleOf(type) };
    const other = seen.get(name);
    seen.set(name, entry);
    // If both become instances, the duplicate name is reported there.
    if (other !== undefined && (entry.role !== undefined || other.role !== undefined)) {
      const found = `the plugin name ${quoted(name)} a second time`;
      report([...entry.path, name === type ? "type" : "name"], { found, wanted: "a name of its own for each entry" });
    }
    return entry;
  });
}

function roleOf(type: string): string | undefined {
  if (Object.hasOwn(BUILT_IN_JOBS, type)) return BUILT_IN_JOBS[type]?.role;
  if (Object.hasOwn(PARSER_TYPES, type)) return "parser";
  return type === FILE_DISCOVERY ? "discovery" : undefined;
}

/** The entry that a reference names, or a type that needs no entry. */
export function referredTo(name: string, entries: readonly Entry[]): Pick<Entry, "name" | "type" | "role"> {
  return entries.find((entry) => entry.name === name) ?? { name, type: name, role: roleOf(name) };
}

/** Reports a reference to a plugin of the wrong kind. */
export function refuseReference(
  name: string,
  path: Path,
  wanted: string,
  entries: readonly Entry[],
  { report }: PickerResource,
): void {
  const { role, type } = referredTo(name, entries);
  const isListed = entries.some((entry) => entry.name === name);
  const what = role === undefined ? `of type ${quoted(type)}` : `a ${role}`;
  report([...path, "pluginRef"], { found: `${quoted(name)}, which is ${isListed ? what : "not the name of a plugin"}`, wanted });
}
