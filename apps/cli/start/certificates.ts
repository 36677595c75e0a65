import { systemClock } from "../../../core/contract/clock.ts";
import type { Log } from "../../../core/contract/log.ts";
import type { CertificateView, TlsView } from "../../../core/contract/router-view.ts";
import type { RouterConfig } from "../../../core/router-config.ts";
import type { Authorities, CertificatePair, ReplicaTls, ServerTls } from "../../../core/settings.ts";
import type { AdminServer } from "../../admin/server.ts";
import type { FrontServer } from "./front-server.ts";

interface Ports {
  readonly server: FrontServer;
  readonly admin: AdminServer | undefined;
}

type Failures = Readonly<Record<string, number>> | undefined;

/** Gives the ports the config's certificates. */
export function useCertificates(config: RouterConfig, { server, admin }: Ports, log: Log): void {
  if (config.listen.tls !== undefined) server.useTls?.(config.listen.tls);
  if (config.admin?.tls !== undefined) admin?.useTls(config.admin.tls);
  logCertificates(config, log);
}

/** What people see of TLS: the certificates, and the handshakes that failed at each port. */
export function tlsView(config: RouterConfig, failures: Readonly<Record<string, Failures>>): TlsView {
  return {
    certificates: certificatesOf(config),
    failures: Object.entries(failures).flatMap(([port, counts = {}]) =>
      Object.entries(counts).map(([reason, count]) => ({ port, reason, count })),
    ),
  };
}

/** Says which files can't be used, and which certificates are accepted by nobody. */
export function logCertificates(config: RouterConfig, log: Log): void {
  for (const { port, file, fault, expiresAtS } of certificatesOf(config)) {
    if (fault !== "") log.error("A renewed certificate can't be used: the one before stays", { port, file, found: fault });
    const expired = new Date(expiresAtS * 1000).toISOString();
    if (expiresAtS * 1000 <= systemClock.wall()) log.warn("A certificate has expired", { port, file, expired });
  }
}

/** Each file once for each place where it is used. */
function certificatesOf({ listen, admin, settings: { replicaTls } }: RouterConfig): readonly CertificateView[] {
  const ofServer = (tls: ServerTls | undefined) => [...(tls?.pairs ?? []), ...(tls?.clientCa ? [tls.clientCa] : [])];
  const ofClient = (all: readonly (ReplicaTls | undefined)[]) =>
    all.flatMap((tls) => [tls?.pair ?? [], tls?.authorities ?? []].flat());
  const { ofPool, ofEndpoint = [], ofPlugin = [] } = replicaTls ?? {};
  const all = [
    ...shownOf("listen", ofServer(listen.tls)),
    ...shownOf("admin", ofServer(admin?.tls)),
    ...shownOf("pool", ofClient([ofPool, ...ofEndpoint.values()])),
    ...shownOf("plugins", ofClient([...ofPlugin.values()])),
  ];
  return [...new Map(all.map((shown) => [`${shown.port} ${shown.file}`, shown])).values()];
}

function shownOf(port: string, read: readonly (CertificatePair | Authorities)[]): readonly CertificateView[] {
  return read.map((one) => {
    const { beginsAtMs, expiresAtMs, fault } = one;
    const renewAtS = Math.floor((expiresAtMs - (expiresAtMs - beginsAtMs) / 10) / 1000);
    const [file, names] = "certFile" in one ? [one.certFile, one.names] : [one.file, []];
    return { port, file, names, expiresAtS: Math.floor(expiresAtMs / 1000), renewAtS, fault };
  });
}
