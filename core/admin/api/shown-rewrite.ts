import type { RewriteChange } from "../../../config/overlay.ts";
import { placeText } from "../../../config/problems.ts";
import type { RewriteResource } from "../../../config/rewrite-resources.ts";
import { nameInRules } from "../../../config/rewrites.ts";
import type { RolloutView } from "../../contract/rollout.ts";

/** A rewrite, one of `all`, as the API shows it. */
export function shown(resource: RewriteResource, all: readonly RewriteResource[], rollouts: RolloutView) {
  const { name, namespace, position, change, document } = resource;
  const origin = (change === undefined ? placeText(position) : undefined) ?? "admin API";
  const rules = document.spec.rules.map(({ targets }, index) => {
    const rule = `${nameInRules(resource, all)}/${index}`;
    return { name: rule, targets: targets.map(({ modelRewrite }) => shownTarget(rule, modelRewrite, rollouts)) };
  });
  return { name, namespace, origin, change: change === undefined ? null : shownChange(change), document, rules };
}

function shownTarget(rule: string, name: string, rollouts: RolloutView) {
  return { name, figures: rollouts.figuresOf(rule, name) ?? null, guard: rollouts.guardOf(rule, name) ?? null };
}

/** Who changed it, why, when, and until when. */
export function shownChange({ by, reason = "", sinceMs, untilMs }: RewriteChange) {
  const until = untilMs === undefined ? null : new Date(untilMs).toISOString();
  return { by, reason, since: new Date(sinceMs).toISOString(), until };
}
