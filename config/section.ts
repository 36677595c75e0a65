import type { z } from "../core/contract/options.ts";
import type { Definition } from "../core/contract/plugin.ts";
import type { PoolPlan, ProfileConfig, RewriteRule } from "../core/router-config.ts";
import type { Settings } from "../core/settings.ts";
import type { Instance, ListedPlugins, PluginParameters } from "./plugins/listed.ts";
import type { Resource } from "./read/fit.ts";
import type { Path, Problem } from "./read/problems.ts";
import type { PlacedRule } from "./rewrites/read.ts";
import type { RewriteDocument } from "./rewrites/schema.ts";
import type { WrittenProfile } from "./schema/profile.ts";

/** The section of a feature in a Router document's spec: how it is read, and how it is shown. */
export interface Section<Written, Config> {
  /** Its key in the spec, and in `features` of the config. */
  readonly key: string;
  /** Has a description, and gives what is left out its default. */
  readonly schema: z.ZodType<Written>;
  /** What a Router document means beside an EndpointPickerConfig that has the section, too. Default: its own section alone. */
  beside?(written: Written, other: Written): Written;
  /** What runs: `written` with names resolved. Reports what is wrong. */
  read(written: Written, around: ConfigAround): Config | Promise<Config>;
  /** Built-in plugins that run because of it, each under its type as a name: types that no config lists. */
  builtIns?(config: Config): readonly PluginParameters[];
  /** What the rest of the router does otherwise because of it. */
  settings?(config: Config, settings: Settings): Settings;
  /** Profiles of its own, which get instances of their own, by where they are below `spec`: "shadow", "disaggregation.prefill". */
  profiles?(config: Config): readonly (readonly [path: string, profile: ProfileConfig])[];
  /** Types of plugins that it needs and that run by default, each unless another of its kind is listed. */
  needs?(config: Config): readonly string[];
  /** Set if it finds the pool's replicas: the name that the pool has there, if it has one. */
  pool?(written: Written): { readonly name: string | undefined } | undefined;
  /** The resources of a cluster that are a part of the config, if there are any. */
  cluster?(config: Config): ClusterPart | undefined;
  /** Plugins of its own that run because of it, by their names in it. */
  instances?(config: Config): readonly SectionInstance[];
  /** The other way: what a document would have to say; undefined for nothing. `isUnguarded` tells it of a profile at this path. */
  written(config: Config, isUnguarded: (path: string) => boolean): unknown;
  /** For `signalbox check`: a line and, below it, others; `profileRows` gives those of its profile at a path. */
  summary?(
    config: Config,
    profileRows: (path: string) => readonly string[],
  ): readonly [title: string, rows: readonly string[]] | undefined;
  /** Set if each pool has it for itself. inherited: a Pool document without it gets the Router document's. */
  readonly inPools?: "own" | "inherited";
  /** What can't change while the router runs, by the section's keys. */
  fixed?(config: Config): Readonly<Record<string, unknown>>;
  /** What another config changes, in words, each on one line. Default: a line that shows both. */
  changes?(before: Config, after: Config): readonly string[];
}

/** Where a cluster's resources are that are a part of the config. */
export interface ClusterPart {
  /** A kubeconfig file and a context in it; undefined for the usual ones. */
  readonly credentials: { readonly kubeconfig?: string | undefined; readonly context?: string | undefined };
  /** Undefined for that of the context, or of the pod that the router runs in. */
  readonly namespace: string | undefined;
  /** The Router resource among them. */
  readonly router: string | undefined;
}

/** A plugin that no document lists. */
interface SectionInstance {
  readonly name: string;
  readonly definition: Definition;
  readonly parameters: unknown;
}

/** What else is in the config that a section is checked against. */
export interface ConfigAround {
  /** The Router document. */
  readonly router: Resource<unknown>;
  /** Further files that the config depends on, absolute; a section adds its own. */
  readonly files: Set<string>;
  /** Of other files than the Router document. */
  readonly problems: Problem[];
  /** Of what can run, but is probably not meant so. */
  readonly warnings: Problem[];
  readonly resources: readonly Resource<RewriteDocument>[];
  /** In file order. */
  readonly rules: readonly PlacedRule[];
  /** In matching order; undefined if one can't be read, which may be the one that a section names. */
  readonly rewrites: readonly RewriteRule[] | undefined;
  /** Priorities by the names of the InferenceObjective documents. */
  readonly objectives: ReadonlyMap<string, number>;
  readonly listed: ListedPlugins;
  /** The router's own pool: its name, and whether the config says where it has replicas from. */
  readonly own: { readonly name: string; readonly hasReplicas: boolean };
  /** Of the Pool documents, as far as they could be read. */
  readonly pools: readonly PoolPlan[];
  /** Whether the config says which plugins decide for the clients; otherwise all that are listed do. */
  readonly hasProfile: boolean;
  /** Reads what the section has at `path` as a profile. */
  readProfile(written: WrittenProfile, path: Path): ProfileConfig;
  /** All instances of plugins, but rewriters and those of the features' own profiles. */
  instances(): readonly Instance[];
  /** Requests to the rule's targets are compared, so they are drawn in a random order. */
  shuffle(rule: string): void;
}

/** An endpoint as the Router document lists it, as far as it is looked at before all of the config is read. */
interface ListedEndpoint {
  readonly labels: Readonly<Record<string, string>>;
}

interface PoolSpec {
  readonly pool: { readonly endpoints?: readonly { readonly labels?: ListedEndpoint["labels"] }[] };
  readonly kubernetes?: unknown;
}

/** The endpoints of the Router document, where the config finds no others; undefined where it does, or lists none. */
export function listedEndpoints({
  router,
  listed,
}: Pick<ConfigAround, "router" | "listed">): readonly ListedEndpoint[] | undefined {
  const { pool, kubernetes } = (router.document as { readonly spec: PoolSpec }).spec;
  const { endpoints = [] } = pool;
  const isFound =
    kubernetes !== undefined || [...listed.instances.values()].some(({ definition }) => definition.kind === "discovery");
  return isFound || endpoints.length === 0 ? undefined : endpoints.map(({ labels = {} }) => ({ labels }));
}
