import type { ProfileConfig } from "../../config/config.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { secretAt } from "../../config/read/secret.ts";
import type { ActiveConfig, Named, Profile, WeightedScorer } from "../active-config.ts";
import type { Admission } from "../contract/admission.ts";
import type { Detector } from "../contract/detector.ts";
import type { Discovery } from "../contract/discovery.ts";
import type { Log } from "../contract/log.ts";
import { nameSet } from "../contract/name-set.ts";
import type { Observer } from "../contract/observer.ts";
import type { Parser } from "../contract/parser.ts";
import type { PluginHost, PluginKind, PluginKinds, PrefixSettings } from "../contract/plugin.ts";
import { assertShape } from "../contract/response-shape.ts";
import type { Source } from "../contract/source.ts";
import { thrownText } from "../contract/thrown-text.ts";
import { guarded } from "./guarded-plugin.ts";
import type { KeptState } from "./kept-state.ts";
import { makePlugin } from "./make-plugin.ts";
import { PluginError } from "./plugin-error.ts";

/** What the process that runs the plugins gives them. */
export type HostServices = Pick<PluginHost, "clock" | "random" | "log" | "output">;

/** Live plugins made from one config. A set is built, published, and disposed when no request needs it any more. */
export interface PluginSet {
  readonly active: ActiveConfig;
  readonly discoveries: readonly Named<Discovery>[];
  readonly sources: readonly Named<Source>[];
  readonly detectors: readonly Named<Detector>[];
  /** Settings of the prefix index; undefined when no plugin reads prefixes. */
  readonly prefixSettings: PrefixSettings | undefined;
  /**
   * The set is replaced: disposes what requests do not use (discoveries, sources, detectors), after aborting its signal. A second
   * call does nothing.
   */
  retire(): void;
  /** No request uses it any more: disposes all of it, in reverse order of creation. A second call does nothing. */
  dispose(): void;
}

/** One plugin instance of the config. */
interface Instance extends Named<PluginKinds[PluginKind]> {
  readonly kind: PluginKind;
}

/** Kinds that only the control plane uses. */
const CONTROL_KINDS: ReadonlySet<PluginKind> = new Set(["discovery", "source", "detector"]);

/** Kinds that see the bytes of requests on their way. */
const GUARDED_KINDS: ReadonlySet<PluginKind> = new Set(["parser", "filter", "scorer", "picker", "observer"]);

/** Instances with one end: their signal is aborted, then they are disposed. */
class Lifetime {
  readonly instances: Instance[] = [];
  readonly #stopping = new AbortController();

  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  end(log: Log): void {
    if (this.signal.aborted) return;
    this.#stopping.abort();
    for (const instance of this.instances.reverse()) disposeOne(instance, log);
  }
}

const PREFIX_DEFAULTS: PrefixSettings = { blockBytes: 256, maxBytes: 64 * 1024 * 1024, countGenerated: false };

/**
 * Makes every plugin instance of the config; `kept` holds state that outlives the set. When one can't be made, disposes those
 * made before it and throws PluginError. Throws an Error when what was made does not fit together.
 */
export function buildPluginSet(loaded: LoadedConfig, services: HostServices, kept: KeptState): PluginSet {
  const control = new Lifetime();
  const requests = new Lifetime();
  const retire = () => control.end(services.log);
  const dispose = () => {
    retire();
    requests.end(services.log);
  };
  const lifetimeOf = (kind: PluginKind) => (CONTROL_KINDS.has(kind) ? control : requests);
  try {
    return { ...assemble(loaded, services, kept, lifetimeOf), retire, dispose };
  } catch (thrown) {
    dispose();
    throw thrown;
  }
}

/** Adds each instance to its lifetime as soon as it is made, so that the caller can dispose them after a failure. */
function assemble(
  { config, definitions }: LoadedConfig,
  services: HostServices,
  kept: KeptState,
  lifetimeOf: (kind: PluginKind) => Lifetime,
): Omit<PluginSet, "retire" | "dispose"> {
  const instances: Instance[] = [];
  const prefixRequests: Partial<PrefixSettings>[] = [];
  for (const entry of config.plugins) {
    const { name, type, file, folder, secrets } = entry;
    const definition = definitions.get(name);
    if (definition === undefined) throw new Error(`The plugin "${name}" has no definition`);
    const lifetime = lifetimeOf(definition.kind);
    const host: PluginHost = {
      ...services,
      name,
      folder,
      signal: lifetime.signal,
      keep: (version, make) => kept.get(type, name, version, make),
      secret: (from) => secretAt(from, secrets),
      plugins: (kind) => instances.filter((each) => each.kind === kind).map(({ name, plugin }) => ({ name, plugin })),
      usePrefixIndex: (settings) => prefixRequests.push(settings),
    };
    const plugin = makePlugin(definition, entry, host);
    const instance = { kind: definition.kind, name, type, file, plugin };
    lifetime.instances.push(instance);
    const isGuarded = entry.from !== undefined && GUARDED_KINDS.has(definition.kind);
    instances.push(isGuarded ? { ...instance, plugin: guarded(plugin) } : instance);
  }
  // An instance's kind determines its contract, but the compiler can't follow that through the list.
  const ofKind = <Kind extends PluginKind>(kind: Kind) =>
    instances.filter((instance) => instance.kind === kind) as unknown as Named<PluginKinds[Kind]>[];
  const rewriters = ofKind("rewriter");
  const mappings = rewriters.flatMap(({ plugin }) => plugin.mappings ?? []);
  const observers = ofKind("observer");
  return {
    active: {
      pool: config.pool.name,
      routes: routesOf(ofKind("parser")),
      authenticators: someOf(ofKind("authenticator")),
      rewriters,
      targets: nameSet(mappings.flatMap(({ targets }) => targets.map(({ name }) => name))),
      profile: { ...buildProfile(config.profile, ofKind), clientModels: rewriters.flatMap(({ plugin }) => plugin.clientModels) },
      others: new Map([...config.others].map(([key, profile]) => [key, buildProfile(profile, ofKind)])),
      admission: onlyOne(ofKind("admission")),
      observers,
      tracer: tracerOf(observers),
      settings: config.settings,
      features: config.features,
    },
    discoveries: ofKind("discovery"),
    sources: ofKind("source"),
    detectors: ofKind("detector"),
    prefixSettings: mergePrefixSettings(prefixRequests),
  };
}

