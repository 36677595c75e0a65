import { type LoadedConfig, loadTexts } from "../../../config/load.ts";
import { isMapping, type Problem } from "../../../config/read/problems.ts";
import { effectiveConfig } from "../../../config/show/effective.ts";
import { CommandError } from "../frame/usage.ts";
import { withoutDefaults } from "../show/config-text.ts";
import { mappingAt } from "./data.ts";
import type { Draft } from "./draft.ts";
import type { Source, SourceText } from "./source.ts";
import { asItStands } from "./write-config.ts";
import { onlyDocument } from "./yaml-source.ts";

/** Makes a file without replicas valid for as long as it is read. */
const ANY_URL = "http://127.0.0.1:8000";
const MOST_TRIES = 200;
/** Sections of the Router document that the reference's file says something of. */
const SECTIONS = ["plugins", "profiles", "admission"] as const;

/** EndpointPickerConfig of the reference router (llm-d): what the loader makes of it, written as a Router document. */
export const endpointPicker: Source = {
  kind: "llm-d",
  title: "llm-d's EndpointPickerConfig",
  recognises: ({ text }) => /["']?kind["']?:\s*["']?EndpointPickerConfig\b/.test(text),
  async read(source, draft) {
    const document = onlyDocument(source, draft);
    const value = structuredClone(document.value);
    const lineOf = (problem: Pick<Problem, "path">) => document.positionOf(pathOf(problem.path), "key").line;
    const loaded = await loadFitting(value, source, lineOf, draft);
    for (const { name, effect, why } of loaded.notes) draft.find(name, 0, [effect, why]);
    const { router, origins } = effectiveConfig(loaded, {});
    const spec = mappingAt(withoutDefaults(router, "", origins), "spec");
    for (const key of SECTIONS) {
      if (spec[key] === undefined) continue;
      draft.set(key, spec[key], "the EndpointPickerConfig");
      draft.find(key, 0, ["taken over", `spec.${key}`]);
    }
    for (const { url, labels } of loaded.config.pool.endpoints)
      if (url !== ANY_URL) draft.addEndpoint(url, Object.keys(labels).length === 0 ? {} : { labels });
  },
};

/**
 * Loads the document, without the parts that have no counterpart: each of them is a finding. Throws a CommandError if nothing is
 * left.
 */
async function loadFitting(
  value: unknown,
  { file, registry }: SourceText,
  lineOf: (problem: Problem) => number,
  draft: Draft,
): Promise<LoadedConfig> {
  for (let tries = 0; tries < MOST_TRIES && isMapping(value); tries++) {
    const text = asItStands(JSON.stringify(value));
    const loaded = await loadTexts([{ file, text }], registry, [ANY_URL]);
    if (loaded.problems === undefined) return loaded;
    // One at a time, and the last first: places of the others stay as they are.
    const problem = loaded.problems.at(-1)!;
    const { path, found, wanted, hint } = problem;
    const isKnown = found.includes("no counterpart here") || /^\d+ profiles$/.test(found);
    const why = [wanted === "" ? found : `${found}; wanted ${wanted}`, hint].filter((part) => part !== "").join(". ");
    draft.find(path || "the document", lineOf(problem), [isKnown ? "left out" : "not understood", why]);
    if (!takeOut(value as Record<string, unknown>, path)) break;
  }
  const last = draft.findings.at(-1);
  const why = last === undefined ? "it is no mapping" : `${last.setting}: ${last.why}`;
  throw new CommandError(1, `Nothing in ${file} can be taken over; ${why}.`);
}

/** Steps of a path as messages write it, such as plugins[3].type. */
function pathOf(text: string): readonly (string | number)[] {
  return [...text.matchAll(/([\w$-]+)|\[(\d+)\]/g)].map(([, key, index]) => key ?? Number(index));
}

/**
 * Takes the smallest part out that can be missing: an entry of a list with what refers to it, else a key at the top. False if
 * none is there.
 */
function takeOut(value: Record<string, unknown>, path: string): boolean {
  const [key, index, inner, innerIndex] = pathOf(path);
  if (typeof key !== "string" || !Object.hasOwn(value, key) || key === "kind" || key === "apiVersion") return false;
  const entries = value[key];
  if (!Array.isArray(entries) || typeof index !== "number" || index >= entries.length) return delete value[key];
  if (key === "schedulingProfiles") {
    const refs = mappingAt(entries, String(index))["plugins"] ?? (entries[index] as { plugins?: unknown } | null)?.plugins;
    if (inner === "plugins" && typeof innerIndex === "number" && Array.isArray(refs))
      return refs.splice(innerIndex, 1).length > 0;
    // Decode servers can do the whole of a request; prefill servers may not.
    const others = entries.findIndex((each) => isMapping(each) && each["name"] !== "decode");
    const hasDecode = entries.some((each) => isMapping(each) && each["name"] === "decode");
    return entries.splice(hasDecode && others >= 0 ? others : index, 1).length > 0;
  }
  const [gone] = entries.splice(index, 1) as unknown[];
  if (key === "plugins" && isMapping(gone)) dropReferences(value, String(gone["name"] ?? gone["type"]));
  return true;
}

function dropReferences(value: Record<string, unknown>, name: string): void {
  for (const profile of Array.isArray(value["schedulingProfiles"]) ? value["schedulingProfiles"] : []) {
    if (!isMapping(profile) || !Array.isArray(profile["plugins"])) continue;
    const kept = profile["plugins"].filter((ref: unknown) => !isMapping(ref) || ref["pluginRef"] !== name);
    (profile as Record<string, unknown>)["plugins"] = kept;
  }
}
