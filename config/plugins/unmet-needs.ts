import type { EndpointSpec } from "../../core/contract/endpoint.ts";
import type { Need } from "../../core/contract/need.ts";
import type { Definition } from "../../core/contract/plugin.ts";
import type { PluginEntry, ProfileConfig, RouterPlan } from "../../core/router-config.ts";
import { type Problem, problemAt, quoted } from "../read/problems.ts";
import type { Instance } from "./listed.ts";

/** A plugin of a profile, and something that it goes by. */
export interface PluginNeed {
  readonly kind: string;
  readonly name: string;
  readonly need: Need;
  /** Of a source's attributes, the one that the need is about. */
  readonly attribute?: string;
}

/** What the plugins of all profiles go by. */
export function needsOf({ config, definitions }: Pick<RouterPlan, "config" | "definitions">): readonly PluginNeed[] {
  const used = namesIn([config.profile, ...config.others.values()]);
  return config.plugins.flatMap((entry) => {
    const definition = definitions.get(entry.name);
    if (definition === undefined || !used.has(entry.name)) return [];
    const plugin = { kind: definition.kind, name: entry.name };
    return [
      ...needsIn(definition, entry).map((need) => ({ ...plugin, need })),
      ...(definition.reads?.(entry.parameters) ?? []).map((attribute) => ({
        ...plugin,
        attribute,
        need: { lack: `no source reads ${quoted(attribute)} of any replica` },
      })),
    ];
  });
}

/**
 * A warning for each need of a plugin that is listed and used, as far as the config tells that no replica will meet it. `pool`: of a Pool
 * document, its name.
 */
export function unmetNeeds(
  { pool, profile, others }: Pick<RouterPlan["config"], "pool" | "profile" | "others">,
  instances: readonly Instance[],
  poolName = "",
): readonly Problem[] {
  const used = namesIn([profile, ...others.values()]);
  const isFound = instances.some(({ definition: { kind, type } }) => kind === "discovery" && type !== "static");
  const endpoints = isFound || pool.endpoints.length === 0 ? undefined : pool.endpoints;
  const sources = instances.filter(({ definition }) => definition.kind === "source");
  return instances.flatMap(({ entry, definition, path }) => {
    if (entry.position === undefined || !used.has(entry.name)) return [];
    const unmet = needsIn(definition, entry).filter((need) => !mayBeMet(need, sources, endpoints));
    return unmet.map(({ lack, reported }) =>
      problemAt(entry.position!, path, {
        found: `the ${definition.kind} ${quoted(entry.name)}${poolName && ` of the pool ${quoted(poolName)}`}, which can't do its work: ${lack}`,
        wanted: reported === undefined ? "an endpoint with such a label" : "a source that reads it, such as metrics",
      }),
    );
  });
}

function namesIn(profiles: readonly ProfileConfig[]): ReadonlySet<string> {
  return new Set(profiles.flatMap(({ plugins }) => plugins.map(({ pluginRef }) => pluginRef)));
}

/** A definition that can't say what an instance goes by is taken to need nothing. */
function needsIn(definition: Definition, { parameters }: PluginEntry): readonly Need[] {
  try {
    return definition.needs?.(parameters) ?? [];
  } catch {
    return [];
  }
}

function mayBeMet(need: Need, sources: readonly Instance[], endpoints: readonly EndpointSpec[] | undefined): boolean {
  const { reported } = need;
  if (reported !== undefined)
    return sources.some(
      ({ definition: { reports } }) => reports === undefined || reported.some((each) => reports.includes(each)),
    );
  return endpoints === undefined || endpoints.some(({ labels }) => isLabelled(need, labels));
}

/** Whether a replica with these labels meets the need, as far as it is about labels. A plugin that can't say it is not warned of. */
export function isLabelled(need: Need, labels: Readonly<Record<string, string>>): boolean {
  try {
    return need.labelled?.(labels) ?? true;
  } catch {
    return true;
  }
}
