import type { KubernetesObject } from "../../../apps/kubernetes/objects.ts";
import { isMapping } from "../../../config/read/problems.ts";
import type { Reported } from "../../../core/contract/endpoint.ts";
import { endpointName } from "../../../core/contract/endpoint-url.ts";
import { urlOf } from "./read-fields.ts";
import type { ReplicaPort } from "./replica-ports.ts";

/** A part of a Service's endpoints. */
export interface Slice {
  readonly isIPv6: boolean;
  /** By name; a Service's only port may have none. */
  readonly ports: ReadonlyMap<string, number>;
  readonly members: readonly Member[];
}

interface Member {
  readonly address: string;
  /** The pod's name; undefined for an address that is no pod. */
  readonly pod: string | undefined;
  /** Another pod of the same name has another one. */
  readonly uid: string;
  readonly reported: Reported;
}

/** Undefined for a slice of names instead of addresses. */
export function readSlice({ addressType, ports, endpoints }: KubernetesObject): Slice | undefined {
  if (addressType !== "IPv4" && addressType !== "IPv6") return undefined;
  return {
    isIPv6: addressType === "IPv6",
    ports: new Map(mappingsIn(ports).flatMap(({ name, port }) => (typeof port === "number" ? [[String(name ?? ""), port]] : []))),
    members: mappingsIn(endpoints).flatMap(readMember),
  };
}

function readMember({ addresses, conditions, targetRef }: Readonly<Record<string, unknown>>): readonly Member[] {
  // The API promises nothing of further addresses.
  const address: unknown = Array.isArray(addresses) ? addresses[0] : undefined;
  if (typeof address !== "string") return [];
  const { ready, terminating } = isMapping(conditions) ? conditions : {};
  const { name: pod, uid = pod } = isMapping(targetRef) && targetRef["kind"] === "Pod" ? targetRef : {};
  return [
    {
      address,
      pod: typeof pod === "string" ? pod : undefined,
      uid: typeof uid === "string" ? uid : address,
      // Left out it means true.
      reported: terminating === true ? "leaving" : ready === false ? "not-ready" : "ready",
    },
  ];
}

function mappingsIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isMapping) : [];
}

/**
 * The ports of all slices together, in the order of their names. One that is in several, because it moves between them or has
 * addresses of both families, counts once. Throws an Error that names the ports if it is not clear which one is meant.
 */
export function portsOfSlices(slices: Iterable<Slice>, portName: string | undefined): readonly ReplicaPort[] {
  const found = new Map<string, ReplicaPort>();
  const inOrder = [...slices].sort((a, b) => Number(a.isIPv6) - Number(b.isIPv6));
  for (const { ports, members } of inOrder) {
    if (members.length === 0) continue;
    const port = portOf(ports, portName);
    for (const { address, pod, uid, reported } of members) {
      const name = pod ?? endpointName({ hostname: address.replaceAll(":", "-"), port, basePath: "" });
      const spec = { name, url: urlOf(address, port), labels: {}, reported };
      if (!found.has(name)) found.set(name, { owner: uid, port, spec, otherName: `${name}-port-${port}` });
    }
  }
  return [...found.values()].sort((a, b) => (a.spec.name < b.spec.name ? -1 : 1));
}

function portOf(ports: Slice["ports"], name: string | undefined): number {
  const [only, ...others] = ports.values();
  const port = name === undefined && others.length === 0 ? only : ports.get(name ?? "");
  if (port !== undefined) return port;
  const names = [...ports.keys()].filter(Boolean).join(", ") || "none";
  throw new Error(`The Service has the ports ${names}: name one of them in spec.kubernetes.servicePort.`);
}
