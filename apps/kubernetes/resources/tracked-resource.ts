import type { ConfigText } from "../../../config/read/files.ts";
import { isTooDeep, TOO_DEEP } from "../../../config/read/nesting.ts";
import { isMapping } from "../../../config/read/problems.ts";
import type { KubernetesObject } from "../objects.ts";
import type { Condition } from "./conditions.ts";
import { listPath, type ResourceKind, resourceName } from "./kinds.ts";
import type { Regarding } from "./rejection-event.ts";

/** A resource of the cluster as it is now. */
export interface TrackedResource {
  /** What the config is read from: without status and versions, so that it is the same while it says the same. */
  readonly text: ConfigText;
  readonly regarding: Regarding;
  readonly path: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly status: { readonly conditions?: readonly Condition[]; readonly [key: string]: unknown };
}

/** What `kubectl apply` notes for itself: as long as the resource, and it says nothing more. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

export function trackedResource(kind: ResourceKind, namespace: string, object: KubernetesObject): TrackedResource {
  const { metadata, spec, status } = object;
  const { name, uid, generation, creationTimestamp, annotations, resourceVersion = "" } = metadata;
  const own = isMapping(annotations) ? Object.entries(annotations).filter(([key]) => key !== LAST_APPLIED) : [];
  const hasAnnotations = own.length > 0 && !isTooDeep(annotations);
  const kept = { name, namespace, creationTimestamp, ...(hasAnnotations && { annotations: Object.fromEntries(own) }) };
  const { apiVersion } = kind;
  return {
    text: {
      file: resourceName(kind, namespace, name),
      text: "",
      resource: { apiVersion, kind: kind.kind, metadata: kept, spec: isTooDeep(spec) ? TOO_DEEP : spec },
    },
    regarding: { apiVersion, kind: kind.kind, namespace, name, uid: String(uid ?? "") },
    path: `${listPath(kind, namespace)}/${name}`,
    resourceVersion,
    generation: Number(generation ?? 0),
    status: isMapping(status) ? { ...status, conditions: conditionsIn(status["conditions"]) } : {},
  };
}

/** Those that are conditions: a loose CustomResourceDefinition lets anything be there. */
function conditionsIn(value: unknown): readonly Condition[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : [];
  return all.filter((each): each is Condition => isMapping(each) && typeof each["type"] === "string");
}
