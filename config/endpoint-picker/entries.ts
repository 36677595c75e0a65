import type { z } from "../../core/contract/options.ts";
import { REFUSED_TYPES } from "../plugins/refused-types.ts";
import type { Resource } from "../read/fit.ts";
import { reportIssues } from "../read/issues.ts";
import { describe, didYouMean, isMapping, type Path, quoted, unknownKey } from "../read/problems.ts";
import { CACHE_EVENT_JOBS } from "./cache-event-jobs.ts";
import { PAIR_JOBS } from "./pair-jobs.ts";
import type { PickerDocument } from "./schema.ts";
import {
  BUILT_IN_JOBS,
  FEATURE_GATES,
  FILE_DISCOVERY,
  FLOW_POLICIES,
  PARSER_TYPES,
  REFUSED_KEYS,
  REFUSED_PARSER_PARAMETERS,
  type RefusedValue,
  SOURCE_TYPES,
} from "./types.ts";

export type PickerResource = Resource<PickerDocument>;

const JOBS = { ...BUILT_IN_JOBS, ...PAIR_JOBS, ...CACHE_EVENT_JOBS };

/** What a reference names: an entry of `plugins`, or a type that needs none. */
interface Referent {
  readonly name: string;
  readonly type: string;
  /** Its role, if it does not become a plugin instance here. */
  readonly role: string | undefined;
}

