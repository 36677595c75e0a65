import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { LoadView } from "../../core/contract/load-view.ts";
import type { PrefixMatch } from "../../core/contract/prefix-match.ts";

export interface BurstSettings {
  readonly windowMs: number;
  /** Requests of one group that a replica gets before another replica does; Infinity for all of them. */
  readonly maxPerReplica: number;
  /** Leading tokens that different prompts must share to be put together; 0: only equal prompts are. */
  readonly minSharedTokens: number;
}

/** Requests sent to each replica, by its name. */
type Counts = Map<string, number>;

/** Bounds the memory of one window. */
const MOST_GROUPS = 65_536;

/** Where the requests of one window of time were sent, by their prompts. A window begins with its first request. */
export class BurstWindow {
  #endMs = Number.NEGATIVE_INFINITY;
  #total = 0;
  #sent: Counts = new Map();
  /** By the whole prompt, and by its first tokens. */
  #groups = new Map<number, Counts>();
  #sharing = new Map<number, Counts>();

  /** Where the request should go to be with its group; undefined if it is the first, or belongs to none. */
  placeFor(prefix: PrefixMatch, candidates: readonly Endpoint[], load: LoadView, settings: BurstSettings): Endpoint | undefined {
    if (load.nowMs >= this.#endMs || candidates.length === 0) return undefined;
    const group = this.#groups.get(wholeKey(prefix));
    if (group !== undefined) return this.#inGroup(group, candidates, load, settings.maxPerReplica);
    const key = sharedKey(prefix, settings.minSharedTokens);
    const sharing = key === undefined ? undefined : this.#sharing.get(key);
    return sharing && this.#besideSharing(sharing, candidates);
  }

  /** The request is sent there. */
  note(prefix: PrefixMatch, { name }: Endpoint, nowMs: number, { windowMs, minSharedTokens }: BurstSettings): void {
    if (nowMs >= this.#endMs) this.#begin(nowMs + windowMs);
    this.#total += 1;
    add(this.#sent, name);
    addTo(this.#groups, wholeKey(prefix), name);
    const key = sharedKey(prefix, minSharedTokens);
    if (key !== undefined) addTo(this.#sharing, key, name);
  }

  #begin(endMs: number): void {
    this.#endMs = endMs;
    this.#total = 0;
    this.#sent = new Map();
    this.#groups = new Map();
    this.#sharing = new Map();
  }

  /** The group's fullest replica with room; else the one that this window has loaded least. */
  #inGroup(group: Counts, candidates: readonly Endpoint[], load: LoadView, most: number): Endpoint | undefined {
    const begun = candidates.filter(({ name }) => countOf(group, name) > 0 && countOf(group, name) < most);
    if (begun.length > 0)
      return begun.reduce((best, next) => (countOf(group, next.name) > countOf(group, best.name) ? next : best));
    const fresh = candidates.filter(({ name }) => countOf(group, name) < most);
    return this.#leastLoaded(fresh.length > 0 ? fresh : candidates, load);
  }

  /** The replica with most prompts of that beginning, while it has less than its share of the window. */
  #besideSharing(sharing: Counts, candidates: readonly Endpoint[]): Endpoint | undefined {
    const share = Math.ceil((this.#total + 1) / candidates.length);
    let best: Endpoint | undefined;
    for (const endpoint of candidates) {
      const count = countOf(sharing, endpoint.name);
      if (count === 0 || countOf(this.#sent, endpoint.name) >= share) continue;
      if (best === undefined || count > countOf(sharing, best.name)) best = endpoint;
    }
    return best;
  }

  #leastLoaded(candidates: readonly Endpoint[], load: LoadView): Endpoint | undefined {
    const isLess = (one: Endpoint, other: Endpoint) =>
      countOf(this.#sent, one.name) - countOf(this.#sent, other.name) || load.inFlight(one.slot) - load.inFlight(other.slot);
    return candidates.reduce((best, next) => (isLess(next, best) < 0 ? next : best));
  }
}

const countOf = (counts: Counts, name: string) => counts.get(name) ?? 0;

function add(counts: Counts, name: string): void {
  counts.set(name, countOf(counts, name) + 1);
}

function addTo(groups: Map<number, Counts>, key: number, name: string): void {
  const counts = groups.get(key);
  if (counts !== undefined) return add(counts, name);
  if (groups.size < MOST_GROUPS) groups.set(key, new Map([[name, 1]]));
}

const wholeKey = (prefix: PrefixMatch) => keyOf(prefix, prefix.blocks - 1);

/** The prompt up to the block with that token; undefined if it is shorter, or none is asked for. */
function sharedKey(prefix: PrefixMatch, tokens: number): number | undefined {
  if (tokens === 0 || prefix.tokensIn === undefined) return undefined;
  let left = tokens;
  for (let block = 0; block < prefix.blocks; block++) {
    left -= prefix.tokensIn(block);
    if (left <= 0) return keyOf(prefix, block);
  }
  return undefined;
}

/** 53 bits of the block's two words. */
function keyOf({ hashes }: PrefixMatch, block: number): number {
  return (hashes![2 * block]! & 0x1f_ffff) * 2 ** 32 + (hashes![2 * block + 1]! >>> 0);
}
