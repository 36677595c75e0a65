import type { RewriteChange } from "../../../config/overlay.ts";
import { placeText } from "../../../config/problems.ts";
import type { RewriteResource } from "../../../config/rewrite-resources.ts";

/** A rewrite as the API shows it. */
export function shown({ name, namespace, position, change, document }: RewriteResource) {
  const origin = (change === undefined ? placeText(position) : undefined) ?? "admin API";
  return { name, namespace, origin, change: change === undefined ? null : shownChange(change), document };
}

/** Who changed it, when, and until when. */
export function shownChange({ by, sinceMs, untilMs }: RewriteChange) {
  const until = untilMs === undefined ? null : new Date(untilMs).toISOString();
  return { by, since: new Date(sinceMs).toISOString(), until };
}
