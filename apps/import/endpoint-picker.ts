import { type LoadedConfig, loadTexts } from "../../config/load.ts";
import { isMapping, type Problem } from "../../config/read/problems.ts";
import { effectiveConfig } from "../../config/show/effective.ts";
import { withoutDefaults } from "../../config/show/without-defaults.ts";
import { mappingAt } from "./data.ts";
import type { Draft } from "./draft.ts";
import { ImportError } from "./import-error.ts";
import { PickerParts } from "./picker-parts.ts";
import type { Source, SourceText } from "./source.ts";
import { asItStands } from "./write-config.ts";
import { onlyDocument } from "./yaml-source.ts";

/** Makes a file without replicas valid for as long as it is read. */
const ANY_URL = "http://127.0.0.1:8000";
/** What was taken out may have hidden problems elsewhere, so the rest is read again. */
const MOST_ROUNDS = 20;
/** Sections of the Router document that the reference's file says something of. */
const SECTIONS = ["plugins", "profiles", "admission", "disaggregation"] as const;

/** EndpointPickerConfig of the reference router (llm-d): what the loader makes of it, written as a Router document. */
export const endpointPicker: Source = {
  kind: "llm-d",
  title: "llm-d's EndpointPickerConfig",
  recognises: ({ text }) => /["']?kind["']?:\s*["']?EndpointPickerConfig\b/.test(text),
  async read(source, draft) {
    const document = onlyDocument(source, draft);
    if (!isMapping(document.value)) throw nothingOf(source.file, "it is no mapping");
    const parts = new PickerParts(document.value);
    const lineOf = ({ path }: Problem) => document.positionOf(parts.inFile(path), "key").line;
    const loaded = await loadFitting(parts, source, lineOf, draft);
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
 * Loads the document, without the parts that have no counterpart: each problem is a finding. Throws an ImportError if nothing is
 * left.
 */
async function loadFitting(
  parts: PickerParts,
  { file, registry }: SourceText,
  lineOf: (problem: Problem) => number,
  draft: Draft,
): Promise<LoadedConfig> {
  // Values are compared with the replicas' urls.
  const urls = draft.endpoints.length > 0 ? draft.endpoints.map(({ url }) => url) : [ANY_URL];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const text = asItStands(JSON.stringify(parts.value));
    const loaded = await loadTexts([{ file, text }], registry, urls);
    if (loaded.problems === undefined) return loaded;
    for (const problem of loaded.problems) find(problem, lineOf(problem), parts, draft);
    if (!parts.takeOut(loaded.problems.map(({ path }) => path))) break;
  }
  const last = draft.findings.at(-1);
  throw nothingOf(file, last === undefined ? "it says nothing" : `${last.setting}: ${last.why}`);
}

function find({ path, found, wanted, hint }: Problem, line: number, parts: PickerParts, draft: Draft): void {
  const isKnown = found.includes("no counterpart here") || /^\d+ profiles$/.test(found);
  const why = [wanted === "" ? found : `${found}; wanted ${wanted}`, hint].filter((part) => part !== "").join(". ");
  draft.find(parts.nameInFile(path) || "the document", line, [isKnown ? "left out" : "not understood", why]);
}

function nothingOf(file: string, why: string): ImportError {
  return new ImportError(`Nothing in ${file} can be taken over; ${why}.`);
}
