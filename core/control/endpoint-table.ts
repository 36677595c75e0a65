import type { Endpoint, EndpointSpec } from "../contract/endpoint.ts";
import { parseEndpointUrl } from "../contract/endpoint-url.ts";
import type { Log } from "../contract/log.ts";
import { nameSet } from "../contract/name-set.ts";
import { thrownMessage, thrownText } from "../contract/thrown-text.ts";
import type { EjectionStanding } from "../judge.ts";
import { nextTurn } from "../runtime/next-turn.ts";
import type { LoadTable } from "../state/load.ts";
import { availability, type IntentStanding } from "./availability.ts";
import { NEW_REPLICA, type ReplicaHealth } from "./readiness/replica-health.ts";

/** Telling a change of so many endpoints costs nearly nothing, though each listener walks over all of them. */
const SMALL_POOL = 64;

export interface EndpointTableOptions {
  readonly load: LoadTable;
  readonly log: Log;
  /** The list of endpoints, or one of them, has changed. */
  readonly changed: (endpoints: readonly Endpoint[]) => void;
  /** What besides the probes decides whether an endpoint may be used; it is asked anew after `restand`. */
  readonly standingOf: (name: string) => EjectionStanding & IntentStanding;
  /** Another process serves this slot now: forget the old one's cache and close its connections. */
  readonly replaced: (slot: number) => void;
}

interface Row {
  readonly endpoint: Endpoint;
  /** The URL as the spec gave it, to see whether it changed. */
  readonly urlText: string;
  readonly health: ReplicaHealth;
}

/** The control plane's list of endpoints: those that discovery lists, with the health that the prober found. */
export class EndpointTable {
  /** In the order of discovery; a new array after every change. */
  endpoints: readonly Endpoint[] = [];
  readonly #options: EndpointTableOptions;
  #rows = new Map<string, Row>();
  /** Why entries of the last list can't be used, by their names. */
  #leftOut = new Map<string, string>();
  /** A row is not what was told. */
  #isDirty = false;
  #isPublishing = false;
  /** A change was told in this turn of the event loop: further ones wait for the next. */
  #isGathering = false;

  constructor(options: EndpointTableOptions) {
    this.#options = options;
  }

  /** Takes the whole list from discovery. An entry that can't be used is left out, and logged when it is new; the others are kept. */
  discovered(specs: readonly EndpointSpec[]): void {
    const listed = new Set(specs.map((spec) => spec.name));
    for (const name of this.#rows.keys()) {
      if (!listed.has(name)) this.#options.load.retire(name);
    }
    const rows = new Map<string, Row>();
    const leftOut = new Map<string, string>();
    for (const spec of specs) {
      const row = this.#rowOf(spec, rows, leftOut);
      if (row !== undefined) rows.set(spec.name, row);
    }
    this.#rows = rows;
    this.#leftOut = leftOut;
    this.#isDirty = true;
    this.publish();
  }

