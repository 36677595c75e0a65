import type { LoadedConfig } from "../../../config/load.ts";
import { formatProblem } from "../../../config/read/problems.ts";
import type { TargetMapping } from "../../contract/rewriter.ts";
import type { GuardState, RolloutView, TargetFigures } from "../../contract/rollout.ts";

/** What is known of a rule's target. */
export interface RolloutStatus {
  /** What became of its requests. */
  readonly figures: TargetFigures | null;
  /** Null without a guard. */
  readonly guard: GuardState | null;
}

export function rolloutStatus(rollouts: RolloutView, rule: string, target: string): RolloutStatus {
  return { figures: rollouts.figuresOf(rule, target) ?? null, guard: rollouts.guardOf(rule, target) ?? null };
}

interface Warned {
  readonly running: { readonly loaded: Pick<LoadedConfig, "warnings"> };
  readonly rewrites: readonly { readonly targets: readonly (RolloutStatus & { readonly name: string })[] }[];
}

/** Warnings: first of guards whose rule or target is missing, then of those that stopped their target, or could not. */
export function guardWarnings({ running, rewrites }: Warned): readonly string[] {
  const idle = running.loaded.warnings.filter(({ path }) => path.startsWith("spec.guards[")).map(formatProblem);
  return [...idle, ...rewrites.flatMap(({ targets }) => targets.flatMap(guardWarning))];
}

function guardWarning({ name, guard }: RolloutStatus & { readonly name: string }): readonly string[] {
  if (guard?.state === "stopped") return [`A guard stopped ${name}: ${guard.text}`];
  return guard?.state === "blocked" ? [`A guard would stop ${name}. ${guard.text}`] : [];
}

/** A sentence for each target of the rule that a guard holds at the weight 0 now, or would stop if it could. */
export function guardNotes(rule: string, mappings: readonly TargetMapping[], rollouts: RolloutView): readonly string[] {
  const targets = mappings.find(({ name }) => name === rule)?.targets ?? [];
  return targets.flatMap(({ name }) => {
    const guard = rollouts.guardOf(rule, name);
    if (guard?.state === "stopped") return [`A guard of the rule ${rule} has stopped ${name}: ${guard.text}`];
    return guard?.state === "blocked" ? [`A guard of the rule ${rule} would stop ${name}, but may not: ${guard.text}`] : [];
  });
}
