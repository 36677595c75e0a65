import { unknownPool, wrongFallback } from "../../../config/pools/check-pools.ts";
import { FALLBACK_KEY, fallbackSchema, type PoolsConfig, shownFallback } from "../../../config/pools/schema.ts";
import { named } from "../../../config/read/differences.ts";
import { quoted } from "../../../config/read/problems.ts";
import type { PlacedRule } from "../../../config/rewrites/read.ts";
import type { ConfigAround, Section } from "../../../config/section.ts";
import type { z } from "../../../core/contract/options.ts";
import type { PoolPlan } from "../../../core/router-config.ts";

type Written = z.infer<typeof fallbackSchema>;

/** `spec.fallback`, and the Pool documents. */
export const poolsSection = {
  key: FALLBACK_KEY,
  schema: fallbackSchema,
  read(written: Written, around): PoolsConfig {
    const { own, pools, router, rules, problems } = around;
    refuseShared(around);
    const names = [own.name, ...pools.map(({ name }) => name)];
    for (const [index, { pool }] of (written ?? []).entries()) {
      const finding = wrongFallback(pool, own.name, names);
      if (finding !== undefined) router.report(["spec", FALLBACK_KEY, index], finding);
    }
    // A pool that can't be read may be the one that a target names.
    if (problems.length === 0) for (const rule of rules) refuseUnknownPools(rule, names);
    return { own: written ?? [], hasOwnReplicas: own.hasReplicas, pools };
  },
  written: ({ own }) => (own.length === 0 ? undefined : own.map(shownFallback)),
  summary: ({ pools }) =>
    pools.length === 0 ? undefined : [`pools     ${pools.length} beside the router's own`, pools.map(poolText)],
  // What is different in the pools is told beside it.
  changes: (before, after) => named("fallback", { own: before.own }, { own: after.own }),
} satisfies Section<Written, PoolsConfig>;

/** Other routers would agree about a part of the replicas only. */
function refuseShared({ pools, router }: ConfigAround): void {
  const { spec } = router.document as { readonly spec: { readonly shared?: unknown } };
  if (pools.length === 0 || spec.shared === undefined) return;
  const wanted = "no spec.shared, or no Pool documents: routers that agree have one pool each";
  router.report(["spec", "shared"], { found: "spec.shared beside Pool documents", wanted });
}

function refuseUnknownPools({ rule, resource, index }: PlacedRule, names: readonly string[]): void {
  for (const [at, { pool }] of rule.targets.entries())
    if (pool !== undefined && !names.includes(pool))
      resource.report(["spec", "rules", index, "targets", at, "pool"], unknownPool(pool, names));
}

/** One line of `signalbox check`. */
function poolText({ name, models, headers, keys, fallback, plan }: PoolPlan): string {
  const { endpoints } = plan.config.pool;
  const claims = [
    ...(models.length === 0 ? [] : [`models ${models.join(", ")}`]),
    ...[...headers].map(([header, values]) => `${header}: ${values.join(" or ")}`),
    ...(keys.length === 0 ? [] : [`keys ${keys.join(", ")}`]),
  ];
  const who = claims.length === 0 ? "only what targets and fallbacks name" : claims.join("; ");
  const then = fallback.length === 0 ? "" : `; then ${fallback.map(({ pool }) => quoted(pool)).join(", ")}`;
  return `${name}  ${endpoints.length} endpoint${endpoints.length === 1 ? "" : "s"}  ${who}${then}`;
}
