import type { RouterConfig } from "../../../config/config.ts";
import { systemClock } from "../../contract/clock.ts";
import type { Log } from "../../contract/log.ts";
import type { TlsView } from "../../contract/router-view.ts";
import type { CertificatePair, ServerTls } from "../../settings.ts";

interface Ports {
  readonly server: { useTls(tls: ServerTls): void };
  readonly admin: { useTls(tls: ServerTls): void } | undefined;
}

/** Gives the ports the config's certificates. */
export function useCertificates(config: RouterConfig, { server, admin }: Ports, log: Pick<Log, "warn" | "error">): void {
  if (config.listen.tls !== undefined) server.useTls(config.listen.tls);
  if (config.admin?.tls !== undefined) admin?.useTls(config.admin.tls);
  logCertificates(config, log);
}

type Failures = Readonly<Record<string, number>> | undefined;

/** What people see of TLS: the certificates, and the handshakes that failed at each port. */
export function tlsView({ listen, admin }: RouterConfig, failures: Readonly<Record<string, Failures>>): TlsView {
  const shown = (port: string, pairs: readonly CertificatePair[] = []) =>
    pairs.map(({ certFile, names, beginsAtMs, expiresAtMs, fault }) => {
      const renewAtS = Math.floor((expiresAtMs - (expiresAtMs - beginsAtMs) / 10) / 1000);
      return { port, file: certFile, names, expiresAtS: Math.floor(expiresAtMs / 1000), renewAtS, fault };
    });
  return {
    certificates: [...shown("listen", listen.tls?.pairs), ...shown("admin", admin?.tls?.pairs)],
    failures: Object.entries(failures).flatMap(([port, counts = {}]) =>
      Object.entries(counts).map(([reason, count]) => ({ port, reason, count })),
    ),
  };
}

/** Says which files can't be used, and which certificates clients will not accept. */
export function logCertificates({ listen, admin }: RouterConfig, log: Pick<Log, "warn" | "error">): void {
  for (const tls of [listen.tls, admin?.tls]) {
    for (const { certFile, fault, expiresAtMs } of tls?.pairs ?? []) {
      if (fault !== "")
        log.error("A renewed certificate can't be used: the one before stays", { certificate: certFile, found: fault });
      if (expiresAtMs <= systemClock.wall())
        log.warn("A certificate has expired: clients refuse it", {
          certificate: certFile,
          expired: new Date(expiresAtMs).toISOString(),
        });
    }
    if (tls?.clientCa !== undefined && tls.clientCa.fault !== "")
      log.error("Renewed authorities can't be used: those before stay", { file: tls.clientCa.file, found: tls.clientCa.fault });
  }
}
