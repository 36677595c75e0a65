import { isServing } from "../contract/endpoint.ts";
import type { TargetMapping } from "../contract/rewriter.ts";
import type { RouterView } from "../contract/router-view.ts";
import { type MirrorStatus, mirrorsOf } from "../features/mirror/mirror-status.ts";
import { type RolloutStatus, rolloutStatus } from "../features/rollouts/rollout-status.ts";

export interface RewriteStatus extends TargetMapping {
  readonly targets: readonly TargetStatus[];
  /** Where copies of its requests go. */
  readonly mirrors: readonly MirrorStatus[];
}

interface TargetStatus extends RolloutStatus {
  readonly name: string;
  readonly weight: number;
  /** Share of the rule's requests, in [0, 1]. */
  readonly share: number;
  /** Number of ready endpoints that serve it. */
  readonly readyEndpoints: number;
}

export function rewriteStatus(mapping: TargetMapping, { pool, features }: RouterView): RewriteStatus {
  const available = pool.endpoints.filter(isServing);
  const sum = mapping.targets.reduce((total, { weight }) => total + weight, 0);
  const targets = mapping.targets.map(({ name, weight }) => ({
    name,
    weight,
    share: sum === 0 ? 0 : weight / sum,
    readyEndpoints: available.filter(({ models }) => models.has(name)).length,
    ...rolloutStatus(features.rollouts, mapping.name, name),
  }));
  return { ...mapping, targets, mirrors: mirrorsOf(features, mapping.name) };
}
