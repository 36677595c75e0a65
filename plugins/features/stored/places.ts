import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { KeptObject } from "../../../core/contract/request.ts";

/** What a place counts for beside its texts: its objects, and its lines in the tables. */
const PLACE_BYTES = 256;

/** Who keeps something. */
export interface Place {
  readonly endpoint: string;
  /** Another replica may get the same name later. */
  readonly href: string;
  /** Two replicas gave out the same id, so it is not known which one is meant. */
  readonly isDoubled: boolean;
  usedAtMs: number;
}

interface Tenant {
  /** Those that were used last come last. */
  readonly places: Map<string, Place>;
  bytes: number;
}

/** Which replica keeps what, by who made it. When it is full, the tenant with the most loses what it has not used for longest. */
export class Places {
  size = 0;
  bytes = 0;
  readonly forgotten = { expired: 0, pushedOut: 0 };
  readonly #tenants = new Map<string, Tenant>();
  /** How many tenants have something of that id. */
  readonly #owners = new Map<string, number>();

  find(tenant: string, named: KeptObject, nowMs: number): Place | undefined {
    const places = this.#tenants.get(tenant)?.places;
    const key = keyOf(named);
    const place = places?.get(key);
    if (place === undefined) return undefined;
    place.usedAtMs = nowMs;
    places!.delete(key);
    places!.set(key, place);
    return place;
  }

  /** As `find`, but nobody uses it. */
  look(tenant: string, named: KeptObject): Place | undefined {
    return this.#tenants.get(tenant)?.places.get(keyOf(named));
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
    this.#add(tenant, key, { endpoint, href: url.href, isDoubled, usedAtMs });
  }

  forget(tenant: string, named: KeptObject): void {
    this.#drop(tenant, keyOf(named));
  }

  /** Forgets what nobody has used since then. */
  expire(sinceMs: number): void {
    for (const [tenant, { places }] of this.#tenants) {
      for (const [key, { usedAtMs }] of places) {
        if (usedAtMs > sinceMs) break;
        this.#drop(tenant, key);
        this.forgotten.expired += 1;
      }
    }
  }

  shrink(mostBytes: number): void {
    while (this.bytes > mostBytes) {
      const [tenant, { places }] = this.#largest();
      for (const key of places.keys()) {
        this.#drop(tenant, key);
        this.forgotten.pushedOut += 1;
        break;
      }
    }
  }

  #add(tenant: string, key: string, place: Place): void {
    const owner = this.#tenants.get(tenant) ?? { places: new Map<string, Place>(), bytes: 0 };
    this.#tenants.set(tenant, owner);
    owner.places.set(key, place);
    this.#owners.set(key, (this.#owners.get(key) ?? 0) + 1);
    this.#count(owner, 1, bytesOf(key, place));
  }

  #drop(tenant: string, key: string): void {
    const owner = this.#tenants.get(tenant);
    const place = owner?.places.get(key);
    if (owner === undefined || place === undefined) return;
    owner.places.delete(key);
    const others = this.#owners.get(key)! - 1;
    if (others > 0) this.#owners.set(key, others);
    else this.#owners.delete(key);
    this.#count(owner, -1, -bytesOf(key, place));
    if (owner.places.size === 0) this.#tenants.delete(tenant);
  }

  #count(owner: Tenant, places: number, bytes: number): void {
    owner.bytes += bytes;
    this.bytes += bytes;
    this.size += places;
  }

  #largest(): readonly [string, Tenant] {
    return [...this.#tenants].reduce((most, each) => (each[1].bytes > most[1].bytes ? each : most));
  }
}

/** No kind has a space. */
export const keyOf = ({ kind, id }: KeptObject) => `${kind} ${id}`;

const bytesOf = (key: string, { endpoint, href }: Place) => PLACE_BYTES + 2 * (key.length + endpoint.length + href.length);
