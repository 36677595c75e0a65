import type { Clock } from "../../../core/contract/clock.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { BadFact, list, moment, text, whole } from "../../../core/contract/fact-fields.ts";
import { printable } from "../../../core/contract/printable.ts";
import { lostMs } from "../../../core/contract/standstill.ts";
import { chainOf } from "./chain-text.ts";
import { type FeatureFacts, OF_FEATURE } from "./feature-facts.ts";
import type { Batch, Fact } from "./message.ts";
import { MOST_TOKENS, PeerBookings, type Tables } from "./peer-bookings.ts";
import type { Standings } from "./standings.ts";

/** A router that is not heard for this long has gone. It says something each second. */
export const LEASE_MS = 4_000;
const MOST_PEERS = 64;
/** A fact older than this was held up somewhere: it counts as of now. */
const MOST_AGE_MS = 10_000;
const MOST_REASON_CHARS = 500;

interface Peer {
  readonly bookings: PeerBookings;
  lastNumber: number;
  heardMs: number;
}

/** Another router, for people. */
export interface PeerView {
  readonly router: string;
  readonly inFlight: number;
  readonly heardAgoMs: number;
}

/** The other routers, and what they have said that holds as long as they live. */
export class Peers {
  readonly #tables: Tables;
  readonly #clock: Clock;
  readonly #standings: Standings;
  readonly #features: FeatureFacts;
  readonly #all = new Map<string, Peer>();
  #endpoints: ReadonlyMap<string, Endpoint> = new Map();
  #lastOwnNumber = 0;
  #lookedMs: number;
  /** Of facts: read, not understood, and wrong. */
  readonly facts = { read: 0, unknown: 0, wrong: 0 };

  constructor(tables: Tables, clock: Clock, standings: Standings, features: FeatureFacts) {
    this.#tables = tables;
    this.#clock = clock;
    this.#lookedMs = clock.now();
    this.#standings = standings;
    this.#features = features;
  }

  follow(endpoints: readonly Endpoint[]): void {
    this.#endpoints = new Map(endpoints.map((endpoint) => [endpoint.url.href, endpoint]));
  }

