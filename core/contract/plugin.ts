import type { JsonBody } from "../body/json-body.ts";
import type { AdapterUse, Load, ScrapedValues } from "../state/load.ts";
import type { Clock } from "./clock.ts";
import type { RequestRecord } from "./decision.ts";
import type { Endpoint, EndpointSpec } from "./endpoint.ts";
import type { Dialect, RouterError } from "./errors.ts";
import type { Log } from "./log.ts";
import type { OptionSchema } from "./options.ts";
import type { HeaderView, InferenceRequest, ParsedBody } from "./request.ts";
import type { RewriteRule } from "./rewrite-rule.ts";
import type { RouterView } from "./router-view.ts";

// The contracts, in the order a request meets them. A plugin is a plain object made by a typed factory; `define…` below ties
// the factory to its type name and its options. Everything on the request's path is synchronous.

/** What does this body ask for? One parser serves one API. */
export interface Parser {
  /** Paths it serves, by POST unless it says otherwise. */
  readonly routes: readonly Route[];
  readonly dialect: Dialect;
  /** Top-level keys whose spans it wants; empty means the body is not looked at. */
  readonly keys: readonly string[];
  /** Events that a stream begins with before the prompt is worked off; without it, none. */
  readonly openingEvents?: number;
  /** Throws RouterError for a body that can't be routed. */
  parse(body: JsonBody): ParsedBody;
}

/** @public */
export interface Route {
  readonly method: string;
  readonly path: string;
}

/** Which target does the model name stand for? Asked in order; the first answer counts. */
export interface Rewriter {
  /** Names a client may ask for that no replica lists itself. */
  readonly clientModels: readonly string[];
  /** What it goes by, for people to see. */
  readonly rules?: readonly RewriteRule[];
  draw(asked: TargetQuestion): TargetDraw | undefined;
}

export interface TargetQuestion {
  readonly model: string;
  readonly headers: HeaderView;
  /** Models and adapters that ready endpoints serve now. */
  readonly served: ReadonlySet<string>;
}

export interface TargetDraw {
  readonly target: string;
  /** Names the rule, for the decision. */
  readonly rule: string;
}

/** Which candidates may serve it? Returns those that stay, in their order. */
export interface Filter {
  filter(request: InferenceRequest, candidates: readonly Endpoint[], load: Load): readonly Endpoint[];
  /** The answer when nobody is left; without it, 503. `endpoints` is the whole pool. */
  refuse?(request: InferenceRequest, endpoints: readonly Endpoint[]): RouterError;
  /** Called once the request goes to `endpoint`. */
  chosen?(request: InferenceRequest, endpoint: Endpoint): void;
  /** A header line for the answer that `endpoint` gives. */
  responseHeader?(request: InferenceRequest, endpoint: Endpoint): ResponseHeader;
}

export type ResponseHeader = readonly [name: string, value: string];

/** How good is each candidate? */
export interface Scorer {
  /**
   * One number per candidate, in their order, each in [0, 1], 1 is best; null where it has no opinion on one, or on all.
   * A fault (a throw, a wrong length, a number outside the range) counts as no opinion and is recorded.
   */
  score(request: InferenceRequest, candidates: readonly Endpoint[], load: Load): ArrayLike<number | null> | null;
  /** How much its opinion on one candidate counts, in [0, 1]; without it, fully. What is read from old pages speaks softly. */
  confidence?(endpoint: Endpoint, load: Load): number;
  /** A filter that comes with it and runs at its place in the profile. */
  readonly asFilter?: Filter;
  chosen?(request: InferenceRequest, endpoint: Endpoint): void;
  responseHeader?(request: InferenceRequest, endpoint: Endpoint): ResponseHeader;
}

/** In which order are they tried? Best first; the rest are spares. Never empty for a non-empty list. */
export interface Picker {
  pick(candidates: readonly Endpoint[], totals: ArrayLike<number>, random: Random): readonly Endpoint[];
}

/** Which replicas exist? Calls `found` with the whole list now and whenever it changes. */
export interface Discovery {
  start(found: (specs: readonly EndpointSpec[]) => void): void;
}

