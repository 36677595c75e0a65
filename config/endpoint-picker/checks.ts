import { describe, didYouMean, isMapping, type Path, quoted } from "../read/problems.ts";
import { type Entry, type PickerResource, referredTo, refuseReference } from "./entries.ts";
import { BUILT_IN_JOBS, FEATURE_GATES, REFUSED_KEYS, REFUSED_PARSER_PARAMETERS, SOURCE_TYPES } from "./types.ts";

/** Reports everything in the document that neither a plugin nor the router itself supports. */
export function checkUnsupported(entries: readonly Entry[], resource: PickerResource): void {
  checkGates(resource);
  checkKeys(resource);
  checkSources(entries, resource);
  checkHandlers(entries, resource);
  for (const entry of entries) {
    const job = Object.hasOwn(BUILT_IN_JOBS, entry.type) ? BUILT_IN_JOBS[entry.type] : undefined;
    if (job !== undefined) checkParameters(entry, job.parameters ?? [], job.refused ?? {}, resource);
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
    } else if ((value.toLowerCase() === "true") !== (state.is === "on")) {
      report(path, { found: describe(gate), hint: state.why });
    }
  }
}

function checkKeys({ document, report }: PickerResource): void {
  for (const [section, keys] of Object.entries(REFUSED_KEYS)) {
    const given = document[section as keyof typeof REFUSED_KEYS] ?? {};
    for (const [key, hint] of Object.entries(keys)) {
      if (Object.hasOwn(given, key))
        report([section, key], { found: `the key ${quoted(key)}, which has no meaning here`, hint }, "key");
    }
  }
}

function checkSources(entries: readonly Entry[], resource: PickerResource): void {
  for (const [index, { pluginRef, extractors = [] }] of (resource.document.dataLayer?.sources ?? []).entries()) {
    const path = ["dataLayer", "sources", index];
    const { type, role } = referredTo(pluginRef, entries);
    if (!SOURCE_TYPES.has(type) && role !== "source") {
      refuseReference(pluginRef, path, [...SOURCE_TYPES].join(" or "), entries, resource);
    }
    for (const [at, extractor] of extractors.entries()) {
      if (referredTo(extractor.pluginRef, entries).role === "extractor") continue;
      refuseReference(extractor.pluginRef, [...path, "extractors", at], "an extractor", entries, resource);
    }
  }
}

function checkHandlers(entries: readonly Entry[], { report }: PickerResource): void {
  const [, second] = entries.filter(({ role }) => role === "profile handler");
  if (second !== undefined) report(second.path, { found: "a second profile handler", wanted: "one, or none" });
}

/**
 * Checks a mapping's keys: some are accepted, some are refused with a reason (unless their value is false), others are unknown.
 */
function checkParameters(
  { parameters, path }: Entry,
  accepted: readonly string[],
  refused: Readonly<Record<string, string>>,
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
      report(at, { found: `the unknown key ${quoted(key)}`, wanted, hint: didYouMean(key, known) }, "key");
    } else if (value !== false) {
      report(at, { found: describe(value), wanted: refused[key]! });
    }
  }
}
