import type { TargetMapping } from "../../contract/rewriter.ts";
import type { RolloutView } from "../../contract/rollout.ts";

/** A sentence for each target of the rule that a guard holds at the weight 0 now, or would stop if it could. */
export function guardNotes(rule: string, mappings: readonly TargetMapping[], rollouts: RolloutView): readonly string[] {
  const targets = mappings.find(({ name }) => name === rule)?.targets ?? [];
  return targets.flatMap(({ name }) => {
    const guard = rollouts.guardOf(rule, name);
    if (guard?.state === "stopped") return [`A guard of the rule ${rule} has stopped ${name}: ${guard.text}`];
    return guard?.state === "blocked" ? [`A guard of the rule ${rule} would stop ${name}, but may not: ${guard.text}`] : [];
  });
}
