import type { Admission } from "./admission.ts";
import type { Authenticator } from "./authenticator.ts";
import type { Clock } from "./clock.ts";
import type { Detector } from "./detector.ts";
import type { Discovery } from "./discovery.ts";
import type { Feature } from "./feature.ts";
import type { Filter } from "./filter.ts";
import type { Log } from "./log.ts";
import type { Need, ReportedNumber } from "./need.ts";
import type { Observer } from "./observer.ts";
import { type OptionSchema, z } from "./options.ts";
import type { Parser } from "./parser.ts";
import type { Picker } from "./picker.ts";
import type { Random } from "./profile-plugin.ts";
import type { Rewriter } from "./rewriter.ts";
import type { Scorer } from "./scorer.ts";
import type { Secret } from "./secret.ts";
import type { Source } from "./source.ts";
import type { TlsOptions } from "./tls-options.ts";

/**
 * The contract of each kind of plugin. A plugin is a plain object that its definition's `create` makes. Packages may have kinds of their
 * own, with a slash in the name: `defineKind`.
 */
export interface PluginKinds {
  readonly authenticator: Authenticator;
  readonly parser: Parser;
  readonly rewriter: Rewriter;
  readonly filter: Filter;
  readonly scorer: Scorer;
  readonly picker: Picker;
  readonly admission: Admission;
  readonly discovery: Discovery;
  readonly source: Source;
  readonly detector: Detector;
  readonly observer: Observer;
  readonly feature: Feature;
  readonly [own: `${string}/${string}`]: OwnPlugin;
}

export type PluginKind = keyof PluginKinds;

/** Of a kind that the router does not know: other plugins call it. */
export interface OwnPlugin {
  dispose?(): void;
}

/** What a plugin file says of a plugin type. A type without `options` takes no parameters. */
interface Declared<Plugin, Options> {
  /** The string in the config; for a built-in also its file name. */
  readonly type: string;
  /** One sentence, shown in lists of plugins. */
  readonly summary: string;
  readonly options?: OptionSchema<Options>;
  /** An instance runs where the config lists none of this type. It has no effect in a module that the config names: that is listed. */
  readonly runsByDefault?: boolean;
  /** The version of the contract that it was written for, as `CONTRACT_VERSION` was then. Left out: the present one. */
  readonly contract?: string;
  /** Kinds of packages' own that its instances call, by `host.plugins`. */
  readonly uses?: readonly PluginKind[];
  /** Names of the attributes that a source of this type gives (`LoadView.attributes`). */
  readonly gives?: readonly string[];
  /** Names of the attributes that an instance with these options reads: a config in which no source gives one is refused. */
  reads?(options: Options): readonly string[];
  /** The numbers that a source of this type may read of replicas. Left out: any. */
  readonly reports?: readonly ReportedNumber[];
  /** What a filter or scorer with these options goes by: where no replica has it, `check` and the status warn. */
  needs?(options: Options): readonly Need[];
  /** Names of parameters that are accepted and change nothing, where another router's config may have them. */
  readonly ignores?: readonly string[];
  /**
   * Loads what the type needs and most programs can do without, such as an optional package: called for each listed instance while the
   * config is read. Rejects with an Error that says what to do.
   */
  load?(): Promise<void>;
  /** Where the secrets of these options are (env:NAME, file:PATH). They are read with the config; `host.secret` has them then. */
  secrets?(options: Options): readonly string[];
  /** How a source's own server is spoken to at https (`SourceOrigin.tlsOfPlugin`). The files are read with the config, and again when they change. */
  tls?(options: Options): TlsOptions | undefined;
  /** Makes one instance, before the config takes effect. Throws an Error that says what to change if that is not possible. */
  create(options: Options, host: PluginHost): Plugin;
}

/** A plugin type: what a plugin file exports as its default. */
export interface Definition<Kind extends PluginKind = PluginKind, Options = unknown>
  extends Declared<PluginKinds[Kind], Options> {
  readonly kind: Kind;
  readonly options: OptionSchema<Options>;
}

/** The services of the router that every plugin gets. */
export interface HostServices {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly output: Output;
}

