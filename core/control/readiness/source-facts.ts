import type { ModelCards, Replica } from "../../contract/endpoint.ts";
import type { AdapterUse } from "../../contract/load-view.ts";
import type { EndpointFacts, Source, SourceOrigin } from "../../contract/source.ts";
import { thrownMessage } from "../../contract/thrown-text.ts";
import type { LoadTable } from "../../state/load.ts";

/** Sources that read the same path of the same server; it is fetched once for all of them. */
export interface SourceGroup {
  /** The path, after the name of its server where that is not the replica. */
  readonly id: string;
  readonly path: string;
  /** Undefined for the replica itself. */
  readonly origin: SourceOrigin | undefined;
  readonly periodMs: number;
  /** The pause while the replica has no request in flight. */
  readonly idlePeriodMs: number;
  readonly sources: readonly Source[];
}

/** Numbers count fully until new ones have been awaited for one period, then less and less; after four they are forgotten. */
const FULL_PERIODS = 1;
const FORGOTTEN_PERIODS = 4;

/** Groups sources by server and path. The probe's path has the period of the probe, any other the shortest period of its sources. */
export function groupSources(
  sources: readonly Source[],
  probe: { readonly path: string; readonly periodMs: number },
): SourceGroup[] {
  return [...new Set(sources.map(groupId))].map((id) => {
    const members = sources.filter((source) => groupId(source) === id);
    const { path, origin } = members[0]!;
    const periodMs = id === probe.path ? probe.periodMs : Math.min(...members.map((source) => source.periodMs));
    const idlePeriodMs = Math.min(...members.map((source) => source.idlePeriodMs ?? source.periodMs));
    return { id, path, origin, periodMs, idlePeriodMs: Math.max(periodMs, idlePeriodMs), sources: members };
  });
}

const groupId = ({ path, origin }: Source) => (origin === undefined ? path : `${origin.name}${path}`);

interface Known {
  readonly facts: EndpointFacts;
  readonly readAtMs: number;
}

/** The latest facts from all sources of one replica, merged. */
export class SourceFacts {
  readonly #load: LoadTable;
  readonly #slot: number;
  readonly #capacityKnown: (tokens: number | undefined) => void;
  readonly #leftOut: (group: SourceGroup, text: string) => void;
  readonly #known = new Map<Source, Known>();
  /** Groups that are being fetched without success, and since when. */
  readonly #awaitedSinceMs = new Map<SourceGroup, number>();
  #capacityTokens: number | undefined;

  /** `leftOut`: a source leaves out a part of a body for this reason, and left out nothing before. */
  constructor(
    load: LoadTable,
    slot: number,
    capacityKnown: (tokens: number | undefined) => void = () => {},
    leftOut: (group: SourceGroup, text: string) => void = () => {},
  ) {
    this.#load = load;
    this.#slot = slot;
    this.#capacityKnown = capacityKnown;
    this.#leftOut = leftOut;
  }

