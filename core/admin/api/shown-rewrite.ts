import { placeText } from "../../../config/read/problems.ts";
import type { RewriteChange } from "../../../config/rewrites/overlay.ts";
import { nameInRules } from "../../../config/rewrites/read.ts";
import type { RewriteResource } from "../../../config/rewrites/resources.ts";
import { rewriteDocument } from "../../../config/rewrites/schema.ts";
import { whole } from "../../../config/schema/values.ts";
import { z } from "../../contract/options.ts";
import { FEATURES } from "../../features/list.ts";
import type { ShownRouter } from "../router-view.ts";

const change = z.object({
  by: z.string().describe("Whose token changed it, and from which address; or the guard that did."),
  reason: z.string().describe("Why, in a sentence; empty where a person changed it."),
  since: z.string().describe("ISO 8601, like `until`."),
  until: z.string().nullable().describe("When the files' resource applies again; null: when the change is dropped."),
});

/** One rule of a rewrite, with what features know of its targets. */
const ruleSchema = z.object({
  name: z.string(),
  targets: z.array(z.object({ name: z.string(), ...Object.assign({}, ...FEATURES.map(({ targetShape }) => targetShape)) })),
});

/** A rewrite as the API shows it. */
export const rewriteSchema = z.object({
  name: z.string(),
  namespace: z.string(),
  origin: z.string().describe("file:line:column, or admin API."),
  change: change.nullable().describe("Set if it is not what the files say: it was changed through the admin API."),
  document: rewriteDocument,
  rules: z.array(ruleSchema).describe("What became of the requests of each rule."),
});

export const deletedSchema = z.object({ name: z.string(), namespace: z.string(), change });

/** What a change of a rewrite returns. */
export const changedRewriteSchema = z.object({
  rewrite: rewriteSchema.nullable().describe("As it runs now; null if it runs no more."),
  written: z.string().nullable().describe("The file that the change was written to."),
});

/** New weights for targets of one rule. */
export const weightsSchema = z.strictObject({
  rule: whole(0, 1_000_000).describe("Index of the rule; may be left out where there is one only.").optional(),
  targets: z
    .array(z.strictObject({ modelRewrite: z.string().min(1), weight: whole(0, 1_000_000) }))
    .min(1)
    .describe("Targets that are not named keep their weights."),
});

/** A rewrite, one of `all`, as the API shows it. */
export function shown(
  resource: RewriteResource,
  all: readonly RewriteResource[],
  features: Pick<ShownRouter["features"], "status">,
) {
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