/** What is true of a replica now? The prober fetches, the source reads. */
export interface Source {
  readonly path: string;
  readonly periodMs: number;
  /** The pause while the replica has no request in flight; without it, `periodMs`. */
  readonly idlePeriodMs?: number;
  /** Facts from a page that came with status 200. Throws on a page it can't read. */
  read(page: string): EndpointFacts;
}

export interface EndpointFacts extends ScrapedValues {
  readonly models?: readonly string[];
  /** Those of the models that are adapters. */
  readonly adapters?: readonly string[];
  readonly adapterUse?: AdapterUse;
  /** Tokens that the KV cache holds. */
  readonly kvCapacityTokens?: number;
}

/** What happened? Plain data after the fact; a throw is logged and changes nothing. */
export interface Observer {
  finished(record: RequestRecord): void;
  /** What it shows on the admin port. */
  readonly pages?: readonly ObserverPage[];
}

export interface ObserverPage {
  /** "/metrics", say; no other observer's page has it. */
  readonly path: string;
  readonly contentType: string;
  /** The page as it is now. Asking for it changes nothing. */
  render(view: RouterView, query: URLSearchParams): string;
}

/** A number in [0, 1). */
export type Random = () => number;

/** What a factory is handed; a plugin has no other way to the world. */
export interface PluginHost {
  /** The instance's name in the config. */
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Writes one line to the standard output. */
  readonly print: (line: string) => void;
  /** True when that output is a terminal. */
  readonly isTerminal: boolean;
  /** Aborted when the instance is replaced or the router stops. */
  readonly signal: AbortSignal;
  /**
   * Declares that the plugin reads `request.prefix`, and with which settings. There is one index per router: without a
   * caller no prompt is hashed, and two callers that ask for different settings are a config error.
   */
  readonly usePrefixIndex: (settings: Partial<PrefixSettings>) => void;
}

export interface PrefixSettings {
  /** Prompt bytes in one hashed block. */
  readonly blockBytes: number;
  /** Memory bound of the whole index. */
  readonly maxBytes: number;
  /** Whether generated text takes room in the replicas' caches. */
  readonly countGenerated: boolean;
}

export interface PluginKinds {
  readonly parser: Parser;
  readonly rewriter: Rewriter;
  readonly filter: Filter;
  readonly scorer: Scorer;
  readonly picker: Picker;
  readonly discovery: Discovery;
  readonly source: Source;
  readonly observer: Observer;
}

export type PluginKind = keyof PluginKinds;

/** A plugin type: what a plugin file exports as its default. */
export interface Definition<Kind extends PluginKind = PluginKind, Options = unknown> {
  readonly kind: Kind;
  /** The string in the config; for a built-in also its file name. */
  readonly type: string;
  /** One sentence for listings. */
  readonly summary: string;
  readonly options: OptionSchema<Options>;
  create(options: Options, host: PluginHost): PluginKinds[Kind];
}

type Declared<Kind extends PluginKind, Options> = Omit<Definition<Kind, Options>, "kind">;

export const defineParser = <O>(plugin: Declared<"parser", O>): Definition<"parser", O> => ({ kind: "parser", ...plugin });
export const defineRewriter = <O>(plugin: Declared<"rewriter", O>): Definition<"rewriter", O> => ({
  kind: "rewriter",
  ...plugin,
});
export const defineFilter = <O>(plugin: Declared<"filter", O>): Definition<"filter", O> => ({ kind: "filter", ...plugin });
export const defineScorer = <O>(plugin: Declared<"scorer", O>): Definition<"scorer", O> => ({ kind: "scorer", ...plugin });
export const definePicker = <O>(plugin: Declared<"picker", O>): Definition<"picker", O> => ({ kind: "picker", ...plugin });
export const defineDiscovery = <O>(plugin: Declared<"discovery", O>): Definition<"discovery", O> => ({
  kind: "discovery",
  ...plugin,
});
export const defineSource = <O>(plugin: Declared<"source", O>): Definition<"source", O> => ({ kind: "source", ...plugin });
export const defineObserver = <O>(plugin: Declared<"observer", O>): Definition<"observer", O> => ({
  kind: "observer",
  ...plugin,
});
