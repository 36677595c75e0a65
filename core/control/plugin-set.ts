import type { LoadedConfig } from "../../config/load.ts";
import type { ActiveConfig, Named, Profile, WeightedScorer } from "../active-config.ts";
import { checkPages } from "../admin/pages.ts";
import type { Clock } from "../contract/clock.ts";
import type { Log } from "../contract/log.ts";
import type {
  Discovery,
  Parser,
  PluginHost,
  PluginKind,
  PluginKinds,
  PrefixSettings,
  Random,
  Source,
} from "../contract/plugin.ts";

/** What plugins get from the process that runs them. */
export interface HostServices {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly print: (line: string) => void;
  readonly isTerminal: boolean;
}

/** Live plugins made from a config. */
export interface PluginSet {
  readonly active: ActiveConfig;
  readonly discoveries: readonly Named<Discovery>[];
  readonly sources: readonly Named<Source>[];
  /** Settings of the prefix index; undefined when no plugin reads prefixes. */
  readonly prefixSettings: PrefixSettings | undefined;
}

const PREFIX_DEFAULTS: PrefixSettings = { blockBytes: 256, maxBytes: 64 * 1024 * 1024, countGenerated: false };

/** Makes every instance of the config; throws an Error that names the instance when one can't be made. */
export function buildPluginSet({ config, definitions }: LoadedConfig, world: HostServices, signal: AbortSignal): PluginSet {
  const prefixRequests: Partial<PrefixSettings>[] = [];
  const instances = config.plugins.map((entry) => {
    const definition = definitions.get(entry.name);
    if (definition === undefined) throw new Error(`The plugin "${entry.name}" has no definition`);
    const host: PluginHost = { ...world, name: entry.name, signal, usePrefixIndex: (settings) => prefixRequests.push(settings) };
    const plugin = definition.create(entry.parameters, host);
    return { kind: definition.kind, name: entry.name, type: entry.type, plugin };
  });

  const ofKind = <Kind extends PluginKind>(kind: Kind): Named<PluginKinds[Kind]>[] =>
    // The kind tells which contract the instance has; the compiler can't follow that through the list.
    instances.filter((instance) => instance.kind === kind) as unknown as Named<PluginKinds[Kind]>[];

  const parsers = ofKind("parser");
  const observers = ofKind("observer");
  checkPages(observers);
  const active: ActiveConfig = {
    pool: config.pool.name,
    routes: routesOf(parsers),
    rewriters: ofKind("rewriter"),
    profile: buildProfile(config.profile, ofKind),
    observers,
    settings: config.settings,
    startedAtS: Math.floor(world.clock.wall() / 1000),
  };
  return {
    active,
    discoveries: ofKind("discovery"),
    sources: ofKind("source"),
    prefixSettings: mergePrefixSettings(prefixRequests),
  };
}

function routesOf(parsers: readonly Named<Parser>[]): ActiveConfig["routes"] {
  const routes = new Map<string, Map<string, Named<Parser>>>();
  for (const parser of parsers) {
    for (const { method, path } of parser.plugin.routes) {
      const methods = routes.get(path) ?? new Map<string, Named<Parser>>();
      routes.set(path, methods.set(method, parser));
    }
  }
  return routes;
}

function buildProfile(
  profile: LoadedConfig["config"]["profile"],
  ofKind: <Kind extends PluginKind>(kind: Kind) => Named<PluginKinds[Kind]>[],
): Profile {
  const inOrder = <Plugin>(all: readonly Named<Plugin>[]) =>
    profile.plugins.flatMap((ref) => all.filter((instance) => instance.name === ref.pluginRef));
  const weightOf = (name: string) => profile.plugins.find((ref) => ref.pluginRef === name)?.weight ?? 1;
  const scorers: WeightedScorer[] = inOrder(ofKind("scorer")).map((scorer) => ({ ...scorer, weight: weightOf(scorer.name) }));
  const halves = scorers.flatMap(({ name, type, plugin }) => (plugin.asFilter ? [{ name, type, plugin: plugin.asFilter }] : []));
  const filters = inOrder([...ofKind("filter"), ...halves]);
  const [picker] = inOrder(ofKind("picker"));
  if (picker === undefined) throw new Error(`The profile "${profile.name}" has no picker`);
  const responseHeaders = [...filters, ...scorers].flatMap(({ plugin }) => plugin.responseHeader?.bind(plugin) ?? []);
  return { name: profile.name, filters, scorers, picker, responseHeaders };
}

/** One index serves all who read it, so they must agree. */
function mergePrefixSettings(requests: readonly Partial<PrefixSettings>[]): PrefixSettings | undefined {
  if (requests.length === 0) return undefined;
  return {
    blockBytes: agreed("blockBytes", requests),
    maxBytes: agreed("maxBytes", requests),
    countGenerated: agreed("countGenerated", requests),
  };
}

function agreed<Key extends keyof PrefixSettings>(key: Key, requests: readonly Partial<PrefixSettings>[]): PrefixSettings[Key] {
  const values = new Set(requests.map((request) => request[key]).filter((value) => value !== undefined));
  if (values.size > 1)
    throw new Error(
      `Two plugins ask for different ${key} (${[...values].join(", ")}): there is one prefix index, so give it once`,
    );
  return [...values][0] ?? PREFIX_DEFAULTS[key];
}
