import type { Definition } from "../../core/contract/plugin.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";
import { type TlsOptions, tlsOptions } from "../../core/contract/tls-options.ts";
import type { ReplicaTls, ReplicaTlsSettings } from "../../core/settings.ts";
import type { ListedPlugins } from "../plugins/listed.ts";
import { reportIssues } from "../read/issues.ts";
import { type Path, quoted } from "../read/problems.ts";
import type { TlsFiles, TlsPlace } from "./tls-files.ts";

/** A section of the config and its place, and the endpoint or the plugin that it is of; neither for the pool's own. */
export interface ReplicaTlsEntry {
  readonly endpoint?: string;
  readonly plugin?: string;
  readonly spec: TlsOptions | undefined;
  readonly path: Path;
  readonly place: TlsPlace;
}

/** Undefined if no section says anything. Adds its files to `files`. */
export async function readReplicaTls(
  entries: readonly ReplicaTlsEntry[],
  tlsFiles: TlsFiles,
  files: Set<string>,
): Promise<ReplicaTlsSettings | undefined> {
  let ofPool: ReplicaTls | undefined;
  const ofEndpoint = new Map<string, ReplicaTls>();
  const ofPlugin = new Map<string, ReplicaTls>();
  for (const { endpoint, plugin, spec, path, place } of entries) {
    if (spec === undefined) continue;
    const { caFile, serverName, certFile, keyFile, insecure: isInsecure } = spec;
    const authorities = caFile === undefined ? undefined : await tlsFiles.authorities(caFile, "caFile", path, place, files);
    const isPair = certFile !== undefined && keyFile !== undefined;
    const pair = isPair ? await tlsFiles.pair({ certFile, keyFile }, path, place, files) : undefined;
    const read: ReplicaTls = { authorities, serverName, pair, isInsecure };
    if (endpoint !== undefined) ofEndpoint.set(endpoint, read);
    else if (plugin !== undefined) ofPlugin.set(plugin, read);
    else ofPool = read;
  }
  const isSaid = ofPool !== undefined || ofEndpoint.size > 0 || ofPlugin.size > 0;
  return isSaid ? { ofPool, ofEndpoint, ofPlugin } : undefined;
}

/** What listed plugins say of TLS to servers that they read. */
export function pluginTlsEntries({ instances }: ListedPlugins): readonly ReplicaTlsEntry[] {
  return [...instances.values()].flatMap(({ entry: { name, parameters, position }, definition, path, report }) => {
    if (definition.tls === undefined || position === undefined) return [];
    const base = [...path, "parameters", "tls"];
    const value = toldTls(definition, parameters, (hint) =>
      report(path, { found: `the plugin type ${quoted(definition.type)}, whose tls fails`, hint }),
    );
    if (value === undefined) return [];
    const { data, error } = tlsOptions.safeParse(value);
    if (error !== undefined) reportIssues(error.issues, { schema: tlsOptions, value, base, report });
    return [{ plugin: name, spec: data, path: base, place: { file: position.file, report } }];
  });
}

/** A plugin of the user's own may give anything, and throw. */
function toldTls({ tls }: Definition, parameters: unknown, failed: (why: string) => void): unknown {
  try {
    return tls?.(parameters);
  } catch (thrown) {
    failed(thrownMessage(thrown));
    return undefined;
  }
}