  /**
   * The config has changed. What a source read stays with its successor, and a group stays awaited where there is one for the same
   * path of the same server; what has none is forgotten.
   */
  succeed(successors: ReadonlyMap<Source, Source>, groups: readonly SourceGroup[]): void {
    const known = [...this.#known];
    const awaited = [...this.#awaitedSinceMs];
    this.#known.clear();
    this.#awaitedSinceMs.clear();
    for (const [source, facts] of known) {
      const successor = successors.get(source);
      if (successor !== undefined) this.#known.set(successor, facts);
    }
    for (const [{ id }, sinceMs] of awaited) {
      const group = groups.find((each) => each.id === id);
      if (group !== undefined) this.#awaitedSinceMs.set(group, sinceMs);
    }
    if (this.#known.size < known.length) this.#publish();
  }

  /** Lets a group's sources read a body; returns why one of them could not, or "". */
  read(group: SourceGroup, body: string, replica: Replica, nowMs: number): string {
    const faults = group.sources.map((source) => this.#readTo(source, body, replica, group, nowMs));
    if (faults.includes("")) {
      this.#awaitedSinceMs.delete(group);
      group.sources.forEach((source, index) => {
        if (faults[index] !== "") this.#forgetNumbersOf(source);
      });
    }
    this.#publish();
    this.age(nowMs);
    return faults.find((fault) => fault !== "") ?? "";
  }

  /** The group is being fetched. The longer it takes to succeed, the less the last numbers count. */
  awaited(group: SourceGroup, nowMs: number): void {
    if (!this.#awaitedSinceMs.has(group)) this.#awaitedSinceMs.set(group, nowMs);
  }

  /** Lowers the freshness of numbers with time, and at last drops them. */
  age(nowMs: number): void {
    let least = 1;
    for (const [group, sinceMs] of this.#awaitedSinceMs) {
      const freshness = freshnessAfter((nowMs - sinceMs) / group.periodMs);
      if (freshness === 0) this.#forgetNumbers(group);
      else if (this.hasNumbers(group)) least = Math.min(least, freshness);
    }
    if (!Number.isNaN(this.#load.scrapedAtMs[this.#slot])) this.#load.fade(this.#slot, least);
  }

  /** Whether this group has given a list of models. */
  listsModels(group: SourceGroup): boolean {
    return group.sources.some((source) => this.#known.get(source)?.facts.models !== undefined);
  }

  /** Whether a number from this group still counts. */
  hasNumbers(group: SourceGroup): boolean {
    return group.sources.some((source) => hasNumbers(this.#known.get(source)?.facts));
  }

  /** Whether the freshness of this group's numbers is falling, or soon will. */
  isFading(group: SourceGroup): boolean {
    return this.#awaitedSinceMs.has(group) && this.hasNumbers(group);
  }

  /** The models from all sources; undefined before a source has read a list. */
  models(): readonly string[] | undefined {
    return this.#union("models");
  }

  /** Whether a source says that the engine sleeps. It holds until one says otherwise, also while the metrics can't be read. */
  get isAsleep(): boolean {
    return [...this.#known.values()].some(({ facts }) => facts.isAsleep === true);
  }

  /** What the sources leave out of what they read. */
  get leftOut(): readonly string[] {
    return [...this.#known.values()].flatMap(({ facts: { leftOut } }) => (leftOut === undefined ? [] : [leftOut]));
  }

  /** What the sources know of the models; undefined if nothing. */
  modelCards(): ModelCards | undefined {
    const cards = [...this.#known.values()].flatMap(({ facts }) => (facts.modelCards === undefined ? [] : [facts.modelCards]));
    return cards.length > 1 ? Object.freeze(Object.assign(Object.create(null), ...cards)) : cards[0];
  }

  /** The replica has just loaded or unloaded a model: its lists say so until they are read again. */
  setModel(name: string, isLoaded: boolean): void {
    for (const [source, known] of this.#known) {
      const { models, adapters } = known.facts;
      if (models === undefined) continue;
      const facts = { ...known.facts, models: withModel(models, name, isLoaded) };
      this.#known.set(source, {
        ...known,
        facts: adapters ? { ...facts, adapters: withModel(adapters, name, isLoaded) } : facts,
      });
    }
    this.#publish();
  }

  /** The replica is out of service: forgets its numbers, and whether it sleeps. Model lists are kept, because old names do no harm. */
  forgetNumbers(): void {
    for (const [source, known] of this.#known) {
      const { isAsleep: _, ...facts } = known.facts;
      this.#known.set(source, { ...known, facts });
      this.#forgetNumbersOf(source);
    }
    this.#awaitedSinceMs.clear();
    this.#publish();
  }

  forgetAll(): void {
    this.#known.clear();
    this.#load.forgetScrape(this.#slot);
    this.#setCapacity(undefined);
  }

  /** Returns why the source can't read the body, or "". */
  #readTo(source: Source, body: string, replica: Replica, group: SourceGroup, nowMs: number): string {
    try {
      const facts = source.read(body, replica);
      const before = this.#known.get(source)?.facts;
      if (hasMoreSetbacks(facts, before)) this.#load.pauseAtLeast(this.#slot, nowMs + group.periodMs);
      if (facts.leftOut !== undefined && before?.leftOut === undefined) this.#leftOut(group, facts.leftOut);
      this.#known.set(source, { facts, readAtMs: nowMs });
      return "";
    } catch (thrown) {
      return thrownMessage(thrown) || "no reason was given";
    }
  }

  #forgetNumbers(group: SourceGroup): void {
    if (!this.hasNumbers(group)) return;
    for (const source of group.sources) this.#forgetNumbersOf(source);
    this.#publish();
  }

  #forgetNumbersOf(source: Source): void {
    const known = this.#known.get(source);
    if (known === undefined) return;
    const { models, adapters, modelCards, isAsleep, leftOut } = known.facts;
    const kept = {
      ...(isAsleep !== undefined && { isAsleep }),
      ...(models && { models }),
      ...(adapters && { adapters }),
      ...(modelCards && { modelCards }),
      ...(leftOut !== undefined && { leftOut }),
    };
    this.#known.set(source, { ...known, facts: kept });
  }

  /** The merged numbers get the time of the oldest read among them. */
  #publish(): void {
    let merged: EndpointFacts = {};
    let readAtMs = Number.NaN;
    for (const { facts, readAtMs: atMs } of this.#known.values()) {
      if (!hasNumbers(facts)) continue;
      merged = { ...merged, ...facts, ...(merged.attributes && { attributes: { ...merged.attributes, ...facts.attributes } }) };
      readAtMs = Number.isNaN(readAtMs) ? atMs : Math.min(readAtMs, atMs);
    }
    this.#load.scraped(this.#slot, merged, readAtMs);
    this.#publishAdapters(merged.adapterUse);
    if (merged.kvCapacityTokens !== undefined) this.#setCapacity(merged.kvCapacityTokens);
  }

  #publishAdapters(use: AdapterUse | undefined): void {
    const names = this.#union("adapters");
    const isKnown = names !== undefined || use !== undefined;
    this.#load.knowAdapters(this.#slot, isKnown ? { names: names && new Set(names), use } : undefined);
  }

  #setCapacity(tokens: number | undefined): void {
    if (tokens === this.#capacityTokens) return;
    this.#capacityTokens = tokens;
    this.#capacityKnown(tokens);
  }

  #union(fact: "models" | "adapters"): readonly string[] | undefined {
    const lists = [...this.#known.values()].flatMap(({ facts }) => (facts[fact] === undefined ? [] : [facts[fact]]));
    return lists.length === 0 ? undefined : [...new Set(lists.flat())];
  }
}

function withModel(models: readonly string[], name: string, isLoaded: boolean): readonly string[] {
  if (models.includes(name) === isLoaded) return models;
  return isLoaded ? [...models, name] : models.filter((model) => model !== name);
}

function freshnessAfter(awaitedPeriods: number): number {
  return Math.min(1, Math.max(0, (FORGOTTEN_PERIODS - awaitedPeriods) / (FORGOTTEN_PERIODS - FULL_PERIODS)));
}

/** False for a restarted engine too, which counts from 0. */
function hasMoreSetbacks({ setbacks = 0 }: EndpointFacts, before: EndpointFacts | undefined): boolean {
  return before?.setbacks !== undefined && setbacks > before.setbacks;
}

/** Whether there are facts that grow old. */
function hasNumbers(facts: EndpointFacts | undefined): boolean {
  if (facts === undefined) return false;
  const { waiting, running, kvUsage, attributes, adapterUse, kvCapacityTokens } = facts;
  return [waiting, running, kvUsage, attributes, adapterUse, kvCapacityTokens].some((fact) => fact !== undefined);
}
