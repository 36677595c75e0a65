import type { ActiveConfig, Named, Profile, RouteParser, WeightedScorer } from "../active-config.ts";
import type { Admission } from "../contract/admission.ts";
import type { Detector } from "../contract/detector.ts";
import type { Discovery } from "../contract/discovery.ts";
import type { Feature } from "../contract/feature.ts";
import type { Log } from "../contract/log.ts";
import { nameSet } from "../contract/name-set.ts";
import type { Observer } from "../contract/observer.ts";
import type { Parser } from "../contract/parser.ts";
import type { Definition, HostServices, PluginHost, PluginKind, PluginKinds, PrefixSettings } from "../contract/plugin.ts";
import { assertShape } from "../contract/response-shape.ts";
import type { Source } from "../contract/source.ts";
import { thrownText } from "../contract/thrown-text.ts";
import { OwnRoutes } from "../own-routes.ts";
import type { PluginEntry, ProfileConfig, RouterPlan } from "../router-config.ts";
import { type RouterAccess, withoutRouter } from "../router-host.ts";
import { pluginNumber, watched, whileIn } from "../runtime/current-plugin.ts";
import { type Having, slotsOf } from "../slots.ts";
import type { KeptState } from "./kept-state.ts";
import { makePlugin } from "./make-plugin.ts";
import { PluginError } from "./plugin-error.ts";
import { secretAt } from "./secret-at.ts";
import { sectionInstances } from "./section-instances.ts";

/** Live plugins that only the control plane uses. */
export interface ControlPlugins {
  readonly discoveries: readonly Named<Discovery>[];
  readonly sources: readonly Named<Source>[];
  readonly detectors: readonly Named<Detector>[];
}

/** Live plugins made from one config. */
export interface LivePlugins extends ControlPlugins {
  readonly active: ActiveConfig;
  /** Settings of the prefix index; undefined when no plugin reads prefixes. */
  readonly prefixSettings: PrefixSettings | undefined;
}

/** They are built together, published, and disposed when no request needs them any more. */
export interface PluginSet extends LivePlugins {
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
export function buildPluginSet(
  loaded: RouterPlan,
  services: HostServices,
  kept: KeptState,
  router: RouterAccess = withoutRouter(services),
): PluginSet {
  const control = new Lifetime();
  const requests = new Lifetime();
  const retire = () => control.end(services.log);
  const dispose = () => {
    retire();
    requests.end(services.log);
  };
  const lifetimeOf = (kind: PluginKind) => (CONTROL_KINDS.has(kind) ? control : requests);
  try {
    return { ...assemble(loaded, services, kept, router, lifetimeOf), retire, dispose };
  } catch (thrown) {
    dispose();
    throw thrown;
  }
}

/** Adds each instance to its lifetime as soon as it is made, so that the caller can dispose them after a failure. */
function assemble(
  { config, definitions, sections, isolate }: RouterPlan,
  services: HostServices,
  kept: KeptState,
  router: RouterAccess,
  lifetimeOf: (kind: PluginKind) => Lifetime,
): LivePlugins {
  const instances: Instance[] = [];
  const prefixRequests: Partial<PrefixSettings>[] = [];
  const isolationOf = isolate?.(services, router.faults, config.settings.limits.featureWaitMs);
  const make = (entry: PluginEntry, definition: Definition) => {
    const { name, type, file, folder, secrets } = entry;
    const lifetime = lifetimeOf(definition.kind);
    const isolation = entry.from === undefined ? undefined : isolationOf!(entry, definition.kind);
    const host: PluginHost = {
      ...(definition.kind === "feature" && isolation === undefined && router),
      ...(isolation?.services ?? services),
      name,
      folder,
      signal: lifetime.signal,
      keep: (version, make) => kept.get(type, name, version, make),
      secret: (from) => secretAt(from, secrets),
      plugins: (kind) => instances.filter((each) => each.kind === kind).map(({ name, plugin }) => ({ name, plugin })),
      usePrefixIndex: (settings) => prefixRequests.push(settings),
    };
    const own = entry.from === undefined ? 0 : pluginNumber(`${name} (${file || entry.from})`);
    const plugin = whileIn(own, () => makePlugin(definition, entry, host));
    const instance = { kind: definition.kind, name, type, file, plugin };
    lifetime.instances.push(instance);
    const safe = isolation === undefined ? plugin : isolation.plugin(plugin);
    instances.push({ ...instance, plugin: own === 0 ? safe : watched(safe, own) });
  };
  for (const { entry, definition } of sectionInstances(sections, config)) make(entry, definition);
  for (const entry of config.plugins) {
    const definition = definitions.get(entry.name);
    if (definition === undefined) throw new Error(`The plugin "${entry.name}" has no definition`);
    make(entry, definition);
  }
  // An instance's kind determines its contract, but the compiler can't follow that through the list.
  const ofKind = <Kind extends PluginKind>(kind: Kind) =>
    instances.filter((instance) => instance.kind === kind) as unknown as Named<PluginKinds[Kind]>[];
  const rewriters = ofKind("rewriter");
  const mappings = rewriters.flatMap(({ plugin }) => plugin.mappings ?? []);
  const observers = ofKind("observer");
  const modules: readonly Named<Feature>[] = ofKind("feature");
  return {
    active: {
      pool: config.pool.name,
      routes: routesOf(ofKind("parser"), modules),
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
      modules,
      slots: slotsOf(modules),
      ownRoutes: new OwnRoutes(modules),
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

function routesOf(parsers: readonly Named<Parser>[], features: readonly Named<Feature>[]): ActiveConfig["routes"] {
  const routes = new Map<string, Map<string, RouteParser>>();
  const read = features.flatMap(({ plugin }) => plugin.bodyKeys ?? []);
  for (const parser of parsers) {
    checkShapes(parser);
    const { keys } = parser.plugin;
    // A body that its parser does not read may be no JSON.
    const route = { ...parser, keys: keys.length === 0 ? keys : [...new Set([...keys, ...read])] };
    for (const { method, path } of parser.plugin.routes) {
      const methods = routes.get(path) ?? new Map<string, RouteParser>();
      routes.set(path, methods.set(method, route));
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
  return (instance: Named<AnyMethods>): instance is Named<Having<AnyMethods, Method>> => instance.plugin[method] !== undefined;
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
