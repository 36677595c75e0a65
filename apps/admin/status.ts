import type { RewriteChange } from "../../config/rewrites/overlay.ts";
import type { RunningConfig } from "../../config/running/running-config.ts";
import type { Named, Profile } from "../../core/active-config.ts";
import type { CertificateView } from "../../core/contract/router-view.ts";
import { configText } from "./config-text.ts";
import { isoTime } from "./endpoint-status.ts";
import { healthOf } from "./health.ts";
import { memoryOf, prefixIndexOf, tlsOf } from "./router-view.ts";
import { shownChange } from "./shown-rewrite.ts";
import type { StatusSite } from "./site.ts";

export type Status = Readonly<ReturnType<typeof statusOf>>;

/** The document of /status: the router and its pool at one moment. The features add their own parts to it. */
export function statusOf(site: StatusSite) {
  const { router, figures, running, sources, clock, listen, clientConnections, acceptPauses } = site;
  const { config, features } = router;
  const { startedAtS } = router.identity;
  const { certificates } = tlsOf(site);
  const { isWell, summary, warnings, endpoints, rewrites } = healthOf(site);
  // What requests met in the last minutes.
  const traffic = figures.pool;
  const wallMs = clock.wall();
  return {
    // ISO 8601.
    time: isoTime(wallMs),
    startedAt: isoTime(startedAtS * 1000),
    uptimeS: Math.max(0, Math.floor(wallMs / 1000) - startedAtS),
    pool: config.pool,
    sources,
    config: configStatus(running),
    configText: configText(site),
    listen,
    // Only where there is TLS.
    ...(certificates.length > 0 && { certificates: certificates.map(certificateStatus) }),
    clientConnections: clientConnections(),
    // How often there were times in which no more client connections were taken.
    acceptPauses: acceptPauses(),
    isWell,
    summary,
    warnings,
    traffic,
    endpoints,
    profile: profileStatus(config.profile),
    ...features.status(),
    rewrites,
    prefixIndex: prefixIndexOf(router) ?? null,
    memory: memoryOf(router),
    limits: config.settings.limits,
  };
}

function profileStatus({ name, filters, scorers, picker }: Profile) {
  const nameOf = ({ name, type }: Named<unknown>) => ({ name, type });
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

function configStatus({ generation, overlay, lastReload }: RunningConfig) {
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
