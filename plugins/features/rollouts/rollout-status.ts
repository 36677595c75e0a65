import type { GuardState, RolloutStatus } from "./rollout-shapes.ts";
import type { Rollouts } from "./rollouts.ts";

export function rolloutStatus(rollouts: Rollouts, rule: string, target: string): RolloutStatus {
  return { figures: rollouts.figuresOf(rule, target) ?? null, guard: rollouts.guardOf(rule, target) ?? null };
}

/** A guard that stopped its target, or could not. */
export function guardWarning(target: string, { state, text }: GuardState): readonly string[] {
  if (state === "stopped") return [`A guard stopped ${target}: ${text}`];
  return state === "blocked" ? [`A guard would stop ${target}. ${text}`] : [];
}

/** A sentence for a target that a guard holds at the weight 0 now, or would stop if it could. */
export function guardNote(rule: string, target: string, { state, text }: GuardState): readonly string[] {
  if (state === "stopped") return [`A guard of the rule ${rule} has stopped ${target}: ${text}`];
  return state === "blocked" ? [`A guard of the rule ${rule} would stop ${target}, but may not: ${text}`] : [];
}
