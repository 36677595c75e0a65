import type { EndpointSpec } from "./contract/endpoint.ts";
import { parseEndpointUrl } from "./contract/endpoint-url.ts";
import { z } from "./contract/options.ts";
import type { Definition, PluginKind } from "./contract/plugin.ts";
import { thrownMessage } from "./contract/thrown-text.ts";
import { isSectionModule } from "./control/section-instances.ts";
import type { PluginEntry, ProfileRef, RouterPlan } from "./router-config.ts";
import type { NumberRow } from "./settings/row.ts";
import { DEFAULT_LISTEN, LIMITS, PROBE, PROBE_DEFAULTS } from "./settings/tables.ts";
import { DEFAULT_SETTINGS, type Limits, type ProbeSpec, type Probes } from "./settings.ts";

/** A module of a router: its definition, or the definition with what a config would say of it. */
export type CoreModule =
  | Definition
  | {
      readonly use: Definition;
      /** Default its type. */
      readonly name?: string;
      readonly options?: unknown;
      /** Of a scorer; default 1. */
      readonly weight?: number;
    };

/** A replica; its name is by default that of its address. */
export interface CoreEndpoint extends Partial<EndpointSpec> {
  readonly url: string;
}

/** What a router is made of, where no config file says it. */
export interface CoreOptions {
  /**
   * Everything that runs, in this order: parsers, filters, scorers, one picker, sources, features and others. Rewrites are the options of
   * the module "model-rewrite". A feature with a section of the config is refused: what the section says is checked against the listed
   * plugins and the rules, and brings plugins, a profile and settings with it, which only the reader of a config does. A built-in module
   * that reads a secret needs a config too; one of your own has its secrets from your program.
   */
  readonly modules: readonly CoreModule[];
  /** Addresses of replicas, or more about each; may be left out where a module of the kind "discovery" finds them. */
  readonly endpoints?: readonly (string | CoreEndpoint)[];
  /** The pool's name; default "default". */
  readonly pool?: string;
  /** Times in milliseconds, sizes in bytes. Default those of the config. */
  readonly limits?: Partial<Limits>;
  /** How replicas are asked whether they may get requests. What is left out is as in the config. */
  readonly probes?: CoreProbes;
}

type CoreProbes = { readonly [Name in keyof Probes]?: Partial<ProbeSpec> };

/** What can't run. The message says what to write instead. */
export class CoreError extends Error {
  override readonly name = "CoreError";
}

interface Used {
  readonly entry: PluginEntry;
  readonly definition: Definition;
  readonly weight: number | undefined;
}

/** The plan of a router with these modules and no others. Throws CoreError. */
export function corePlan({ modules, endpoints = [], pool = "default", limits = {}, probes = {} }: CoreOptions): RouterPlan {
  const specs = endpoints.map(endpointOf);
  const listed = modules.map(usedOf);
  const used =
    specs.length === 0
      ? listed
      : [...listed, usedOf({ use: given as Definition, name: "endpoints", options: { endpoints: specs } })];
  checkNames(
    "module",
    used.map(({ entry }) => entry.name),
  );
  checkNames(
    "endpoint",
    specs.map(({ name }) => name),
  );
  need(used, "parser", "a module that reads requests, such as plugins/parsers/chat-completions.ts");
  need(used, "picker", "a module that picks the endpoint, such as plugins/pickers/max-score.ts");
  need(used, "discovery", "endpoints, or a module that finds them");
  const pickers = used.filter(({ definition }) => definition.kind === "picker");
  if (pickers.length > 1)
    throw new CoreError(`There is one picker in a router, not ${pickers.map(({ entry }) => entry.name).join(" and ")}.`);
  return {
    config: {
      listen: DEFAULT_LISTEN,
      admin: undefined,
      pool: { name: pool, endpoints: specs, probes: probesOf(probes) },
      plugins: used.map(({ entry }) => entry),
      profile: { name: "default", plugins: used.flatMap(profileRef) },
      others: new Map(),
      rewrites: [],
      objectives: [],
      shuffled: new Set(),
      features: new Map(),
      settings: { ...DEFAULT_SETTINGS, limits: limitsOf(limits) },
    },
    definitions: new Map(used.map(({ entry, definition }) => [entry.name, definition])),
    sections: [],
  };
}

