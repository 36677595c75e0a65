/** A kind of resource that the router follows. */
export interface ResourceKind {
  readonly kind: string;
  readonly apiVersion: string;
  readonly plural: string;
  /** Put behind the kind in names; "" for the group that is meant where none is named. */
  readonly suffix: string;
}

const OLDER = "inference.networking.x-k8s.io/v1alpha2";

export const ROUTERS: ResourceKind = { kind: "Router", apiVersion: "signalbox.dev/v1", plural: "routers", suffix: "" };

/** About a pool, each in its group and in the one that it had before. */
export const POOL_KINDS: readonly ResourceKind[] = [
  ["InferenceModelRewrite", "inferencemodelrewrites"] as const,
  ["InferenceObjective", "inferenceobjectives"] as const,
].flatMap(([kind, plural]) => [
  { kind, plural, apiVersion: "llm-d.ai/v1alpha2", suffix: "" },
  { kind, plural, apiVersion: OLDER, suffix: `.${OLDER.split("/")[0]}` },
]);

/** Of the kind's resources in a namespace. */
export function listPath({ apiVersion, plural }: ResourceKind, namespace: string): string {
  return `/apis/${apiVersion}/namespaces/${namespace}/${plural}`;
}

/** Such as "InferenceModelRewrite llm/food-review". */
export function resourceName({ kind, suffix }: ResourceKind, namespace: string, name: string): string {
  return `${kind}${suffix} ${namespace}/${name}`;
}
