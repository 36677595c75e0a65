import type { RewriteChange } from "../../config/rewrites/overlay.ts";
import type { ReloadReport } from "../control/running-config.ts";
import { shownChange } from "./api/shown-rewrite.ts";
import { isoTime } from "./endpoint-status.ts";
import type { ShownConfig } from "./router-view.ts";

/** A rewrite that runs otherwise than the files say, because it was changed through the admin API. */
interface OverlayStatus {
  readonly rewrite: string;
  readonly isDeleted: boolean;
  /** The address of whoever changed it, or the guard that did. */
  readonly by: string;
  /** Why, in a sentence; "" where a person changed it. */
  readonly reason: string;
  /** ISO 8601, like `until`, which is null if the change does not end by itself. */
  readonly since: string;
  readonly until: string | null;
}

export interface ConfigStatus {
  /** 1 at the start, and one more with each config that took effect since. */
  readonly generation: number;
  readonly overlay: readonly OverlayStatus[];
  /** The last attempt to change the config; null before the first. */
  readonly lastReload: (Omit<ReloadReport, "atMs" | "generation"> & { readonly at: string }) | null;
}

export function configStatus({ generation, overlay, lastReload }: ShownConfig): ConfigStatus {
  const shown = { generation, overlay: overlay.rewrites.map(overlayStatus) };
  if (lastReload === undefined) return { ...shown, lastReload: null };
  const { atMs, cause, isApplied, problems, changes } = lastReload;
  return { ...shown, lastReload: { at: isoTime(atMs), cause, isApplied, problems, changes } };
}

function overlayStatus(change: RewriteChange): OverlayStatus {
  return { rewrite: change.name, isDeleted: change.document === undefined, ...shownChange(change) };
}
