import type { KubernetesApi } from "../../../apps/kubernetes/client.ts";
import { KubernetesError } from "../../../apps/kubernetes/kubernetes-error.ts";
import type { KubernetesObject } from "../../../apps/kubernetes/objects.ts";
import { isMapping } from "../../../config/read/problems.ts";
import { stringsOf } from "./read-fields.ts";

/** Which pods an InferencePool is made of, and where they serve. */
export interface InferencePool {
  readonly labels: Readonly<Record<string, string>>;
  readonly ports: readonly number[];
}

/** Newest first. The older one has its labels and its port one level higher. */
const APIS = ["/apis/inference.networking.k8s.io/v1", "/apis/inference.networking.x-k8s.io/v1alpha2"] as const;

/** The path of the list that has this pool. Rejects with a KubernetesError, with status 404 if no API of the cluster has it. */
export async function findPoolList(client: KubernetesApi, namespace: string, name: string, signal: AbortSignal): Promise<string> {
  for (const api of APIS) {
    const list = `${api}/namespaces/${namespace}/inferencepools`;
    try {
      await client.request("GET", `${list}/${name}`, { signal });
      return list;
    } catch (thrown) {
      if (!(thrown instanceof KubernetesError) || thrown.status !== 404) throw thrown;
    }
  }
  throw new KubernetesError(404, "NotFound", `There is no InferencePool ${name} in the namespace ${namespace}: create it.`);
}

/** Undefined for one that selects nothing. */
export function readInferencePool({ spec }: KubernetesObject): InferencePool | undefined {
  if (!isMapping(spec)) return undefined;
  const { selector, targetPorts, targetPortNumber } = spec;
  const labels = stringsOf(isMapping(selector) && "matchLabels" in selector ? selector["matchLabels"] : selector);
  // All pods of a namespace are never meant.
  if (Object.keys(labels).length === 0) return undefined;
  const entries: readonly unknown[] = Array.isArray(targetPorts) ? targetPorts : [{ number: targetPortNumber }];
  const numbers = entries.map((entry) => (isMapping(entry) ? entry["number"] : undefined));
  return { labels, ports: numbers.filter((port) => typeof port === "number") };
}

/** As the API has label selectors. */
export function selectorText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}
