import type { Clock } from "../../../core/contract/clock.ts";
import type { Span } from "../../../core/contract/span.ts";
import type { ConversationSettings } from "./conversations-config.ts";
import { HeldItems } from "./held-items.ts";
import { Turn, TurnList } from "./turn.ts";

/** What a request under way counts for beside its items. */
const OPEN_BYTES = 512;
/** It is looked so often in the time that a turn may be unused. */
const SWEEPS = 16;
const LEAST_SWEEP_MS = 1_000;

/** The turns of one tenant. */
interface TenantTurns {
  readonly name: string;
  readonly byId: Map<string, Turn>;
  readonly items: HeldItems;
  /** Those that may be forgotten now. A turn stands behind all that continue it, so it is never forgotten before them. */
  readonly unpinned: TurnList;
  bytes: number;
}

/** Items of a request or a response: their bytes, and where in them those are that have an id. */
export interface ItemList {
  readonly items: Uint8Array;
  readonly ids: ReadonlyMap<string, Span>;
}

/** A turn whose response is under way. Its bytes count already, and the turns before it stay. */
export interface OpenTurn {
  readonly tenant: TenantTurns;
  readonly parent: Turn | undefined;
  /** Of the request. */
  readonly own: ItemList;
  readonly textBytes: number;
  bytes: number;
  isOver: boolean;
}

/**
 * Holds turns by tenant and id. Bounded by bytes: beyond a tenant's bound the tenant loses the turn that was unused longest, beyond the
 * bound of all the tenant that has the most does. So nobody's turns are pushed out by a smaller tenant.
 */
