import type { Definition } from "../../core/contract/plugin.ts";
import { isSectionModule } from "../../core/control/section-instances.ts";

// Defaults for what the config leaves out. Every name here is a built-in type.

/** Filters in front of every profile that is not `unguarded`: without them requests go to replicas that can't serve them. */
export const DEFAULT_FILTERS: readonly string[] = ["ready", "serves-model"];
/** Appended to a profile that lists no picker. */
export const DEFAULT_PICKER = "max-score";
/** Used if the config has neither a profile nor a scorer. */
export const DEFAULT_SCORERS: readonly (readonly [type: string, weight: number])[] = [["outstanding-work", 1]];

/** The part of the config that makes instances of this type, where that is not `spec.plugins`; "" for most. */
export function configuredBy(definition: Definition): string {
  if (isSectionModule(definition)) return `spec.${definition.section.key}`;
  return CONFIGURED_ELSEWHERE.get(definition.type) ?? "";
}

const CONFIGURED_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["static", "spec.pool.endpoints"],
  ["keys", "spec.auth.keys"],
  ["model-rewrite", "documents of kind InferenceModelRewrite"],
]);
