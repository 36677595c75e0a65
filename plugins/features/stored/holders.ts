import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { KeptObject } from "../../../core/contract/request.ts";

/** What a holder counts for beside its texts: its objects, and its lines in the tables. */
const HOLDER_BYTES = 256;

/** Who keeps something. */
export interface Holder {
  readonly endpoint: string;
  /** Another replica may get the same name later. */
  readonly href: string;
  /** The same id was given out twice, by two replicas or to two tenants, so it is not known which object is meant, and whose it is. */
  isDoubled: boolean;
  usedAtMs: number;
}

interface Tenant {
  /** Those that were used last come last. */
  readonly holders: Map<string, Holder>;
  bytes: number;
}

/** Which replica keeps what, by who made it. When it is full, the tenant with the most loses what it has not used for longest. */
export class Holders {
  size = 0;
  bytes = 0;
  readonly forgotten = { expired: 0, pushedOut: 0 };
  readonly #tenants = new Map<string, Tenant>();
  /** How many tenants have something of that id. */
  readonly #owners = new Map<string, number>();

  find(tenant: string, named: KeptObject, nowMs: number): Holder | undefined {
    const holders = this.#tenants.get(tenant)?.holders;
    const key = keyOf(named);
    const holder = holders?.get(key);
    if (holder === undefined) return undefined;
    holder.usedAtMs = nowMs;
    holders!.delete(key);
    holders!.set(key, holder);
    return holder;
  }

  /** As `find`, but nobody uses it. */
  look(tenant: string, named: KeptObject): Holder | undefined {
    return this.#tenants.get(tenant)?.holders.get(keyOf(named));
  }

  /** Whether any tenant has it. */
  isKnown(named: KeptObject): boolean {
    return this.#owners.has(keyOf(named));
  }

  /** `isNew`: the replica has just made it, so another one that has the same id has something else. */
  learn(tenant: string, named: KeptObject, endpoint: Endpoint, isNew: boolean, nowMs: number): void {
    const known = this.look(tenant, named);
    const isDoubled = isNew && known !== undefined && (known.isDoubled || known.endpoint !== endpoint.name);
    this.put(tenant, named, endpoint, isDoubled, nowMs);
  }

  put(tenant: string, named: KeptObject, { name: endpoint, url }: Endpoint, isDoubled: boolean, usedAtMs: number): void {
    const key = keyOf(named);
    this.#drop(tenant, key);
    const isOfTwo = this.#owners.has(key);
    if (isOfTwo) this.#doubleAll(key);
    this.#add(tenant, key, { endpoint, href: url.href, isDoubled: isDoubled || isOfTwo, usedAtMs });
  }

  forget(tenant: string, named: KeptObject): void {
    this.#drop(tenant, keyOf(named));
  }

  /** Forgets what nobody has used since then. */
  expire(sinceMs: number): void {
    for (const [tenant, { holders }] of this.#tenants) {
      for (const [key, { usedAtMs }] of holders) {
        if (usedAtMs > sinceMs) break;
        this.#drop(tenant, key);
        this.forgotten.expired += 1;
      }
    }
  }

  shrink(mostBytes: number): void {
    while (this.bytes > mostBytes) {
      const [tenant, { holders }] = this.#largest();
      for (const key of holders.keys()) {
        this.#drop(tenant, key);
        this.forgotten.pushedOut += 1;
        break;
      }
    }
  }

  #add(tenant: string, key: string, holder: Holder): void {
    const owner = this.#tenants.get(tenant) ?? { holders: new Map<string, Holder>(), bytes: 0 };
    this.#tenants.set(tenant, owner);
    owner.holders.set(key, holder);
    this.#owners.set(key, (this.#owners.get(key) ?? 0) + 1);
    this.#count(owner, 1, bytesOf(key, holder));
  }

  /** Another tenant has made something of that id: it is nobody's any more. */
  #doubleAll(key: string): void {
    for (const { holders } of this.#tenants.values()) {
      const holder = holders.get(key);
      if (holder !== undefined) holder.isDoubled = true;
    }
  }

  #drop(tenant: string, key: string): void {
    const owner = this.#tenants.get(tenant);
    const holder = owner?.holders.get(key);
    if (owner === undefined || holder === undefined) return;
    owner.holders.delete(key);
    const others = this.#owners.get(key)! - 1;
    if (others > 0) this.#owners.set(key, others);
    else this.#owners.delete(key);
    this.#count(owner, -1, -bytesOf(key, holder));
    if (owner.holders.size === 0) this.#tenants.delete(tenant);
  }

  #count(owner: Tenant, holders: number, bytes: number): void {
    owner.bytes += bytes;
    this.bytes += bytes;
    this.size += holders;
  }

  #largest(): readonly [string, Tenant] {
    return [...this.#tenants].reduce((most, each) => (each[1].bytes > most[1].bytes ? each : most));
  }
}

/** No kind has a space. */
export const keyOf = ({ kind, id }: KeptObject) => `${kind} ${id}`;

const bytesOf = (key: string, { endpoint, href }: Holder) => HOLDER_BYTES + 2 * (key.length + endpoint.length + href.length);
