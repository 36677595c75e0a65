import { isDeepStrictEqual } from "node:util";
import { isMapping } from "../../config/read/problems.ts";
import { parseEndpointUrl } from "../../core/contract/endpoint-url.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";
import { MAX_SLOTS } from "../../core/state/load.ts";
import { type Effect, type Finding, notUnderstood, type Taken } from "./finding.ts";

interface EndpointExtras {
  readonly labels?: Readonly<Record<string, string>>;
  readonly auth?: { readonly bearer: string };
}

/** A replica, as spec.pool.endpoints has it. */
interface DraftEndpoint extends EndpointExtras {
  readonly url: string;
}

/** A pool beside the router's own. */
export interface DraftPool {
  readonly name: string;
  /** Of its replicas, which are among the draft's endpoints. */
  readonly urls: ReadonlySet<string>;
  /** The names that clients write for it. */
  readonly models: ReadonlySet<string>;
  /** As its spec.fallback has them. */
  readonly fallback: (string | { readonly pool: string; readonly modelRewrite: string })[];
  /** The setting that its fallback comes from; "" where it has none. */
  origin: string;
}

/** Names that requests for a name go on to. */
export interface WrittenFallback {
  /** "*": each name that has no other ones. */
  readonly from: string;
  readonly to: readonly unknown[];
  readonly setting: string;
  readonly line: number;
}

/** The config that is being made of a source, and what became of each of its settings. */
export class Draft {
  readonly findings: Finding[] = [];
  /** Of the Router document, without the endpoints. */
  readonly spec: Record<string, unknown> = {};
  /** Where a value of the spec comes from, by its path. */
  readonly origins = new Map<string, string>();
  readonly endpoints: DraftEndpoint[] = [];
  /** Names that stand for another name's replicas, whatever else is said of them; and where that is said. */
  readonly standIns = new Map<string, { readonly model: string; readonly line: number }>();
  /** By name that clients write, the urls of the replicas that have it, where the source says which. */
  readonly places = new Map<string, Set<string>>();
  /** Names that requests go on to, as they are written. */
  readonly fallbacks: WrittenFallback[] = [];
  readonly pools: DraftPool[] = [];
  /** What replicas get for a name that clients write, with weights. */
  readonly aliases = new Map<string, Map<string, number>>();

  /** Paths of the spec whose values nothing overrules, with the setting that each is from: what is switched off stays off. */
  readonly #final = new Map<string, string>();
  /** Settings of which the config has nothing, and why, until they are found. */
  readonly #lost = new Map<string, Taken>();

  find(setting: string, line: number, taken: Taken): void {
    const [effect, why] = isInConfig(taken[0]) ? (this.#lost.get(setting) ?? taken) : taken;
    this.findings.push({ setting, line, effect, why });
  }

  /**
   * Sets a value of the spec; `path` is such as "limits.retries". What an earlier setting put there, or below, is lost, and its finding
   * says so.
   */
  set(path: string, value: unknown, origin: string): void {
    for (const [final, by] of this.#final)
      if (by !== origin && isAtOrBelow(path, final)) {
        this.#lost.set(origin, ["left out", `${by} counts, which sets spec.${final} too`]);
        return;
      }
    const { above, last } = this.#placeOf(path);
    if (isMapping(above) && isDeepStrictEqual(above[last], value)) return;
    this.remove(path, ["left out", `${origin} sets spec.${path} later, and counts`]);
    const keys = path.split(".").slice(0, -1);
    let at = this.spec;
    for (const key of keys) {
      at[key] ??= {};
      at = at[key] as Record<string, unknown>;
    }
    at[last] = value;
    this.origins.set(`spec.${path}`, origin);
  }

  /** Sets a value that no other setting changes. */
  fix(path: string, value: unknown, origin: string): void {
    this.set(path, value, origin);
    this.#final.set(path, origin);
  }

  /** Takes what is at a path and below out of the spec; what set it becomes `taken`. */
  remove(path: string, taken: Taken): void {
    for (const [each, origin] of this.origins)
      if (isAtOrBelow(each, `spec.${path}`)) {
        this.origins.delete(each);
        for (const [index, { setting, line, effect }] of this.findings.entries())
          if (setting === origin && isInConfig(effect)) this.findings[index] = { setting, line, effect: taken[0], why: taken[1] };
      }
    const { above, last } = this.#placeOf(path);
    if (isMapping(above)) delete (above as Record<string, unknown>)[last];
  }

  /** What holds the value at a path, and its key there. */
  #placeOf(path: string) {
    const keys = path.split(".");
    const last = keys.pop()!;
    return { above: keys.reduce<unknown>((at, key) => (isMapping(at) ? at[key] : undefined), this.spec), last };
  }

  /** The profile is these plugins, with the default filters in front. */
  setProfile(types: readonly string[], origin: string): void {
    this.set("profiles", [{ plugins: types.map((pluginRef) => ({ pluginRef })) }], origin);
  }

  /** Adds a replica, once. */
  addEndpoint(text: string, more: EndpointExtras = {}): Taken {
    if (text.includes("$")) return notUnderstood("its address has a variable in it: write the address");
    try {
      const href = endpointUrl(text);
      const listed = this.endpoints.find(({ url }) => url === href);
      if (listed !== undefined)
        return isDeepStrictEqual(listed, { url: href, ...more })
          ? ["taken over", "the replica is listed already"]
          : ["changed", "the replica is listed already, with the labels and the key that it has there"];
      if (this.endpoints.length === MAX_SLOTS) return ["left out", `a router has at most ${MAX_SLOTS} replicas`];
      this.endpoints.push({ url: href, ...more });
      return ["taken over", "spec.pool.endpoints"];
    } catch (thrown) {
      return notUnderstood(thrownMessage(thrown));
    }
  }

  /** Clients write `model` for the replica at an address that was added. */
  addPlace(model: string, text: string): void {
    const urls = this.places.get(model) ?? new Set<string>();
    this.places.set(model, urls.add(endpointUrl(text)));
  }

  /** What was found to become `taken` becomes `instead`. */
  lose(taken: Taken, [effect, why]: Taken): void {
    for (const [index, { setting, line, effect: before, why: because }] of this.findings.entries())
      if (before === taken[0] && because === taken[1]) this.findings[index] = { setting, line, effect, why };
  }

  /** Clients ask for `model`, and replicas get `target`. */
  addAlias(model: string, target: string, weight = 1): void {
    const targets = this.aliases.get(model) ?? new Map<string, number>();
    this.aliases.set(model, targets.set(target, (targets.get(target) ?? 0) + weight));
  }

  get hasReplicas(): boolean {
    return this.endpoints.length > 0 || this.spec["kubernetes"] !== undefined;
  }
}

/** An address as spec.pool.endpoints has it. Throws an Error for what is none. */
function endpointUrl(text: string): string {
  return parseEndpointUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`).href;
}

/** Whether the config has something of a setting that became this. */
const isInConfig = (effect: Effect) => effect === "taken over" || effect === "changed";

const isAtOrBelow = (path: string, above: string) => path === above || path.startsWith(`${above}.`);