/** An entry of `plugins`. */
export interface Entry extends Referent {
  readonly parameters: unknown;
  readonly path: Path;
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

/** Undefined for a type that becomes a plugin, or is none. */
export const jobOf = (type: string) => (Object.hasOwn(JOBS, type) ? JOBS[type] : undefined);

function roleOf(type: string): string | undefined {
  const job = jobOf(type);
  if (job !== undefined) return job.role;
  if (Object.hasOwn(PARSER_TYPES, type)) return "parser";
  if (Object.values(FLOW_POLICIES).some((types) => Object.hasOwn(types, type))) return "policy";
  return type === FILE_DISCOVERY ? "discovery" : undefined;
}

const indexes = new WeakMap<readonly unknown[], ReadonlyMap<string, unknown>>();

/** The first item of a list whose key it is. The list is indexed once: each of thousands may refer to another one. */
export function firstWith<Item>(key: string, list: readonly Item[], keyOf: (item: Item) => string): Item | undefined {
  let index = indexes.get(list) as ReadonlyMap<string, Item> | undefined;
  if (index === undefined) {
    index = new Map(list.map((item) => [keyOf(item), item] as const).reverse());
    indexes.set(list, index);
  }
  return index.get(key);
}

const nameOf = ({ name }: Entry) => name;

export const entryNamed = (name: string, entries: readonly Entry[]) => firstWith(name, entries, nameOf);

export function referredTo(name: string, entries: readonly Entry[]): Referent {
  return entryNamed(name, entries) ?? { name, type: name, role: roleOf(name) };
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
  const isListed = entryNamed(name, entries) !== undefined;
  const what = role === undefined ? `of type ${quoted(type)}` : `a ${role}`;
  report([...path, "pluginRef"], { found: `${quoted(name)}, which is ${isListed ? what : "not the name of a plugin"}`, wanted });
}

/** Reports everything in the document that neither a plugin nor the router itself supports. */
export function checkUnsupported(entries: readonly Entry[], resource: PickerResource): void {
  checkGates(resource);
  checkKeys(resource);
  checkSources(entries, resource);
  checkHandlers(entries, resource);
  for (const entry of entries) {
    const job = jobOf(entry.type);
    if (job?.schema !== undefined) checkValues(entry, job.schema, resource);
    else if (job !== undefined) checkParameters(entry, job.parameters ?? [], job.refused ?? {}, resource);
    if (entry.role === "parser") checkParameters(entry, [], REFUSED_PARSER_PARAMETERS, resource);
  }
}

function checkGates({ document, report }: PickerResource): void {
  for (const [index, gate] of (document.featureGates ?? []).entries()) {
    const [name = "", value = "true"] = gate.split("=").map((part) => part.trim());
    const state = Object.hasOwn(FEATURE_GATES, name) ? FEATURE_GATES[name] : undefined;
    const path = ["featureGates", index];
    if (state === undefined) {
      const names = Object.keys(FEATURE_GATES);
      const [found, hint] = [`the unknown feature gate ${quoted(name)}`, didYouMean(name, names)];
      report(path, { found, wanted: names.join(" or "), hint });
    } else if (!/^(true|false)$/i.test(value)) {
      report(path, { found: describe(gate), wanted: `"${name}=true" or "${name}=false"` });
    } else if (state.is === "on" && value.toLowerCase() !== "true") {
      report(path, { found: describe(gate), hint: state.why });
    }
  }
}

function checkKeys({ document, report }: PickerResource): void {
  for (const [section, keys] of Object.entries(REFUSED_KEYS)) {
    const given = document[section as keyof typeof REFUSED_KEYS] ?? {};
    for (const [key, hint] of Object.entries(keys)) {
      const value = given[key as keyof typeof given] as unknown;
      // An interval says nothing where there is nothing to synchronize.
      const isIdle = key === "crossReplicaSyncInterval" && !Object.hasOwn(given, "crossReplicaSyncerPluginRef");
      if (Object.hasOwn(given, key) && value !== null && value !== "" && !isIdle)
        report([section, key], { found: `the key ${quoted(key)}, which has no meaning here`, hint }, "key");
    }
  }
}

function checkSources(entries: readonly Entry[], resource: PickerResource): void {
  for (const [index, { pluginRef, extractors = [], interval }] of (resource.document.dataLayer?.sources ?? []).entries()) {
    const path = ["dataLayer", "sources", index];
    if (interval !== undefined && entryNamed(pluginRef, entries) === undefined)
      resource.report([...path, "interval"], {
        found: "the interval of a source without an entry",
        wanted: "the source in plugins too",
      });
    const { type, role } = referredTo(pluginRef, entries);
    if (!SOURCE_TYPES.has(type) && role !== "source" && !REFUSED_TYPES.has(type)) {
      refuseReference(pluginRef, path, [...SOURCE_TYPES].join(" or "), entries, resource);
    }
    for (const [at, extractor] of extractors.entries()) {
      const referred = referredTo(extractor.pluginRef, entries);
      if (referred.role === "extractor" || REFUSED_TYPES.has(referred.type)) continue;
      refuseReference(extractor.pluginRef, [...path, "extractors", at], "an extractor", entries, resource);
    }
  }
}

/** Checks all of an entry's parameters. */
export function checkValues({ parameters, path }: Entry, schema: z.ZodType, { report }: PickerResource): void {
  const value = parameters ?? {};
  const { success, error } = schema.safeParse(value);
  if (!success) reportIssues(error.issues, { schema, value, base: [...path, "parameters"], report });
}

function checkHandlers(entries: readonly Entry[], { report }: PickerResource): void {
  const [, second] = entries.filter(({ role }) => role === "profile handler");
  if (second !== undefined) report(second.path, { found: "a second profile handler", wanted: "one, or none" });
}

/**
 * Checks a mapping's keys: some are accepted, some are refused with a reason unless their value agrees with what is so here, others are
 * unknown.
 */
function checkParameters(
  { parameters, path }: Entry,
  accepted: readonly string[],
  refused: Readonly<Record<string, RefusedValue>>,
  { report }: PickerResource,
): void {
  if (parameters === undefined || parameters === null) return;
  if (!isMapping(parameters)) {
    report([...path, "parameters"], { found: describe(parameters), wanted: "a mapping" });
    return;
  }
  for (const [key, value] of Object.entries(parameters)) {
    const at: Path = [...path, "parameters", key];
    if (accepted.includes(key)) continue;
    if (!Object.hasOwn(refused, key)) {
      const known = [...accepted, ...Object.keys(refused)];
      const wanted = known.length === 0 ? "no parameters" : `one of: ${known.join(", ")}`;
      report(at, { found: unknownKey(key), wanted, hint: () => didYouMean(key, known) }, "key");
    } else if (value !== false && value !== null && !refused[key]!.agrees?.(value)) {
      report(at, { found: describe(value), wanted: refused[key]!.why });
    }
  }
}
