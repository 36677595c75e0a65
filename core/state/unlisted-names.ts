import type { UnlistedName } from "../contract/load-view.ts";

/** Most names remembered for each slot; the oldest is forgotten first. So no client can fill the memory with names. */
const MOST_NAMES = 256;
/** How long a name rests on an endpoint after its first 404 for it; each further one doubles it, up to the longest. */
const FIRST_REST_MS = 2_000;
const LONGEST_REST_MS = 60_000;
/** For so long after a response, the endpoint is believed to have the name, though its list does not show it. */
const SERVED_MS = 10_000;
/** A load that takes longer than this and than four usual ones is not waited for any more. */
const LONGEST_LOAD_MS = 10_000;
const LOAD_FACTOR = 4;
/** What a load takes before the first was measured. */
const FIRST_LOAD_MS = 2_000;
const LEAST_LOAD_MS = 1;
const MOST_LOAD_MS = 60_000;
/** A measured load's share in what the next one is expected to take. */
const LOAD_SHARE = 0.3;

/** What is known of one name at one endpoint. Times are on the router's clock. */
interface Known {
  /** Requests for the name that were sent there while it was not listed, and have not ended. */
  open: number;
  /** When the first of them was sent. */
  openSinceMs: number;
  servedAtMs: number;
  refusals: number;
  refusedUntilMs: number;
}

/** A request under way for a name that its endpoint does not list. */
export type UnlistedUse = Known;

/**
 * Names that were sent to endpoints that do not list them, so that their replicas load them: where one is being loaded, where it
 * was served since, and where it was refused with 404 and rests. A path that a replica does not have rests in the same way; no
 * name that may be sent begins with a slash. Also learns how long a load takes.
 */
export class UnlistedNames {
  /** How long a load takes, as learned. */
  adapterLoadMs = FIRST_LOAD_MS;
  readonly #bySlot: (Map<string, Known> | undefined)[] = [];

  /** Undefined where nothing is known. */
  at(slot: number, name: string, nowMs: number): UnlistedName | undefined {
    const known = this.#bySlot[slot]?.get(name);
    if (known === undefined) return undefined;
    if (nowMs < known.refusedUntilMs) return { standing: "refused", leftMs: known.refusedUntilMs - nowMs };
    if (nowMs < known.servedAtMs + SERVED_MS) return { standing: "served", leftMs: 0 };
    const loadingMs = nowMs - known.openSinceMs;
    if (known.open === 0 || loadingMs > Math.max(LONGEST_LOAD_MS, LOAD_FACTOR * this.adapterLoadMs)) return undefined;
    return { standing: "loading", leftMs: Math.max(0, this.adapterLoadMs - loadingMs) };
  }

  /** Whether the endpoint has refused the name, and has not served it since. */
  hasRefused(slot: number, name: string): boolean {
    return (this.#bySlot[slot]?.get(name)?.refusals ?? 0) > 0;
  }

  /** Whether requests are under way there for a name that is not listed: loading it may take long. */
  isLoading(slot: number): boolean {
    for (const { open } of this.#bySlot[slot]?.values() ?? []) if (open > 0) return true;
    return false;
  }

  /** A request for the name was sent. Give what this returns to `ended`, once. */
  sent(slot: number, name: string, nowMs: number): UnlistedUse {
    const known = this.#knownOf(slot, name);
    if (known.open === 0) known.openSinceMs = nowMs;
    known.open += 1;
    return known;
  }

  ended(use: UnlistedUse): void {
    use.open -= 1;
  }

  /** The endpoint responded to a request for the name: it has it now. */
  served(slot: number, name: string, nowMs: number): void {
    const known = this.#knownOf(slot, name);
    known.servedAtMs = nowMs;
    known.refusals = 0;
    known.refusedUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** The endpoint responded with 404 for the name: it rests there, longer each time. */
  refused(slot: number, name: string, nowMs: number): void {
    const known = this.#knownOf(slot, name);
    known.servedAtMs = Number.NEGATIVE_INFINITY;
    // Several requests may have been under way together; they count once.
    if (nowMs < known.refusedUntilMs) return;
    if (nowMs > known.refusedUntilMs + LONGEST_REST_MS) known.refusals = 0;
    known.refusedUntilMs = nowMs + Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** known.refusals);
    known.refusals += 1;
  }

  /** A load took so long. `isExact`: nothing but the load; otherwise at most that. */
  loaded(tookMs: number, isExact: boolean): void {
    const ms = Math.min(MOST_LOAD_MS, Math.max(LEAST_LOAD_MS, tookMs));
    if (isExact) this.adapterLoadMs += LOAD_SHARE * (ms - this.adapterLoadMs);
    else this.adapterLoadMs = Math.min(this.adapterLoadMs, ms);
  }

  /** What was known of the name there does not hold any more. */
  forget(slot: number, name: string): void {
    this.#bySlot[slot]?.delete(name);
  }

  /** Names that rest may be tried again at once. */
  forgetRefusals(): void {
    for (const names of this.#bySlot) {
      for (const known of names?.values() ?? []) {
        known.refusals = 0;
        known.refusedUntilMs = Number.NEGATIVE_INFINITY;
      }
    }
  }

  /** Another replica has the slot. */
  forgetSlot(slot: number): void {
    this.#bySlot[slot] = undefined;
  }

  /** The newest name is the last. */
  #knownOf(slot: number, name: string): Known {
    this.#bySlot[slot] ??= new Map();
    const names = this.#bySlot[slot];
    const known = names.get(name) ?? {
      open: 0,
      openSinceMs: 0,
      servedAtMs: Number.NEGATIVE_INFINITY,
      refusals: 0,
      refusedUntilMs: Number.NEGATIVE_INFINITY,
    };
    names.delete(name);
    names.set(name, known);
    for (const [oldest, { open }] of names) {
      if (names.size <= MOST_NAMES) break;
      // What is being loaded stays known, however many other names clients make up; requests under way are bounded elsewhere.
      if (open === 0 && oldest !== name) names.delete(oldest);
    }
    return known;
  }
}
