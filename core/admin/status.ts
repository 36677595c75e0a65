import type { RewriteChange } from "../../config/rewrites/overlay.ts";
import type { Profile } from "../active-config.ts";
import type { CertificateView, RouterView } from "../contract/router-view.ts";
import { shownChange } from "./api/shown-rewrite.ts";
import { isoTime } from "./endpoint-status.ts";
import { healthOf } from "./health.ts";
import type { ShownConfig, ShownRouter } from "./router-view.ts";

/** What the router itself does not know. */
export interface StatusExtras {
  readonly running: ShownConfig;
  /** Files and other places that the config came from. */
  readonly sources: readonly string[];
  /** Where clients connect. Host "" and port 0 where another program listens and hands requests over. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly clientConnections: () => number;
}

export type Status = Readonly<ReturnType<typeof statusOf>>;

/** The document of /status: the router and its pool at one moment. The features add their own parts to it. */
export function statusOf(router: ShownRouter, view: RouterView, { running, sources, listen, clientConnections }: StatusExtras) {
  const { config, pool, features } = router;
  const { startedAtS, acceptPauses, memory } = view.process;
  const { isWell, summary, warnings, endpoints, rewrites } = healthOf(router, view, running);
  // What requests met in the last minutes.
  const traffic = pool.figures.pool;
  const wallMs = view.clock.wall();
  return {
    // ISO 8601.
    time: isoTime(wallMs),
    startedAt: isoTime(startedAtS * 1000),
    uptimeS: Math.max(0, Math.floor(wallMs / 1000) - startedAtS),
    pool: config.pool,
    sources,
    config: configStatus(running),
    listen,
    // Only where there is TLS.
    ...(view.tls.certificates.length > 0 && { certificates: view.tls.certificates.map(certificateStatus) }),
    clientConnections: clientConnections(),
    // How often there were times in which no more client connections were taken.
    acceptPauses,
    isWell,
    summary,
    warnings,
    traffic,
    endpoints,
    profile: profileStatus(config.profile),
    ...features.status(),
    rewrites,
    prefixIndex: view.pool.prefixIndex ?? null,
    // What request bodies under way and unread responses hold together, and its bound.
    memory,
    limits: config.settings.limits,
  };
}

type Plugin = Profile["picker"];

function profileStatus({ name, filters, scorers, picker }: Profile) {
  const nameOf = (plugin: Pick<Plugin, "name" | "type">) => ({ name: plugin.name, type: plugin.type });
  return {
    name,
    filters: filters.map(nameOf),
    scorers: scorers.map((scorer) => ({ ...nameOf(scorer), weight: scorer.weight })),
    picker: nameOf(picker),
  };
}

function certificateStatus({ port, file, names, expiresAtS, fault }: CertificateView) {
  return { port, file, names, expiresAt: isoTime(expiresAtS * 1000), fault };
}

function configStatus({ generation, overlay, lastReload }: ShownConfig) {
  // What runs otherwise than the files say, because it was changed through the admin API or by a guard.
  const shown = { generation, overlay: overlay.rewrites.map(overlayStatus) };
  if (lastReload === undefined) return { ...shown, lastReload: null };
  // The last attempt to change the config.
  const { atMs, generation: _, ...report } = lastReload;
  return { ...shown, lastReload: { at: isoTime(atMs), ...report } };
}

function overlayStatus(change: RewriteChange) {
  return { rewrite: change.name, isDeleted: change.document === undefined, ...shownChange(change) };
}
