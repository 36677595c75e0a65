import type { PoolsConfig } from "../../../config/pools/schema.ts";
import type { ActiveConfig } from "../../../core/active-config.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { ParsedBody } from "../../../core/contract/request.ts";
import type { TargetDraw, TargetMapping } from "../../../core/contract/rewriter.ts";
import { drawTarget } from "../../../core/request/draw-target.ts";
import { mayBeLoaded } from "../../../core/request/on-demand.ts";
import type { RouterParts } from "../../../core/router-parts.ts";
import type { Head } from "../../../core/wire/head.ts";
import { type HeldPool, ownPlace, type PoolPlace, poolPlace } from "./pool-place.ts";
import { type Selector, selected, selectorsOf, whySelected } from "./selection.ts";

type Target = TargetMapping["targets"][number];

/** Where a request goes, and why. */
export interface Chosen {
  readonly place: PoolPlace;
  /** The target, where drawing it decided. */
  readonly draw: TargetDraw | undefined;
  readonly why: string;
}

/** A request, as far as its pool is chosen by it. */
export interface AskedPlace {
  readonly parsed: ParsedBody;
  readonly head: Head;
  readonly key: string;
}

/** All pools as the requests of one config use them. */
export class Places {
  readonly own: PoolPlace;
  readonly #front: ActiveConfig;
  readonly #byName: ReadonlyMap<string, PoolPlace>;
  readonly #selectors: readonly Selector[];
  readonly #reasons: ReadonlyMap<Selector, string>;
  /** Models whose targets may be in more than one pool; undefined: those of every model may be. */
  readonly #crossing: { has(model: string): boolean };
  readonly #hasOwn: boolean;

  /** `parts` are the front's. */
  constructor({ own, pools, hasOwnReplicas }: PoolsConfig, held: readonly HeldPool[], front: ActiveConfig, parts: RouterParts) {
    const keys = new Set(held.flatMap(({ inner }) => inner.modules.map(({ name }) => name)));
    this.#front = front;
    this.#hasOwn = hasOwnReplicas;
    this.own = ownPlace(front, parts, own, keys);
    const places = held.map((pool) => poolPlace(pool, front, parts));
    this.#byName = new Map([this.own, ...places].map((place) => [place.name, place]));
    this.#selectors = selectorsOf(pools);
    this.#reasons = new Map(this.#selectors.map((selector) => [selector, whySelected(selector)]));
    this.#crossing = crossingModels(front, this.#selectors);
  }

  /** Undefined for a pool that this config does not have. */
  named(name: string): PoolPlace | undefined {
    return this.#byName.get(name);
  }

  /** `isDry`: no draw counts. `without`: pools whose targets do not take part where the rule redistributes. Throws RouterError for a request that no pool is for. */
  choose(asked: AskedPlace, isDry = false, without: readonly string[] = []): Chosen {
    const { model } = asked.parsed;
    const draw = this.#crossing.has(model) ? this.#draw(asked, without, isDry) : undefined;
    if (draw?.pool !== undefined) {
      const why = `The pool "${draw.pool}" is that of the target "${draw.target}" of the rule ${draw.rule}.`;
      return { place: this.#byName.get(draw.pool) ?? this.own, draw, why };
    }
    const found = this.#selected(asked, draw?.target ?? "");
    if (found !== undefined) return { place: this.#byName.get(found.name)!, draw, why: this.#reasons.get(found)! };
    if (!this.#hasOwn) throw nobodyFor(model);
    return { place: this.own, draw, why: `No Pool document asks for it, so it is for the router's own pool "${this.own.name}".` };
  }

  /** Whether the place may serve what the request would be sent there for. `target`: the model that it gets there, where that is decided. */
  mayServe(place: PoolPlace, { parsed, head }: AskedPlace, target: string | undefined): boolean {
    const { pool, services } = place.parts;
    const load = pool.load.at(services.clock.now());
    const name = target ?? drawTarget(parsed, head, quiet(place.config), pool.facts, load)?.target ?? parsed.model;
    return name === "" || servesIn(place, name);
  }

  #draw({ parsed, head, key }: AskedPlace, without: readonly string[], isDry: boolean): TargetDraw | undefined {
    const { pool, services } = this.own.parts;
    const load = pool.load.at(services.clock.now());
    const isAvailable = (target: Target) => {
      const place = this.#placeOf(target, { parsed, head, key });
      return !without.includes(place.name) && servesIn(place, target.name);
    };
    const config = isDry ? quiet(this.#front) : this.#front;
    return drawTarget(parsed, head, config, pool.facts, load, isAvailable);
  }

  #placeOf({ name, pool }: Target, asked: AskedPlace): PoolPlace {
    const found = pool ?? this.#selected(asked, name)?.name;
    return (found === undefined ? undefined : this.#byName.get(found)) ?? this.own;
  }

  #selected({ parsed, head, key }: AskedPlace, target: string): Selector | undefined {
    return this.#selectors.length === 0
      ? undefined
      : selected(this.#selectors, { model: parsed.model, target, headers: head, key });
  }
}

function servesIn({ config, parts: { pool, services } }: PoolPlace, target: string): boolean {
  const { facts, load } = pool;
  return facts.served.has(target) || mayBeLoaded(target, config, facts, load.at(services.clock.now()));
}

/** Rewriters that count nothing. */
function quiet(config: ActiveConfig): ActiveConfig {
  const rewriters = config.rewriters.map((named) => {
    const { clientModels, preview, draw } = named.plugin;
    return { ...named, plugin: { clientModels, draw: (preview ?? draw).bind(named.plugin) } };
  });
  return { ...config, rewriters };
}

/** The models of rules one of whose targets names a pool, or is a model that a Pool asks for. */
function crossingModels({ rewriters }: ActiveConfig, selectors: readonly Selector[]): { has(model: string): boolean } {
  const crosses = ({ name, pool }: Target) => pool !== undefined || selectors.some(({ hasModel }) => hasModel?.(name) === true);
  const rules = rewriters.flatMap(({ plugin }) => plugin.mappings ?? []).filter(({ targets }) => targets.some(crosses));
  if (rules.some(({ models }) => models.length === 0)) return { has: () => true };
  return new Set(rules.flatMap(({ models }) => models));
}

function nobodyFor(model: string): RouterError {
  const which = model === "" ? "a request without a model" : "this model";
  const message = `No pool is for ${which}, and the router has no replicas of its own; GET /v1/models lists what there is.`;
  return new RouterError("model_not_found", message);
}
