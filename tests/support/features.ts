import type { RewriteStatus } from "../../core/admin/rewrite-status.ts";
import type { Status } from "../../core/admin/status.ts";
import type { RequestHooks } from "../../core/features/live-features.ts";
import type { MirrorStatus } from "../../core/features/mirror/mirror-status.ts";
import type { Mirroring } from "../../core/features/mirror/mirroring.ts";
import type { RolloutStatus } from "../../core/features/rollouts/rollout-shapes.ts";
import type { ShadowStatus } from "../../core/features/shadow/shadow-status.ts";
import type { Shadowing } from "../../core/features/shadow/shadowing.ts";

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

/** The feature that copies requests. */
export const mirroringOf = ({ copier }: Pick<RequestHooks, "copier">) => copier as Mirroring;

/** The feature that decides beside the profile. */
export const shadowingOf = ({ beside }: Pick<RequestHooks, "beside">) => beside as Shadowing;
