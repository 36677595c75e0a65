import type { EndpointFacts, Source } from "../plugin.ts";
import type { LoadTable } from "../state/load.ts";

/** Sources that read the same page; it is fetched once for all of them. */
export interface SourceGroup {
  readonly path: string;
  readonly periodMs: number;
  readonly sources: readonly Source[];
}

/** Values are unknown after this many periods without a page. */
const STALE_PERIODS = 3;

/** Sources by page. A page that a probe fetches anyway comes as often as the probe. */
export function groupSources(
  sources: readonly Source[],
  probe: { readonly path: string; readonly periodMs: number },
): SourceGroup[] {
  const byPath = new Map<string, Source[]>();
  for (const source of sources) {
    const others = byPath.get(source.path);
    if (others === undefined) byPath.set(source.path, [source]);
    else others.push(source);
  }
  return [...byPath].map(([path, members]) => ({
    path,
    periodMs: path === probe.path ? probe.periodMs : Math.min(...members.map((source) => source.periodMs)),
    sources: members,
  }));
}

/** What the sources said last of one replica, put together. */
export class SourceFacts {
  readonly #load: LoadTable;
  readonly #slot: number;
  readonly #known = new Map<Source, { readonly facts: EndpointFacts; readonly readAtMs: number }>();

  constructor(load: LoadTable, slot: number) {
    this.#load = load;
    this.#slot = slot;
  }

  /** Keeps what one page said to its sources; returns whether each of them could read it. */
  read(group: SourceGroup, body: string, nowMs: number): boolean {
    let isReadable = true;
    for (const source of group.sources) {
      try {
        this.#known.set(source, { facts: source.read(body), readAtMs: nowMs });
      } catch {
        isReadable = false;
      }
    }
    this.forgetStale(group, nowMs);
    this.#publish();
    return isReadable;
  }

  /** Drops the numbers of a page that has not come for too long. A model list is kept: old names do no harm. */
  forgetStale(group: SourceGroup, nowMs: number): void {
    let isAnyDropped = false;
    for (const source of group.sources) {
      const known = this.#known.get(source);
      if (known === undefined || !hasNumbers(known.facts)) continue;
      if (nowMs - known.readAtMs < STALE_PERIODS * group.periodMs) continue;
      const { models } = known.facts;
      this.#known.set(source, { facts: models === undefined ? {} : { models }, readAtMs: known.readAtMs });
      isAnyDropped = true;
    }
    if (isAnyDropped) this.#publish();
  }

  /** Whether a number of this page is still believed. */
  hasNumbers(group: SourceGroup): boolean {
    return group.sources.some((source) => hasNumbers(this.#known.get(source)?.facts ?? {}));
  }

  /** Every source's models; undefined while no source has read a list. */
  models(): readonly string[] | undefined {
    const lists = [...this.#known.values()].flatMap(({ facts }) => (facts.models === undefined ? [] : [facts.models]));
    return lists.length === 0 ? undefined : [...new Set(lists.flat())];
  }

  forgetAll(): void {
    this.#known.clear();
    this.#load.forgetScrape(this.#slot);
  }

  /** The oldest of the pages counts as the time of the whole. */
  #publish(): void {
    let merged: EndpointFacts = {};
    let readAtMs = Number.NaN;
    for (const { facts, readAtMs: atMs } of this.#known.values()) {
      if (!hasNumbers(facts)) continue;
      merged = { ...merged, ...facts };
      readAtMs = Number.isNaN(readAtMs) ? atMs : Math.min(readAtMs, atMs);
    }
    this.#load.scraped(this.#slot, merged, readAtMs);
  }
}

function hasNumbers({ waiting, running, kvUsage }: EndpointFacts): boolean {
  return waiting !== undefined || running !== undefined || kvUsage !== undefined;
}