  /** Takes one endpoint's health from the prober; ignores an endpoint that is not listed. */
  probed(name: string, health: ReplicaHealth): void {
    const row = this.#rows.get(name);
    if (row === undefined) return;
    const { load } = this.#options;
    const { slot } = row.endpoint;
    if (row.health.generation !== health.generation) {
      load.replaced(slot, true);
      this.#options.replaced(slot);
    }
    const generation = load.generationOf(slot);
    const isSame =
      row.health.phase === health.phase &&
      row.health.models === health.models &&
      row.health.modelCards === health.modelCards &&
      row.endpoint.generation === generation;
    const models = row.health.models === health.models ? row.endpoint.models : nameSet(health.models);
    const endpoint = isSame
      ? row.endpoint
      : Object.freeze({ ...withCards(row.endpoint, health), ...this.#standing(row.endpoint, health), generation, models });
    this.#set(name, { ...row, endpoint, health });
  }

  /** What the probes do not know of the endpoint's standing has changed. */
  restand(name: string): void {
    const row = this.#rows.get(name);
    if (row === undefined) return;
    const endpoint = Object.freeze({ ...row.endpoint, ...this.#standing(row.endpoint, row.health) });
    this.#set(name, { ...row, endpoint });
  }

  /** Tells at once of all changes so far, and of those that this brings about. */
  publish(): void {
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    try {
      while (this.#isDirty) this.#publishOnce();
    } finally {
      this.#isPublishing = false;
    }
  }

  /** Whether the probes let it be used. */
  isHealthy(name: string): boolean {
    return this.#rows.get(name)?.health.phase === "ready";
  }

  #standing({ name, reported }: Endpoint | EndpointSpec, { phase }: ReplicaHealth) {
    return { reported, ...availability({ health: phase, reported, ...this.#options.standingOf(name) }) };
  }

  #rowOf(spec: EndpointSpec, listed: ReadonlyMap<string, Row>, leftOut: Map<string, string>): Row | undefined {
    try {
      if (listed.has(spec.name)) throw new Error("Two endpoints have this name: give each its own.");
      return this.#merged(spec, this.#rows.get(spec.name));
    } catch (thrown) {
      const cause = thrownMessage(thrown);
      leftOut.set(spec.name, cause);
      if (this.#leftOut.get(spec.name) !== cause)
        this.#options.log.error("An endpoint is left out", { endpoint: spec.name, cause });
      if (!listed.has(spec.name)) this.#options.load.retire(spec.name);
      return undefined;
    }
  }

  #merged(spec: EndpointSpec, known: Row | undefined): Row {
    if (known === undefined || known.urlText !== spec.url) return this.#added(spec, known !== undefined);
    if (known.endpoint.reported === spec.reported && hasSameLabels(known.endpoint.labels, spec.labels)) return known;
    const labels = Object.freeze({ ...spec.labels });
    return { ...known, endpoint: Object.freeze({ ...known.endpoint, labels, ...this.#standing(spec, known.health) }) };
  }

  /** The row of a new name, or of a known name with another address. */
  #added(spec: EndpointSpec, isKnown: boolean): Row {
    const { name, url: urlText, labels } = spec;
    const url = Object.freeze(parseEndpointUrl(urlText));
    const { load } = this.#options;
    const slot = load.slotOf(name);
    if (isKnown) load.replaced(slot, false);
    this.#options.replaced(slot);
    const endpoint: Endpoint = Object.freeze({
      name,
      slot,
      generation: load.generationOf(slot),
      url,
      labels: Object.freeze({ ...labels }),
      ...this.#standing(spec, NEW_REPLICA),
      models: nameSet(),
    });
    return { endpoint, urlText, health: NEW_REPLICA };
  }

  /** In a large pool the first change of a turn is told at once, the others together in the next one. */
  #set(name: string, row: Row): void {
    this.#rows.set(name, row);
    this.#isDirty = true;
    if (this.#isGathering) return;
    this.publish();
    if (this.#rows.size > SMALL_POOL) this.#gather();
  }

  #gather(): void {
    this.#isGathering = true;
    nextTurn(() => {
      this.#isGathering = false;
      if (!this.#isDirty) return;
      try {
        this.publish();
      } catch (thrown) {
        this.#options.log.error("A change of the pool could not be applied", { cause: thrownText(thrown) });
      }
      this.#gather();
    });
  }

  #publishOnce(): void {
    this.#isDirty = false;
    const endpoints = [...this.#rows.values()].map((row) => row.endpoint);
    const isSame = endpoints.length === this.endpoints.length && endpoints.every((each, i) => each === this.endpoints[i]);
    if (isSame) return;
    this.endpoints = endpoints;
    this.#options.changed(endpoints);
  }
}

function withCards(endpoint: Endpoint, { modelCards }: ReplicaHealth): Endpoint {
  const { modelCards: _before, ...others } = endpoint;
  return modelCards === undefined ? others : { ...others, modelCards: frozenCards(modelCards) };
}

/** Copies, because they may be a source's own. Plugins see an endpoint as it is, and so all of it is frozen. */
function frozenCards(cards: NonNullable<Endpoint["modelCards"]>): Endpoint["modelCards"] {
  return Object.freeze(Object.fromEntries(Object.entries(cards).map(([name, card]) => [name, Object.freeze({ ...card })])));
}

function hasSameLabels(one: Endpoint["labels"], other: Endpoint["labels"]): boolean {
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}