export class TurnStore {
  readonly forgotten = { expired: 0, pushedOut: 0 };
  bytes = 0;
  turns = 0;
  readonly #clock: Clock;
  readonly #tenants = new Map<string, TenantTurns>();
  #settings: ConversationSettings | undefined;
  #stopSweeping: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get tenants(): number {
    return this.#tenants.size;
  }

  /** Undefined: nothing is held any more. */
  use(settings: ConversationSettings | undefined): void {
    this.#settings = settings;
    this.#stopSweeping?.();
    this.#stopSweeping = undefined;
    if (settings === undefined) return this.#clear();
    for (const tenant of [...this.#tenants.values()]) this.#makeRoom(tenant, 0);
    this.#sweep();
  }

  /** The turn whose response has this id. */
  find(tenant: string, id: string): Turn | undefined {
    const turn = this.#tenants.get(tenant)?.byId.get(id);
    return turn === undefined || this.#isExpired(turn) ? undefined : turn;
  }

  /** The item with this id, and its turn, which is used by that as if it were continued. */
  useItem(tenantName: string, id: string): Uint8Array | undefined {
    const tenant = this.#tenants.get(tenantName);
    const { turn, bytes } = tenant?.items.find(id) ?? {};
    if (tenant === undefined || turn === undefined || this.#isExpired(turn)) return undefined;
    this.#pin(tenant, turn);
    this.#unpin(tenant, turn);
    return bytes;
  }

  /** A request comes that continues `parent`, or begins a conversation. Undefined: there is no room for its items. */
  begin(tenantName: string, parent: Turn | undefined, own: ItemList, textBytes: number): OpenTurn | undefined {
    const tenant = this.#tenants.get(tenantName) ?? newTenant(tenantName);
    this.#tenants.set(tenantName, tenant);
    const open: OpenTurn = { tenant, parent, own, textBytes, bytes: 0, isOver: false };
    this.#pin(tenant, parent);
    if (this.grow(open, OPEN_BYTES + own.items.length)) return open;
    this.end(open);
    return undefined;
  }

  /** The turn takes `bytes` more now, or less. Returns false, and changes nothing, where there is no room. */
  grow(open: OpenTurn, bytes: number): boolean {
    if (open.isOver || !this.#makeRoom(open.tenant, bytes)) return false;
    open.bytes += bytes;
    this.#count(open.tenant, bytes);
    return true;
  }

  /** The response has this id; `output` are its items. Says why the turn is not kept; "" if it is. */
  keep(open: OpenTurn, id: string, output: ItemList): "" | "no_room" | "doubled" {
    const { tenant, parent, own, textBytes } = open;
    if (parent?.isForgotten === true) return "no_room";
    const items = joined(own.items, output.items);
    const turn = new Turn(id, parent, items, textBytes, [...own.ids.keys(), ...output.ids.keys()]);
    const reason = this.#add(open, turn);
    if (reason !== "") return reason;
    const outputAt = items.length - output.items.length;
    tenant.items.add(turn, own.ids, false);
    tenant.items.add(
      turn,
      new Map(Array.from(output.ids, ([key, [start, end]]) => [key, [outputAt + start, outputAt + end]])),
      true,
    );
    return "";
  }

  /** The turn with this id can't be continued, and requests that try to shall be told why. */
  keepFlaw(open: OpenTurn, id: string, flaw: string): void {
    this.#add(open, new Turn(id, undefined, NO_BYTES, 0, [], flaw));
  }

  /** Nothing more comes of it. A second call does nothing. */
  end(open: OpenTurn): void {
    if (open.isOver) return;
    open.isOver = true;
    const { tenant, parent } = open;
    this.#count(tenant, -open.bytes);
    this.#unpin(tenant, parent);
    this.#dropEmpty(tenant);
    this.#sweepLater();
  }

  #add(open: OpenTurn, turn: Turn): "" | "no_room" | "doubled" {
    const { tenant } = open;
    if (open.isOver) return "no_room";
    const other = tenant.byId.get(turn.id);
    // Which of the two a request means can't be known, and the other one may be somebody else's.
    if (other !== undefined) other.flaw = DOUBLED;
    if (other !== undefined) return "doubled";
    this.#count(tenant, -open.bytes);
    open.bytes = 0;
    if (!this.#makeRoom(tenant, turn.bytes)) return "no_room";
    tenant.byId.set(turn.id, turn);
    this.turns += 1;
    this.#count(tenant, turn.bytes);
    this.#unpinned(tenant, turn);
    return "";
  }

  #pin(tenant: TenantTurns, last: Turn | undefined): void {
    for (let turn = last; turn !== undefined; turn = turn.parent) {
      if (turn.pins === 0 && !turn.isForgotten) tenant.unpinned.remove(turn);
      turn.pins += 1;
    }
  }

  #unpin(tenant: TenantTurns, last: Turn | undefined): void {
    for (let turn = last; turn !== undefined; turn = turn.parent) {
      turn.pins -= 1;
      if (turn.pins === 0) this.#unpinned(tenant, turn);
    }
  }

  #unpinned(tenant: TenantTurns, turn: Turn): void {
    if (turn.isForgotten) return;
    turn.usedAtMs = this.#clock.now();
    tenant.unpinned.add(turn);
  }

  /** Forgets turns until the tenant may have so many bytes more. Returns false if it can't. */
  #makeRoom(tenant: TenantTurns, bytes: number): boolean {
    const { maxBytes, maxTenantBytes } = this.#settings ?? { maxBytes: 0, maxTenantBytes: 0 };
    if (bytes > Math.min(maxBytes, maxTenantBytes)) return false;
    while (tenant.bytes + bytes > maxTenantBytes) if (!this.#pushOut(tenant)) return false;
    while (this.bytes + bytes > maxBytes) {
      const largest = this.#largest();
      if (largest === undefined) return false;
      // To look for the largest again behind each turn would take long where there are many tenants.
      const leastBytes = largest.bytes / 2;
      while (this.bytes + bytes > maxBytes && largest.bytes > leastBytes && this.#pushOut(largest));
    }
    return true;
  }

  /** The tenant with the most bytes, of those that have something to lose. */
  #largest(): TenantTurns | undefined {
    let largest: TenantTurns | undefined;
    for (const tenant of this.#tenants.values())
      if (tenant.unpinned.oldest !== undefined && tenant.bytes > (largest?.bytes ?? 0)) largest = tenant;
    return largest;
  }

  #pushOut(tenant: TenantTurns): boolean {
    const { oldest } = tenant.unpinned;
    if (oldest === undefined) return false;
    this.#forget(tenant, oldest);
    this.forgotten.pushedOut += 1;
    return true;
  }

  #forget(tenant: TenantTurns, turn: Turn): void {
    if (turn.pins === 0) tenant.unpinned.remove(turn);
    turn.isForgotten = true;
    tenant.byId.delete(turn.id);
    tenant.items.forget(turn);
    this.turns -= 1;
    this.#count(tenant, -turn.bytes);
  }

  #count(tenant: TenantTurns, bytes: number): void {
    tenant.bytes += bytes;
    this.bytes += bytes;
  }

  /** Nothing of it is held, and nothing is under way. */
  #dropEmpty(tenant: TenantTurns): void {
    if (tenant.bytes === 0 && this.#tenants.get(tenant.name) === tenant) this.#tenants.delete(tenant.name);
  }

  #clear(): void {
    for (const tenant of [...this.#tenants.values()]) {
      for (const turn of [...tenant.byId.values()]) this.#forget(tenant, turn);
      this.#dropEmpty(tenant);
    }
  }

  #isExpired({ pins, usedAtMs }: Turn): boolean {
    return pins === 0 && this.#clock.now() - usedAtMs > (this.#settings?.ttlMs ?? 0);
  }

  #sweepLater(): void {
    if (this.#settings === undefined || this.turns === 0) return;
    this.#stopSweeping ??= this.#clock.after(Math.max(LEAST_SWEEP_MS, this.#settings.ttlMs / SWEEPS), () => this.#sweep());
  }

  #sweep(): void {
    this.#stopSweeping = undefined;
    for (const tenant of [...this.#tenants.values()]) {
      for (let turn = tenant.unpinned.oldest; turn !== undefined && this.#isExpired(turn); turn = tenant.unpinned.oldest) {
        this.#forget(tenant, turn);
        this.forgotten.expired += 1;
      }
      this.#dropEmpty(tenant);
    }
    this.#sweepLater();
  }
}

function newTenant(name: string): TenantTurns {
  return { name, byId: new Map(), items: new HeldItems(), unpinned: new TurnList(), bytes: 0 };
}

const DOUBLED = "Two responses had this id, so it is not known which one is meant";
const NO_BYTES = new Uint8Array(0);
const COMMA = 0x2c;

/** A copy of two lists of items as one, in memory of its own: both are views of memory that is used again, or shared with others. */
function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const otherAt = one.length > 0 && other.length > 0 ? one.length + 1 : one.length;
  const both = new Uint8Array(otherAt + other.length).fill(COMMA, one.length, otherAt);
  both.set(one);
  both.set(other, otherAt);
  return both;
}
