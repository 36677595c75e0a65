import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { sectionFeatures } from "../../../config/feature.ts";
import type { LoadedConfig, RefusedConfig } from "../../../config/load.ts";
import type { Registry } from "../../../config/plugins/instances.ts";
import { type Clock, systemClock } from "../../../core/contract/clock.ts";
import { isServing } from "../../../core/contract/endpoint.ts";
import type { Log } from "../../../core/contract/log.ts";
import type { Router } from "../../../core/router.ts";
import { KubernetesClient } from "../../kubernetes/client.ts";
import { findCredentials } from "../../kubernetes/credentials.ts";
import { ClusterResources } from "../../kubernetes/resources/cluster-resources.ts";
import type { TargetCount } from "../../kubernetes/resources/target-counts.ts";

/** How long the start waits for a cluster that gives a part of the config. */
const LONGEST_MS = 10_000;

/** What a feature that counts by target, if there is one, says of a target. */
interface Counted {
  readonly figures?: { readonly requests: number; readonly errors: number } | null;
}

/** What became of the requests to each target of the rewrites. */
export function targetCounts({ config, features }: Router): readonly TargetCount[] {
  return config.rewriters.flatMap(({ plugin }) =>
    (plugin.mappings ?? []).flatMap(({ name: rule, targets }) =>
      targets.map(({ name: target }) => {
        const { figures } = features.status(rule, target) as Counted;
        return { rule, target, requests: figures?.requests ?? 0, errors: figures?.errors ?? 0 };
      }),
    ),
  );
}

/** Whether a replica lists it, or has served it since; undefined while one is still to say what it has. */
export function hasTarget({ pool }: Router, name: string): boolean | undefined {
  const { endpoints } = pool.facts;
  const nowMs = systemClock.now();
  const isThere = endpoints.some(
    ({ models, slot }) => models.has(name) || pool.load.unlisted.at(slot, name, nowMs)?.standing === "served",
  );
  if (isThere) return true;
  const isKnown = endpoints.some(isServing) && !endpoints.some(({ phase }) => phase === "starting");
  return isKnown ? false : undefined;
}

/** Whether a config follows resources of a cluster. */
export function hasClusterParts(loaded: LoadedConfig | RefusedConfig, registry: Registry): boolean {
  return clusterParts(loaded, registry).length > 0;
}

function clusterParts(loaded: LoadedConfig | RefusedConfig, registry: Registry) {
  const features = loaded.problems === undefined ? loaded.config.features : loaded.features;
  return sectionFeatures(registry).flatMap(({ section: { key, cluster } }) => cluster?.(features?.get(key)) ?? []);
}

/**
 * The resources of the cluster that a config names, watched; undefined if it names none. The config may be one that can't run
 * without them. Rejects with an Error that says what to change if there is no way to the cluster.
 */
export async function openCluster(
  loaded: LoadedConfig | RefusedConfig,
  registry: Registry,
  clock: Clock,
  log: Log,
): Promise<ClusterResources | undefined> {
  const [wanted] = clusterParts(loaded, registry);
  if (wanted === undefined) return undefined;
  const credentials = findCredentials(wanted.credentials, { clock: systemClock, environment: process.env });
  const namespace = wanted.namespace ?? credentials.namespace;
  const cluster = new ClusterResources({
    client: new KubernetesClient(credentials, systemClock, Math.random),
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