/** Undefined for none, so that requests need not look. */
function someOf<Each>(list: readonly Each[]): readonly Each[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** Logs a failure, so that the other plugins are disposed too. */
function disposeOne({ name, plugin }: Instance, log: Log): void {
  try {
    plugin.dispose?.();
  } catch (thrown) {
    log.warn("A plugin failed while it was disposed", { plugin: name, fault: thrownText(thrown) });
  }
}

/** Throws an Error if there are two: a request has one trace. */
function tracerOf(observers: readonly Named<Observer>[]): ActiveConfig["tracer"] {
  const [tracer, second] = observers.filter(
    (observer): observer is NonNullable<ActiveConfig["tracer"]> & Named<Observer> => observer.plugin.trace !== undefined,
  );
  if (second === undefined) return tracer;
  throw new Error(`Two plugins trace requests ("${tracer?.name}" and "${second.name}"): list only one of them`);
}

/** Throws an Error if there are two: requests wait in one line. */
function onlyOne(admissions: readonly Named<Admission>[]): ActiveConfig["admission"] {
  const [first, second] = admissions;
  if (second === undefined) return first;
  throw new Error(`Two plugins put waiting requests in order ("${first?.name}" and "${second.name}"): list only one of them`);
}

function routesOf(parsers: readonly Named<Parser>[]): ActiveConfig["routes"] {
  const routes = new Map<string, Map<string, Named<Parser>>>();
  for (const parser of parsers) {
    checkShapes(parser);
    for (const { method, path } of parser.plugin.routes) {
      const methods = routes.get(path) ?? new Map<string, Named<Parser>>();
      routes.set(path, methods.set(method, parser));
    }
  }
  return routes;
}

function checkShapes({ name, plugin }: Named<Parser>): void {
  try {
    for (const shape of Object.values(plugin.responses ?? {})) assertShape(shape);
  } catch (cause) {
    throw new PluginError(name, `What the parser "${name}" says of its responses can't be used`, cause);
  }
}

function buildProfile(
  { name, plugins }: ProfileConfig,
  ofKind: <Kind extends PluginKind>(kind: Kind) => Named<PluginKinds[Kind]>[],
): Profile {
  const inOrder = <Plugin>(all: readonly Named<Plugin>[]) =>
    plugins.flatMap((ref) => all.filter((instance) => instance.name === ref.pluginRef));
  const weightOf = (scorer: string) => plugins.find((ref) => ref.pluginRef === scorer)?.weight ?? 1;
  const scorers: WeightedScorer[] = inOrder(ofKind("scorer")).map((scorer) => ({ ...scorer, weight: weightOf(scorer.name) }));
  const [picker] = inOrder(ofKind("picker"));
  if (picker === undefined) throw new Error(`The profile "${name}" has no picker`);
  const all = inOrder<AnyMethods>([...ofKind("filter"), ...scorers, picker]);
  return {
    name,
    filters: all.filter(hasMethod("filter")),
    scorers,
    picker,
    chosen: all.filter(hasMethod("chosen")),
    responseHeaders: all.flatMap(({ plugin }) => plugin.responseHeader?.bind(plugin) ?? []),
  };
}

type AnyMethods = Partial<PluginKinds["filter"] & PluginKinds["scorer"] & PluginKinds["picker"]>;

/** Tests whether an instance of any kind takes part in one stage. */
function hasMethod<Method extends keyof AnyMethods>(method: Method) {
  return (instance: Named<AnyMethods>): instance is Named<AnyMethods & Required<Pick<AnyMethods, Method>>> =>
    instance.plugin[method] !== undefined;
}

/** All plugins share one prefix index, so their settings must agree. Throws an Error where they do not. */
function mergePrefixSettings(requests: readonly Partial<PrefixSettings>[]): PrefixSettings | undefined {
  if (requests.length === 0) return undefined;
  const agreed = <Key extends keyof PrefixSettings>(key: Key): PrefixSettings[Key] => {
    const [value = PREFIX_DEFAULTS[key], ...others] = new Set(requests.flatMap((request) => request[key] ?? []));
    if (others.length === 0) return value;
    const asked = [value, ...others].join(", ");
    throw new Error(`Two plugins ask for different ${key} (${asked}): they share one prefix index, so give it only once`);
  };
  return { blockBytes: agreed("blockBytes"), maxBytes: agreed("maxBytes"), countGenerated: agreed("countGenerated") };
}
