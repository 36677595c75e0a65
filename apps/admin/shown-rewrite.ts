import type { SectionFeature } from "../../config/feature.ts";
import { placeText } from "../../config/read/problems.ts";
import type { RewriteChange } from "../../config/rewrites/overlay.ts";
import { nameInRules } from "../../config/rewrites/read.ts";
import type { RewriteResource } from "../../config/rewrites/resources.ts";
import { rewriteDocument } from "../../config/rewrites/schema.ts";
import { whole } from "../../config/schema/values.ts";
import { z } from "../../core/contract/options.ts";
import type { RunningFeatures } from "../../core/running-features.ts";

const change = z.object({
  by: z.string().describe("Whose token changed it, and from which address; or the guard that did."),
  reason: z.string().describe("Why, in a sentence; empty where a person changed it."),
  since: z.string().describe("ISO 8601, like `until`."),
  until: z.string().nullable().describe("When the files' resource applies again; null: when the change is dropped."),
});

/** Of a rewrite as the API shows it, with what these features know of its targets; and of what a change of one returns. */
export function rewriteSchemas(features: readonly SectionFeature[]) {
  const ofFeatures: Readonly<Record<never, z.ZodType>> = Object.assign({}, ...features.map(({ targetShape }) => targetShape));
  const rule = z.object({ name: z.string(), targets: z.array(z.object({ name: z.string(), ...ofFeatures })) });
  const rewrite = z.object({
    name: z.string(),
    namespace: z.string(),
    origin: z.string().describe("file:line:column, or admin API."),
    change: change.nullable().describe("Set if it is not what the files say: it was changed through the admin API."),
    document: rewriteDocument,
    rules: z.array(rule).describe("What became of the requests of each rule."),
  });
  const changed = z.object({
    rewrite: rewrite.nullable().describe("As it runs now; null if it runs no more."),
    written: z.string().nullable().describe("The file that the change was written to."),
  });
  return { rewrite, changed };
}

export type RewriteSchemas = ReturnType<typeof rewriteSchemas>;

export const deletedSchema = z.object({ name: z.string(), namespace: z.string(), change });

/** New weights for targets of one rule. */
export const weightsSchema = z.strictObject({
  rule: whole(0, 1_000_000).describe("Index of the rule; may be left out where there is one only.").optional(),
  targets: z
    .array(z.strictObject({ modelRewrite: z.string().min(1), weight: whole(0, 1_000_000) }))
    .min(1)
    .describe("Targets that are not named keep their weights."),
});

/** A rewrite, one of `all`, as the API shows it. */
export function shown(resource: RewriteResource, all: readonly RewriteResource[], features: RunningFeatures) {
  const { name, namespace, position, change, document } = resource;
  const origin = (change === undefined ? placeText(position) : undefined) ?? "admin API";
  const rules = document.spec.rules.map(({ targets }, index) => {
    const rule = `${nameInRules(resource, all)}/${index}`;
    return {
      name: rule,
      targets: targets.map(({ modelRewrite: target }) => ({ name: target, ...features.status(rule, target) })),
    };
  });
  return { name, namespace, origin, change: change === undefined ? null : shownChange(change), document, rules };
}

/** Who changed it, why, when, and until when. */
export function shownChange({ by, reason = "", sinceMs, untilMs }: RewriteChange) {
  const until = untilMs === undefined ? null : new Date(untilMs).toISOString();
  return { by, reason, since: new Date(sinceMs).toISOString(), until };
}
