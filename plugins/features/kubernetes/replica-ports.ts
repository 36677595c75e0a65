import type { Clock } from "../../../core/contract/clock.ts";
import type { EndpointSpec } from "../../../core/contract/endpoint.ts";

/** A port of a pod, or of an address that is no pod. */
export interface ReplicaPort {
  /** The pod's uid, or what else tells it from others. */
  readonly owner: string;
  readonly port: number;
  /** What it would be called if it were new; it may be another one's name. */
  readonly spec: EndpointSpec;
  /** Its name where another port of the owner has the usual one. */
  readonly otherName: string;
  /** Left out of the list now, but no port that is gone. */
  readonly isInactive?: boolean;
}

interface Known {
  readonly name: string;
  readonly last: ReplicaPort;
  /** Since when the owner has had other ports in its place. */
  readonly leftAtMs?: number;
}

/** How long a port that is no longer listed stays in use while those in its place are not ready. */
const OVERLAP_MS = 300_000;

export interface ReplicaPortsOptions {
  readonly clock: Clock;
  /** Called with the whole list whenever it may have changed. */
  readonly found: (specs: readonly EndpointSpec[]) => void;
  /** Those of a search that ends, where this one goes on. */
  readonly portsBefore?: ReplicaPorts | undefined;
}

/**
 * Which replica is which over changes of ports. A replica is its pod and its port: it keeps the name that it had first, since to the
 * router another name is another replica. A port that is gone stays until the owner's other ports are ready, or for five minutes.
 */
export class ReplicaPorts {
  readonly #options: ReplicaPortsOptions;
  #owners: ReadonlyMap<string, ReadonlyMap<number, Known>>;
  #cancel = () => {};

  constructor(options: ReplicaPortsOptions) {
    this.#options = options;
    const { portsBefore } = options;
    this.#owners = portsBefore === undefined ? new Map() : portsBefore.#owners;
  }

  /** These are all ports now. */
  tell(ports: readonly ReplicaPort[]): void {
    const { clock, found } = this.#options;
    const nowMs = clock.now();
    const owners = new Map<string, ReadonlyMap<number, Known>>();
    for (const [owner, own] of byOwner(ports)) owners.set(owner, named(own, this.#owners.get(owner) ?? new Map(), nowMs));
    this.#owners = owners;
    this.#cancel();
    let firstMs = Number.POSITIVE_INFINITY;
    for (const known of owners.values())
      for (const { leftAtMs = firstMs } of known.values()) firstMs = Math.min(firstMs, leftAtMs);
    if (firstMs <= nowMs) this.#cancel = clock.after(firstMs + OVERLAP_MS - nowMs, () => this.tell(ports));
    found([...owners.values()].flatMap(specsOf));
  }

  stop(): void {
    this.#cancel();
  }
}

/** The ports of one owner: those listed now, then those that stay on. */
function named(listed: readonly ReplicaPort[], before: ReadonlyMap<number, Known>, nowMs: number): ReadonlyMap<number, Known> {
  const after = new Map<number, Known>();
  const names = new Set([...before.values()].map(({ name }) => name));
  for (const last of listed) {
    const { name: usual } = last.spec;
    const name = before.get(last.port)?.name ?? (names.has(usual) ? last.otherName : usual);
    names.add(name);
    after.set(last.port, { name, last });
  }
  for (const [port, { name, last, leftAtMs = nowMs }] of before) {
    if (!after.has(port) && nowMs - leftAtMs < OVERLAP_MS) after.set(port, { name, last, leftAtMs });
  }
  return after;
}

function byOwner(ports: readonly ReplicaPort[]): ReadonlyMap<string, readonly ReplicaPort[]> {
  const owners = new Map<string, ReplicaPort[]>();
  for (const each of ports) {
    const own = owners.get(each.owner);
    if (own === undefined) owners.set(each.owner, [each]);
    else own.push(each);
  }
  return owners;
}

function specsOf(ports: ReadonlyMap<number, Known>): readonly EndpointSpec[] {
  const inUse = [...ports.values()].filter(({ last }) => last.isInactive !== true);
  const [listed, left] = [
    inUse.filter(({ leftAtMs }) => leftAtMs === undefined),
    inUse.filter(({ leftAtMs }) => leftAtMs !== undefined),
  ];
  const [first] = listed;
  if (first === undefined) return [];
  // What is known of the pod is known of all its ports.
  const { labels, reported } = first.last.spec;
  const replacedBy = listed.map(({ name }) => name);
  return [
    ...listed.map(({ name, last }) => ({ ...last.spec, name })),
    ...left.map(({ name, last }) => ({ ...last.spec, name, labels, reported, replacedBy })),
  ];
}
