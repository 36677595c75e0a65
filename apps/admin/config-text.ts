import type { RewriteChange } from "../../config/rewrites/overlay.ts";
import type { RunningConfig } from "../../config/running/running-config.ts";
import type { Named, Profile } from "../../core/active-config.ts";
import { isoTime } from "./endpoint-status.ts";
import { shownChange } from "./shown-rewrite.ts";
import type { StatusSite } from "./site.ts";

/** Which config runs, and what the last attempt to change it did: lines for the page. */
export function configText({ running, sources, listen, router }: StatusSite): readonly string[] {
  const { generation, overlay, lastReload } = running;
  return [
    `Generation ${generation}, from ${sources.join(", ")}; listens on ${listen.host}:${listen.port}.`,
    profileText(router.config.profile),
    ...(lastReload === undefined ? ["It has not been changed since the start."] : reloadText(lastReload)),
    ...overlay.rewrites.map(overlayText),
  ];
}

function profileText({ name, filters, scorers, picker }: Profile): string {
  const names = (parts: readonly string[]) => parts.join(", ") || "none";
  const weighted = scorers.map((scorer) => `${scorer.name} × ${scorer.weight}`);
  return `Profile ${name}: filters ${names(filters.map(nameOf))}; scorers ${names(weighted)}; picker ${nameOf(picker)}.`;
}

const nameOf = ({ name }: Named<unknown>) => name;

function reloadText({ atMs, cause, isApplied, changes, problems }: NonNullable<RunningConfig["lastReload"]>): readonly string[] {
  const last = `Last change at ${isoTime(atMs)} by ${cause}`;
  if (!isApplied) return [`${last}: refused, so the config before runs on.`, ...problems.map((problem) => `Problem: ${problem}`)];
  return changes.length === 0 ? [`${last}: nothing was different.`] : [`${last}:`, ...changes];
}

function overlayText(change: RewriteChange): string {
  const { by, since, until } = shownChange(change);
  const what = change.document === undefined ? "deleted" : "changed";
  return `Beside the files: rewrite ${change.name} ${what} by ${by} at ${since}${until === null ? "" : `, until ${until}`}`;
}
