import type { AdminAddress, ListenAddress } from "../../core/router-config.ts";
import type { CorsSettings, ServerTls } from "../../core/settings.ts";
import type { LoadedConfig } from "../load.ts";
import { type Path, pathText, placeText } from "../read/problems.ts";
import { isSoleToken } from "../router/addresses.ts";
import { featuresOf, isWritten, leavesOf, pluginsOf, poolOf, profilesOf, shownPlugins } from "./effective-parts.ts";
import { type EffectivePool, effectivePools } from "./effective-pools.ts";

/** A config as it runs, in the form of its documents, and where each value comes from. Plain data without secrets. */
export interface EffectiveConfig {
  readonly router: { readonly apiVersion: string; readonly kind: "Router"; readonly spec: Readonly<Record<string, unknown>> };
  /** By path in the Router document, such as "spec.listen.port": file:line:column, "default", or where else it comes from. */
  readonly origins: Readonly<Record<string, string>>;
  /** The Pool documents. */
  readonly pools: readonly EffectivePool[];
}

/** Which addresses the command line sets instead of the files. */
export interface CommandLine {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly adminPort?: number | undefined;
}

/** The Router document and the Pool documents with every default filled in. */
export function effectiveConfig(loaded: LoadedConfig, commandLine: CommandLine): EffectiveConfig {
  const { config } = loaded;
  const { settings } = config;
  const { limits, retries, forwardedFor, hasRoutingHeaders } = settings;
  const plugins = pluginsOf(loaded);
  const spec = {
    listen: { ...addressOf(config.listen), ...(settings.cors && { cors: corsOf(settings.cors) }) },
    admin: config.admin === undefined ? false : adminOf(config.admin),
    pool: poolOf(config),
    plugins: shownPlugins(plugins),
    profiles: profilesOf(loaded),
    ...featuresOf(loaded, loaded.sections),
    retries,
    forwardedFor,
    limits,
    responseHeaders: hasRoutingHeaders,
  };
  const fromCommandLine = new Map<string, unknown>([
    ["spec.listen.host", commandLine.host],
    ["spec.listen.port", commandLine.port],
    ["spec.admin.port", commandLine.adminPort],
  ]);
  const originOf = (path: Path): string => {
    if (fromCommandLine.get(pathText(path)) !== undefined) return "the command line";
    const [, section, index] = path;
    if (loaded.pickedSections.has(String(section))) return "the EndpointPickerConfig";
    if (section === "plugins") return placeText(plugins[Number(index)]?.position) ?? "default";
    // The default filters stand in front of what is written, so places in the two lists differ: the whole list has one origin.
    const other = [3, 4].find((end) => config.others.has(path.slice(1, end - 1).join("."))) ?? 0;
    const list = path.slice(0, section === "profiles" ? 4 : other);
    if (list.at(-1) === "plugins" && isWritten(loaded.positionOf, list)) return placeText(loaded.positionOf(list)) ?? "default";
    const otherwise = section === "pool" && path[2] === "endpoints" ? "outside of the Router document" : "default";
    return (isWritten(loaded.positionOf, path) ? placeText(loaded.positionOf(path)) : undefined) ?? otherwise;
  };
  const origins = Object.fromEntries(leavesOf(spec, ["spec"]).map((path) => [pathText(path), originOf(path)]));
  return { router: { apiVersion: "signalbox/v1", kind: "Router", spec }, origins, pools: effectivePools(loaded) };
}

function addressOf({ host, port, isPortShared, tls }: ListenAddress) {
  return { host, port, reusePort: isPortShared, ...(tls && { tls: tlsOf(tls) }) };
}

function tlsOf({ pairs, clientCa, minVersion }: ServerTls) {
  const [first, ...sni] = pairs.map(({ certFile, keyFile, names }) => ({ certFile, keyFile, names }));
  const { certFile, keyFile } = first ?? {};
  return { certFile, keyFile, ...(clientCa && { clientCaFile: clientCa.file }), minVersion, ...(sni.length > 0 && { sni }) };
}

function adminOf({ hosts, tokens, isReadOnly, ...address }: AdminAddress) {
  const sole = tokens.find(isSoleToken);
  const listed = tokens.filter((token) => token !== sole).map(({ name, role, secret }) => ({ name, role, token: secret.from }));
  return {
    ...addressOf(address),
    hosts,
    ...(sole && { token: sole.secret.from }),
    ...(listed.length > 0 && { tokens: listed }),
    readOnly: isReadOnly,
  };
}

function corsOf({ origins, headers, maxAgeS }: CorsSettings) {
  return { origins: origins === undefined ? ["*"] : [...origins], ...(headers && { headers }), maxAgeS };
}
