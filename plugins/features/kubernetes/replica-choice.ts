/** The ports that replicas listen on, by the role that their pods are labelled with. */
export interface RolePorts {
  readonly prefill: readonly number[];
  readonly decode: readonly number[];
  /** Of every other pod; undefined for those of the InferencePool. */
  readonly standalone: readonly number[] | undefined;
}

/** Which replicas make the pool. */
export type ReplicaChoice =
  | { readonly by: "inferencePool"; readonly name: string; readonly ports: RolePorts }
  | { readonly by: "selector"; readonly labels: Readonly<Record<string, string>>; readonly ports: RolePorts }
  | { readonly by: "service"; readonly name: string; readonly port: string | undefined };

/** In words, such as "the InferencePool vllm". */
export function shownReplicas(replicas: ReplicaChoice): string {
  if (replicas.by === "selector") {
    const labels = Object.entries(replicas.labels).map(([key, value]) => `${key}=${value}`);
    return `the pods with ${labels.join(",")}`;
  }
  return `the ${replicas.by === "service" ? "Service" : "InferencePool"} ${replicas.name}`;
}
