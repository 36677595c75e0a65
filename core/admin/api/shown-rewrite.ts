import { placeText } from "../../../config/read/problems.ts";
import type { RewriteChange } from "../../../config/rewrites/overlay.ts";
import { nameInRules } from "../../../config/rewrites/read.ts";
import type { RewriteResource } from "../../../config/rewrites/resources.ts";
import type { ShownRouter } from "../router-view.ts";

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
