import { didYouMean } from "../../../config/read/problems.ts";
import type { RewriteResource } from "../../../config/rewrites/resources.ts";
import { labelOf, type RewriteDocument } from "../../../config/rewrites/schema.ts";
import { Problem } from "../problem.ts";

/** New weights for targets of one rule. */
export interface Weights {
  /** Index of the rule; may be left out where there is one only. */
  readonly rule?: number | undefined;
  readonly targets: readonly { readonly modelRewrite: string; readonly weight: number }[];
}

/** The resource with these weights; targets that are not named keep theirs. Throws Problem for a target or rule that is not there. */
export function withWeights(document: RewriteDocument, { rule, targets }: Weights): RewriteDocument {
  const { rules } = document.spec;
  if (rule === undefined && rules.length !== 1)
    throw new Problem(
      400,
      "which_rule",
      `The resource has ${rules.length} rules; name one by its index, "rule": 0 for the first.`,
    );
  const index = rule ?? 0;
  const changed = rules[index];
  if (changed === undefined) throw new Problem(400, "unknown_rule", `The resource has no rule ${index}; it has ${rules.length}.`);
  const names = changed.targets.map(labelOf);
  for (const { modelRewrite } of targets) {
    if (names.includes(modelRewrite)) continue;
    const hint = didYouMean(modelRewrite, names) || `Its targets are ${names.join(", ")}; add one with PUT (apply).`;
    throw new Problem(400, "unknown_target", `The rule has no target of that name. ${hint}`);
  }
  const weights = new Map(targets.map(({ modelRewrite, weight }) => [modelRewrite, weight]));
  const weighted = changed.targets.map((target) => {
    const weight = weights.get(labelOf(target));
    return weight === undefined ? target : { ...target, weight };
  });
  const next = rules.map((each, at) => (at === index ? { ...each, targets: weighted } : each));
  return { ...document, spec: { ...document.spec, rules: next } };
}

/** The resource with this name. Throws Problem if there is none, or one in several namespaces. */
export function findResource(
  resources: readonly RewriteResource[],
  name: string,
  namespace: string | undefined,
): RewriteResource {
  const found = resources.filter((each) => each.name === name && (namespace === undefined || each.namespace === namespace));
  const [only] = found;
  if (only === undefined) {
    const hint = didYouMean(
      name,
      resources.map((each) => each.name),
    );
    throw new Problem(404, "unknown_rewrite", `There is no rewrite of this name.${hint === "" ? "" : ` ${hint}`}`);
  }
  if (found.length === 1) return only;
  const namespaces = found.map((each) => each.namespace).join(", ");
  throw new Problem(
    400,
    "which_namespace",
    `The namespaces ${namespaces} have a rewrite of this name; add ?namespace= with one.`,
  );
}
