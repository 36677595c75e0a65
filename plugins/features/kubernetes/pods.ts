import type { KubernetesObject } from "../../../apps/kubernetes/objects.ts";
import { isMapping } from "../../../config/read/problems.ts";
import type { Reported } from "../../../core/contract/endpoint.ts";
import { stringsOf, urlOf } from "./read-fields.ts";
import type { RolePorts } from "./replica-choice.ts";
import type { ReplicaPort } from "./replica-ports.ts";

/** What of a pod makes endpoints. */
export interface Pod {
  readonly name: string;
  /** Another pod of the same name has another one. */
  readonly uid: string;
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly reported: Reported;
  /** The ports that it says it uses now; undefined for all. */
  readonly activePorts: ReadonlySet<number> | undefined;
}

const ROLE_LABEL = "llm-d.ai/role";
const ACTIVE_PORTS_ANNOTATION = "llm-d.ai/active-ports";
const ENDED: ReadonlySet<unknown> = new Set(["Succeeded", "Failed"]);
const DEFAULT_PORTS = [8000];

/** Undefined for a pod that has no address yet, or has ended: it has no replica. */
export function readPod({ metadata, status }: KubernetesObject): Pod | undefined {
  const { name, uid, labels, annotations, deletionTimestamp } = metadata;
  if (!isMapping(status) || ENDED.has(status["phase"])) return undefined;
  const { podIP: address, conditions } = status;
  if (typeof address !== "string" || !/^[0-9a-fA-F:.]+$/.test(address)) return undefined;
  const isLeaving = deletionTimestamp !== undefined && deletionTimestamp !== null;
  return {
    name,
    uid: typeof uid === "string" ? uid : name,
    address,
    labels: stringsOf(labels),
    reported: isLeaving ? "leaving" : isReady(conditions) ? "ready" : "not-ready",
    activePorts: activePortsOf(stringsOf(annotations)[ACTIVE_PORTS_ANNOTATION]),
  };
}

/** The condition Ready has the pod's readiness gates in it, beside its containers' probes. */
function isReady(conditions: unknown): boolean {
  const all: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
  return all.some((condition) => isMapping(condition) && condition["type"] === "Ready" && condition["status"] === "True");
}

/** Undefined for an annotation that is no list of ports too: it must not take a replica out by a slip of the pen. */
function activePortsOf(text: string | undefined): ReadonlySet<number> | undefined {
  if (text === undefined || !/^\s*\d+\s*(,\s*\d+\s*)*$/.test(text)) return undefined;
  return new Set(text.split(",").map(Number));
}

/** The ports of pods, in the order of their names. `poolPorts` are those of the InferencePool; empty if there is none. */
export function portsOfPods(pods: Iterable<Pod>, ports: RolePorts, poolPorts: readonly number[]): readonly ReplicaPort[] {
  const standalone = ports.standalone ?? (poolPorts.length > 0 ? poolPorts : DEFAULT_PORTS);
  const inOrder = [...pods].sort((a, b) => (a.name < b.name ? -1 : 1));
  return inOrder.flatMap((pod) => {
    const { name, uid, address, labels, reported, activePorts } = pod;
    const own = portsOf(labels[ROLE_LABEL], ports) ?? standalone;
    return own.map((port, rank) => ({
      owner: uid,
      port,
      spec: { name: own.length === 1 ? name : `${name}-rank-${rank}`, url: urlOf(address, port), labels, reported },
      otherName: `${name}-port-${port}`,
      isInactive: activePorts !== undefined && !activePorts.has(port),
    }));
  });
}

function portsOf(role: string | undefined, { prefill, decode }: RolePorts): readonly number[] | undefined {
  return role === "prefill" ? prefill : role === "decode" ? decode : undefined;
}