  views(): readonly PeerView[] {
    const nowMs = this.#clock.now();
    return [...this.#all].map(([router, { bookings, heardMs }]) => ({
      router,
      inFlight: bookings.count,
      heardAgoMs: Math.round(nowMs - heardMs),
    }));
  }

  get inFlight(): number {
    return [...this.#all.values()].reduce((sum, { bookings }) => sum + bookings.count, 0);
  }

  /** Takes what a router says. Returns whether it is a router that was not there before. */
  heard(batch: Batch): boolean {
    const nowMs = this.#clock.now();
    const known = this.#all.get(batch.from);
    if (known === undefined && this.#all.size >= MOST_PEERS) return false;
    const peer = known ?? { bookings: new PeerBookings(this.#tables), lastNumber: -1, heardMs: nowMs };
    // What comes a second time, or after what followed it, is out of date.
    if (batch.number <= peer.lastNumber) return false;
    peer.lastNumber = batch.number;
    peer.heardMs = nowMs;
    this.#all.set(batch.from, peer);
    for (const fact of batch.facts) {
      this.#take(fact, peer, batch, nowMs);
      // It says that it has gone: nothing behind that would ever end.
      if (this.#all.get(batch.from) !== peer) return false;
    }
    return known === undefined;
  }

  /** What this router has said has come back. */
  heardSelf({ from, number, facts }: Batch): void {
    if (number <= this.#lastOwnNumber) return;
    this.#lastOwnNumber = number;
    for (const [name, feature, ...fields] of facts) if (name === OF_FEATURE) this.#features.hear(feature, fields, from, true);
  }

  /** Called every `periodMs`. Returns for how long the process did not run since then: what others have said meanwhile is still unread. */
  stoodStill(periodMs: number): number {
    const nowMs = this.#clock.now();
    const lost = lostMs(nowMs - this.#lookedMs, periodMs);
    this.#lookedMs = nowMs;
    for (const peer of this.#all.values()) peer.heardMs = Math.min(nowMs, peer.heardMs + lost);
    return lost;
  }

  /** Forgets the routers that are not heard any more. Returns who they are. */
  expire(): readonly string[] {
    const nowMs = this.#clock.now();
    const gone = [...this.#all].filter(([, { heardMs }]) => nowMs - heardMs >= LEASE_MS);
    for (const [router] of gone) this.#drop(router, nowMs);
    return gone.map(([router]) => router);
  }

  dropAll(): void {
    const nowMs = this.#clock.now();
    for (const router of this.#all.keys()) this.#drop(router, nowMs);
  }

  #drop(router: string, nowMs: number): void {
    this.#all.get(router)?.bookings.drop(nowMs);
    this.#all.delete(router);
    this.#features.gone(router);
  }

  #take(fact: Fact, peer: Peer, batch: Batch, nowMs: number): void {
    try {
      if (this.#understood(fact, peer, batch, nowMs)) this.facts.read += 1;
      else this.facts.unknown += 1;
    } catch (thrown) {
      if (!(thrown instanceof BadFact)) throw thrown;
      this.facts.wrong += 1;
    }
  }

  /** False for a fact of a newer release. Throws BadFact for one that can't be read. */
  #understood([name, first, ...rest]: Fact, { bookings }: Peer, batch: Batch, nowMs: number): boolean {
    // Thousands of facts come in a second: none makes a closure.
    switch (name) {
      case "began": {
        const endpoint = this.#at(rest[0], batch);
        const work = { tokens: whole(rest[1], MOST_TOKENS), hasFirstByte: rest[2] === 1 };
        if (endpoint !== undefined) bookings.began(whole(first), endpoint, work, thenOf(rest[3], batch, nowMs));
        return true;
      }
      case "worked":
        bookings.worked(whole(first), rest[0] === 1, thenOf(rest[1], batch, nowMs));
        return true;
      case "ended":
        bookings.ended(whole(first), nowMs);
        return true;
      case "cached":
        this.#cached(whole(first), this.#at(rest[0], batch), rest[1], bookings, batch);
        return true;
      case "withdrawn":
        bookings.withdrawn(whole(first));
        return true;
      case "generated":
        bookings.generated(whole(first), whole(rest[0], MOST_TOKENS));
        return true;
      case "load":
        bookings.sum(list(rest[0], MOST_TOKENS), whole(first) === 1, (place) => this.#at(place, batch), nowMs);
        return true;
      case "gone":
        this.#drop(batch.from, nowMs);
        return true;
      case OF_FEATURE:
        return this.#features.hear(first, rest, batch.from, false);
      default:
        return this.#stands(name, this.#at(first, batch), rest, batch);
    }
  }

  /** The endpoint that a message names by its place. */
  #at(place: unknown, { replicas }: Batch): Endpoint | undefined {
    return this.#endpoints.get(replicas[whole(place)] ?? "");
  }

  #cached(id: number, endpoint: Endpoint | undefined, chain: unknown, bookings: PeerBookings, { blockBytes }: Batch): void {
    // Blocks of another size have other hashes.
    if (endpoint === undefined || blockBytes !== this.#tables.prefixIndex()?.ends[0]) return;
    bookings.cached(id, endpoint, chainOf(text(chain, Number.MAX_SAFE_INTEGER)));
  }

  #stands(name: string, endpoint: Endpoint | undefined, fields: readonly unknown[], batch: Batch): boolean {
    if (name !== "wanted" && name !== "ejected" && name !== "returned") return false;
    if (endpoint === undefined) return true;
    if (name === "wanted") this.#standings.heardIntent(endpoint, fields, this.#clock.wall() - batch.wallMs);
    else if (name === "returned") this.#standings.heardEjection(endpoint, "", undefined);
    else {
      const reason = `${printable(text(fields[0], MOST_REASON_CHARS))}, seen by another router`;
      this.#standings.heardEjection(endpoint, reason, moment(fields[1]) - batch.nowMs);
    }
    return true;
  }
}

/** A moment of the router that says it, on this one's clock. */
function thenOf(moments: unknown, { nowMs: sentMs }: Batch, nowMs: number): number {
  return nowMs - Math.min(MOST_AGE_MS, Math.max(0, sentMs - moment(moments)));
}