/** The endpoints of the options. */
const given: Definition<"discovery", { readonly endpoints: readonly EndpointSpec[] }> = {
  kind: "discovery",
  type: "endpoints",
  summary: "The endpoints that the program gives.",
  options: z.strictObject({ endpoints: z.array(z.custom<EndpointSpec>()) }),
  create: ({ endpoints }) => ({ start: (found) => found(endpoints) }),
};

function usedOf(module: CoreModule): Used {
  const { use, name = use.type, options = {}, weight } = "use" in module ? module : { use: module };
  if (isSectionModule(use))
    throw new CoreError(`The feature "${use.type}" needs a section of a config: createRouter of "signalbox" runs it.`);
  if (weight !== undefined && use.kind !== "scorer")
    throw new CoreError(`The module "${name}" is a ${use.kind}, and only scorers have a weight: leave it out.`);
  if (weight !== undefined && !(weight >= 0 && weight < Number.POSITIVE_INFINITY))
    throw new CoreError(`The weight of the module "${name}" must be a number from 0 up.`);
  const entry = { name, type: use.type, from: undefined, file: "", folder: ".", position: undefined };
  return { entry: { ...entry, parameters: parametersOf(use, name, options) }, definition: use, weight };
}

function parametersOf(definition: Definition, name: string, options: unknown): unknown {
  const result = definition.options["~standard"].validate(options);
  if (result instanceof Promise)
    throw new CoreError(`The schema of the module "${name}" is asynchronous: write one that is not.`);
  if (result.issues === undefined) return result.value;
  const texts = result.issues.map(({ path = [], message }) => [...path, message].map(String).join(": "));
  throw new CoreError(`The options of the module "${name}" do not fit: ${texts.join("; ")}.`);
}

function profileRef({ entry: { name: pluginRef }, definition: { kind }, weight = 1 }: Used): readonly ProfileRef[] {
  if (kind === "scorer") return [{ pluginRef, weight }];
  return kind === "filter" || kind === "picker" ? [{ pluginRef }] : [];
}

function endpointOf(given: NonNullable<CoreOptions["endpoints"]>[number]): EndpointSpec {
  const { url, name, labels = {}, ...more } = typeof given === "string" ? { url: given } : given;
  try {
    const { href, hostname, port } = parseEndpointUrl(url);
    return { ...more, name: name ?? `${hostname}-${port}`, url: href, labels };
  } catch (thrown) {
    throw new CoreError(`An endpoint can't be used: ${thrownMessage(thrown)}`);
  }
}

function need(used: readonly Used[], kind: PluginKind, what: string): void {
  if (!used.some(({ definition }) => definition.kind === kind)) throw new CoreError(`A router needs a ${kind}: give it ${what}.`);
}

function checkNames(what: string, names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new CoreError(`Two ${what}s are called "${twice}": give one of them another name.`);
}

function limitsOf(limits: Partial<Limits>): Limits {
  checkNumbers("limit", LIMITS, limits);
  return { ...DEFAULT_SETTINGS.limits, ...limits };
}

function probesOf(probes: CoreProbes): Probes {
  for (const [name, { path = "/", ...numbers }] of Object.entries(probes)) {
    if (!Object.hasOwn(PROBE_DEFAULTS, name)) throw unknown("probe", name, PROBE_DEFAULTS);
    if (!path.startsWith("/")) throw new CoreError(`The path of the probe ${name} must begin with "/".`);
    checkNumbers(`number of the probe ${name}`, PROBE, numbers);
  }
  const { startup, liveness, readiness } = PROBE_DEFAULTS;
  return {
    startup: { ...startup, ...probes.startup },
    liveness: { ...liveness, ...probes.liveness },
    readiness: { ...readiness, ...probes.readiness },
  };
}

function checkNumbers(what: string, rows: Readonly<Record<string, NumberRow>>, values: object): void {
  for (const [name, value] of Object.entries(values)) {
    const row = Object.hasOwn(rows, name) ? rows[name] : undefined;
    if (row === undefined) throw unknown(what, name, rows);
    if (!(typeof value === "number" && value >= row.min && value <= row.max))
      throw new CoreError(`The ${what} ${name} must be from ${row.min} to ${row.max}.`);
  }
}

function unknown(what: string, name: string, known: object): CoreError {
  return new CoreError(`There is no ${what} "${name}"; there are ${Object.keys(known).join(", ")}.`);
}
