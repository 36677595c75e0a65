import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { LoadedConfig, RefusedConfig } from "../../../config/load.ts";
import { type Clock, systemClock } from "../../contract/clock.ts";
import type { Log } from "../../contract/log.ts";
import { kubernetesSection } from "../../features/kubernetes/kubernetes-config.ts";
import type { RolloutStatus } from "../../features/rollouts/rollout-shapes.ts";
import { KubernetesClient } from "../../kubernetes/client.ts";
import { findCredentials } from "../../kubernetes/credentials.ts";
import { ClusterResources } from "../../kubernetes/resources/cluster-resources.ts";
import type { TargetCount } from "../../kubernetes/resources/target-counts.ts";
import type { Router } from "../../router.ts";

/** How long the start waits for a cluster that gives a part of the config. */
const LONGEST_MS = 10_000;

/** What became of the requests to each target of the rewrites. */
export function targetCounts({ config, features }: Pick<Router, "config" | "features">): readonly TargetCount[] {
  return config.rewriters.flatMap(({ plugin }) =>
    (plugin.mappings ?? []).flatMap(({ name: rule, targets }) =>
      targets.map(({ name: target }) => {
        const { figures } = features.status(rule, target) as Partial<RolloutStatus>;
        return { rule, target, requests: figures?.requests ?? 0, errors: figures?.errors ?? 0 };
      }),
    ),
  );
}

/**
 * The resources of the cluster that a config names, watched; undefined if it names none. The config may be one that can't run
 * without them. Rejects with an Error that says what to change if there is no way to the cluster.
 */
export async function openCluster(
  loaded: LoadedConfig | RefusedConfig,
  clock: Clock,
  log: Log,
): Promise<ClusterResources | undefined> {
  const features = loaded.problems === undefined ? loaded.config.features : loaded.features;
  const wanted = features && kubernetesSection.of(features);
  if (wanted === undefined || !wanted.resources) return undefined;
  const credentials = findCredentials(wanted.credentials, { clock: systemClock, environment: process.env });
  const namespace = wanted.namespace ?? credentials.namespace;
  const cluster = new ClusterResources({
    client: new KubernetesClient(credentials, systemClock),
    namespace,
    router: wanted.router,
    identity: `${hostname()}_${randomBytes(4).toString("hex")}`,
    clock,
    random: Math.random,
    log,
  });
  cluster.start();
  if (!(await cluster.whenSynced(LONGEST_MS)))
    log.warn(
      "The Kubernetes API has not told its resources yet: the router starts without them, and takes them once they are known",
      {
        namespace,
      },
    );
  return cluster;
}