/** What `create` gets from the router: clock, random numbers, log, output, and state. A plugin uses these, not globals. */
export interface PluginHost extends HostServices {
  /** The instance's name in the config. */
  readonly name: string;
  /** Where relative paths in the parameters begin: the folder of the config file that lists the instance. */
  readonly folder: string;
  /**
   * Aborted just before the instance is disposed: when the router stops, and when the config that made it is replaced. Then
   * discoveries, sources and detectors end at once, the others after the last request that began with that config.
   */
  readonly signal: AbortSignal;
  /**
   * State that outlives a reload of the config. The first call makes it; an instance with the same name and type in the next
   * config gets the same object. With another `version` it is made again: raise it when the state's shape changes.
   *
   * @example
   * const counts = host.keep(1, () => new Map<string, number>());
   */
  keep<State>(version: number, make: () => State): State;
  /** The secret at this place, which the definition's `secrets` named. Throws an Error for any other place. */
  secret(from: string): Secret;
  /** The instances of a kind that the config lists: in `create` those that stand before this one, later all. */
  plugins(kind: PluginKind): readonly NamedPlugin[];
  /**
   * Declares that the plugin reads `request.prefix`, and with which settings. A router has one prefix index: if no plugin calls
   * this, no prompt is hashed; if two plugins ask for different settings, that is a config error.
   */
  usePrefixIndex(settings: Partial<PrefixSettings>): void;
}

/** An instance, by its name in the config. */
export interface NamedPlugin<Plugin = unknown> {
  readonly name: string;
  readonly plugin: Plugin;
}

/** The program's standard output. */
interface Output {
  /** Writes one line. */
  print(line: string): void;
  /** True when the output is a terminal, so that people read it. */
  readonly isTerminal: boolean;
}

export interface PrefixSettings {
  /** Prompt bytes in each of the first hashed blocks; later blocks grow. */
  readonly blockBytes: number;
  /** Memory bound of the whole index. */
  readonly maxBytes: number;
  /** Whether generated text takes room in the replicas' caches. */
  readonly countGenerated: boolean;
}

const NO_OPTIONS = z.strictObject({}) as OptionSchema<never>;

const define =
  <Kind extends PluginKind>(kind: Kind) =>
  <O>(plugin: Declared<PluginKinds[Kind], O>): Definition<Kind, O> => ({ kind, options: NO_OPTIONS, ...plugin });

export const defineAuthenticator = define("authenticator");
export const defineParser = define("parser");
export const defineRewriter = define("rewriter");
export const defineFilter = define("filter");
/**
 * @example
 * export default defineScorer({
 *   type: "fewest-in-flight",
 *   summary: "Prefers the endpoint with the fewest requests in flight.",
 *   create: () => ({
 *     score: (_request, candidates, load) => candidates.map(({ slot }) => 1 / (1 + load.inFlight(slot))),
 *   }),
 * });
 */
export const defineScorer = define("scorer");
export const definePicker = define("picker");
export const defineAdmission = define("admission");
export const defineDiscovery = define("discovery");
export const defineSource = define("source");
export const defineDetector = define("detector");
export const defineObserver = define("observer");
export const defineFeature = define("feature");

/** A kind of plugin that the router does not know: one package says what its plugins are, others define some, others call them. */
interface OwnKind<Plugin extends object> {
  readonly kind: `${string}/${string}`;
  define<Options>(plugin: Declared<Plugin, Options>): Definition<`${string}/${string}`, Options>;
  /** Those that the config lists, for a plugin whose definition has the kind in its `uses`. */
  of(host: PluginHost): readonly NamedPlugin<Plugin>[];
}

/**
 * @example
 * const tokenizers = defineKind("acme/tokenizer");
 * const words = tokenizers.define({
 *   type: "words",
 *   summary: "Counts words.",
 *   create: () => ({ count: (text) => text.split(" ").length }),
 * });
 */
export function defineKind<Plugin extends object>(kind: `${string}/${string}`): OwnKind<Plugin> {
  return {
    kind,
    define: define(kind) as OwnKind<Plugin>["define"],
    of: (host) => host.plugins(kind) as readonly NamedPlugin<Plugin>[],
  };
}
