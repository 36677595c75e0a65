import { isDeepStrictEqual } from "node:util";
import { FEATURES } from "../../core/features/list.ts";
import type { CredentialSettings, Settings } from "../../core/settings.ts";
import type { AdminAddress, PluginEntry, RewriteRule, RouterConfig } from "../config.ts";
import type { LoadedConfig } from "../load.ts";
import { isOfOther } from "../plugins/own-instances.ts";
import { listed, named } from "../read/differences.ts";
import { describe, type Path, type Problem, problemAt } from "../read/problems.ts";

const RESTART = "It can't change while the router runs: restart the router to change it.";

/** Problems for what the next config changes that can't change while the router runs. */
export function fixedChanges(running: LoadedConfig, next: LoadedConfig): readonly Problem[] {
  const was = fixedValues(running.config);
  const wanted = fixedValues(next.config);
  return [...wanted].flatMap(([key, value]) => {
    const before = was.get(key);
    // Where the admin port was off it had no host either.
    if (!was.has(key) || isDeepStrictEqual(before, value)) return [];
    const path: Path = ["spec", ...key.split(".")];
    return [problemAt(next.positionOf(path), path, { found: shown(value), wanted: shown(before), hint: RESTART })];
  });
}

function fixedValues({ listen, admin }: RouterConfig): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>([
    ["listen.host", listen.host],
    ["listen.port", listen.port],
    ["listen.reusePort", listen.isPortShared],
    ...adminValues(admin),
  ]);
}

function adminValues(admin: AdminAddress | undefined): readonly (readonly [string, unknown])[] {
  if (admin === undefined) return [["admin", false]];
  const { host, port, isPortShared, hosts } = admin;
  return [
    ["admin", true],
    ["admin.host", host],
    ["admin.port", port],
    ["admin.reusePort", isPortShared],
    ["admin.hosts", hosts],
  ];
}

const shown = (value: unknown) => (Array.isArray(value) ? JSON.stringify(value) : describe(value));

/**
 * What the next config changes, in words, each on one line; empty if it would run as the one before does. Addresses that can't
 * change are left out.
 */
export function changesBetween(running: LoadedConfig, next: LoadedConfig): readonly string[] {
  const { pool, profile, rewrites, settings } = running.config;
  const after = next.config;
  return [
    ...named("pool", { name: pool.name, probes: pool.probes }, { name: after.pool.name, probes: after.pool.probes }),
    ...listed("endpoint", pool.endpoints, after.pool.endpoints),
    ...listed("plugin", instancesOf(running), instancesOf(next), { isSame: isSameInstance }),
    ...accessChanges(running.config.admin, after.admin),
    ...(isDeepStrictEqual(profile, after.profile) ? [] : [`profile ${after.profile.name} changed`]),
    ...listed("rewrite", rewrites, after.rewrites, { difference: weightsText }),
    ...named("limits", settings.limits, after.settings.limits),
    ...keyChanges(settings.credentials, after.settings.credentials),
    ...named("settings", withoutOwnLines(settings), withoutOwnLines(after.settings)),
    ...featureChanges(running.config, after),
  ];
}

/** What has lines of its own: limits, and keys, which are never shown. */
function withoutOwnLines(settings: Settings): Omit<Settings, "limits" | "credentials"> {
  const { limits: _limits, credentials: _credentials, ...others } = settings;
  return others;
}

function keyChanges(before: CredentialSettings | undefined, after: CredentialSettings | undefined): readonly string[] {
  return isDeepStrictEqual(revealed(before), revealed(after)) ? [] : ["the replicas' keys changed"];
}

function revealed(credentials: CredentialSettings | undefined): unknown {
  if (credentials === undefined) return undefined;
  const { ofPool, ofEndpoint, isForwarded } = credentials;
  return [ofPool?.reveal(), [...ofEndpoint].map(([name, key]) => [name, key.reveal()]), isForwarded];
}

function featureChanges({ features: before }: RouterConfig, { features: after }: RouterConfig): readonly string[] {
  return FEATURES.flatMap(({ section }) => {
    const { key } = section;
    const [was, is] = [before.get(key), after.get(key)];
    if (isDeepStrictEqual(was, is)) return [];
    return section.changes?.(was, is) ?? named("settings", { [key]: was }, { [key]: is });
  });
}

/** Never shows the token. */
function accessChanges(before: AdminAddress | undefined, after: AdminAddress | undefined): readonly string[] {
  const isSameToken = before?.token?.reveal() === after?.token?.reveal();
  const isReadOnly = after?.isReadOnly ?? false;
  return [
    ...(isSameToken ? [] : ["admin.token changed"]),
    ...((before?.isReadOnly ?? false) === isReadOnly ? [] : [`admin.readOnly: ${isReadOnly}`]),
  ];
}

/** Instances whose parameters come from elsewhere in the config: the change is named there. */
const DERIVED: ReadonlySet<string> = new Set(["static", "model-rewrite"]);

function instancesOf({ config, definitions }: LoadedConfig) {
  const own = config.plugins.filter(({ name }) => !isOfOther(name));
  return own.map(({ name, type, from, parameters, secrets, position }: PluginEntry) => {
    const isDerived = position === undefined && DERIVED.has(type);
    return {
      name,
      type,
      from,
      parameters: isDerived ? undefined : parameters,
      secrets: [...(secrets ?? [])].map(([from, secret]) => [from, secret.reveal()]),
      definition: definitions.get(name),
    };
  });
}

type Instance = ReturnType<typeof instancesOf>[number];

/** A plugin's file that was loaded anew is another definition, whatever is in it. */
function isSameInstance({ definition, ...one }: Instance, { definition: other, ...another }: Instance): boolean {
  return definition === other && isDeepStrictEqual(one, another);
}

function weightsText(before: RewriteRule, after: RewriteRule): string {
  return `${targetsText(before)} -> ${targetsText(after)}`;
}

function targetsText({ targets }: RewriteRule): string {
  return targets.map(({ name, weight }) => `${name} ${weight}`).join(", ");
}
