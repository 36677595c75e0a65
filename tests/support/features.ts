import type { RewriteStatus } from "../../apps/admin/rewrite-status.ts";
import type { Status } from "../../apps/admin/status.ts";
import type { Router } from "../../core/router.ts";
import type { MirrorStatus } from "../../plugins/features/mirror/mirror-status.ts";
import type { RolloutStatus } from "../../plugins/features/rollouts/rollout-shapes.ts";
import type { ShadowStatus } from "../../plugins/features/shadow/shadow-status.ts";
import type { SharedStatus } from "../../plugins/features/shared/shared-status.ts";

/** A rule with what the features add to it. */
interface WholeRule extends RewriteStatus {
  readonly targets: (RewriteStatus["targets"][number] & RolloutStatus)[];
  readonly mirrors: readonly MirrorStatus[];
}

/** The status with what the features add to it. */
export interface WholeStatus extends Status {
  readonly rewrites: WholeRule[];
  readonly shadow: ShadowStatus | null;
}

/** What becomes of the copies for each mirror. */
export const mirrorsOf = ({ config, features }: Pick<Router, "config" | "features">): readonly MirrorStatus[] =>
  config.rewriters
    .flatMap(({ plugin }) => plugin.mappings ?? [])
    .flatMap(({ name }) => (features.status(name) as Pick<WholeRule, "mirrors">).mirrors);

/** What the profile that decides beside the router's own has decided. */
export const shadowOf = ({ features }: Pick<Router, "features">): ShadowStatus =>
  (features.status() as Pick<WholeStatus, "shadow">).shadow!;

/** What a router knows of others; null where it is alone. */
export const sharedStatusOf = ({ features }: Pick<Router, "features">): SharedStatus | null =>
  (features.status() as { readonly shared: SharedStatus | null }).shared;

/** Of how many stored things the router knows the replica. */
export const storedPlacesOf = ({ features }: Pick<Router, "features">): number =>
  (features.status() as { readonly stored: { readonly places: number } | null }).stored?.places ?? 0;
