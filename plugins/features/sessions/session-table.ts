import type { Session } from "./session.ts";

/** So many of the oldest are looked at for one that is idle. */
const MOST_LOOKED_AT = 16;

/**
 * All sessions that are known: at most `max`. Beyond it, the tenant with the most loses the one that was quiet longest, so that a client
 * that opens thousands pushes out its own and not those of others.
 */
export class SessionTable {
  readonly #byKey = new Map<string, Session>();
  /** The sessions of each tenant, the one that was quiet longest first. */
  readonly #tenants = new Map<string, Set<Session>>();
  /** Tenants by how many sessions they have. */
  readonly #bySize = new Map<number, Set<string>>();
  #largest = 0;
  readonly #forgotten: (session: Session) => void;

  /** `forgotten` is told of each session that leaves. */
  constructor(forgotten: (session: Session) => void) {
    this.#forgotten = forgotten;
  }

  get size(): number {
    return this.#byKey.size;
  }

  all(): IterableIterator<Session> {
    return this.#byKey.values();
  }

  get(key: string): Session | undefined {
    return this.#byKey.get(key);
  }

  add(session: Session): void {
    this.#byKey.set(session.key, session);
    const own = this.#tenants.get(session.tenant) ?? new Set<Session>();
    this.#tenants.set(session.tenant, own.add(session));
    this.#resized(session.tenant, own.size - 1, own.size);
  }

  /** It has had a turn now. */
  touch(session: Session): void {
    const own = this.#tenants.get(session.tenant);
    if (own?.delete(session) === true) own.add(session);
  }

  /** Forgets sessions until there are `max`. Returns how many. */
  shrink(max: number): number {
    const before = this.size;
    while (this.size > max) this.remove(this.#least());
    return before - this.size;
  }

  /** Forgets those that have been idle for longer. Returns how many. */
  sweep(idleMs: number, nowMs: number): number {
    const before = this.size;
    for (const own of [...this.#tenants.values()])
      for (const session of own) {
        // Those behind it had their turns later, though one of them may have ended before it.
        if (!session.isBusy && session.idleMs(nowMs) <= idleMs) break;
        if (!session.isBusy) this.remove(session);
      }
    return before - this.size;
  }

  remove(session: Session): void {
    const own = this.#tenants.get(session.tenant);
    if (!this.#byKey.delete(session.key) || own === undefined) return;
    own.delete(session);
    if (own.size === 0) this.#tenants.delete(session.tenant);
    this.#resized(session.tenant, own.size + 1, own.size);
    this.#forgotten(session);
  }

  /** Of the tenant with the most: the one that was quiet longest, if possible one without a turn under way. */
  #least(): Session {
    const [tenant] = this.#bySize.get(this.#largest)!;
    const own = this.#tenants.get(tenant!)!;
    let looked = 0;
    for (const session of own) {
      if (!session.isBusy) return session;
      if (++looked === MOST_LOOKED_AT) break;
    }
    const [first] = own;
    return first!;
  }

  #resized(tenant: string, before: number, now: number): void {
    const others = this.#bySize.get(before);
    others?.delete(tenant);
    if (others?.size === 0) this.#bySize.delete(before);
    if (now > 0) this.#bySize.set(now, (this.#bySize.get(now) ?? new Set()).add(tenant));
    // It changes by one, and so does the largest.
    if (now > this.#largest || !this.#bySize.has(this.#largest)) this.#largest = now;
  }
}
