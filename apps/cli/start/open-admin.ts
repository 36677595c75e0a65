import { createServer } from "node:net";
import { systemClock } from "../../../core/contract/clock.ts";
import type { Log } from "../../../core/contract/log.ts";
import type { TlsView } from "../../../core/contract/router-view.ts";
import type { AdminAddress } from "../../../core/router-config.ts";
import { ownFile } from "../../../core/runtime/own-files.ts";
import type { Limits, Settings } from "../../../core/settings.ts";
import { type PageFiles, pageFiles } from "../../admin/page-files.ts";
import { type AdminServer, startAdmin } from "../../admin/server.ts";
import type { AdminSite, RunningProgram } from "../../admin/site.ts";
import { tlsView } from "./certificates.ts";
import type { FrontServer } from "./front-server.ts";
import { portError } from "./port-error.ts";
import { isLoopback, urlOf } from "./ports.ts";

export interface OpenAdmin extends AdminServer {
  /** Where people reach it. */
  readonly url: string;
  /** The line to print at the start. */
  readonly greeting: string;
}

export interface Shown extends RunningProgram {
  readonly server: FrontServer;
  readonly settings: Settings;
}

/** Rejects with an Error that says what to change when the admin port can't be had. */
export async function checkAdminPort(address: AdminAddress | undefined): Promise<void> {
  if (address === undefined || address.isPortShared) return;
  const { host, port } = address;
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen({ host, port }, resolve));
    await new Promise<void>((resolve) => server.close(() => resolve()));
  } catch (thrown) {
    throw await adminPortError(thrown, address);
  }
}

/** Opens the admin port; undefined if there is to be none. */
export async function openAdmin(address: AdminAddress | undefined, shown: Shown): Promise<OpenAdmin | undefined> {
  if (address === undefined) return undefined;
  const site = adminSiteOf(shown, address, () => admin.handshakeFailures);
  const admin: AdminServer = await withPortError(address, startAdmin({ ...site, ...addressOf(address, shown.settings.limits) }));
  return openedAdmin(admin, address, shown.log);
}

/** What the admin port shows of this process. `failures` are the TLS handshakes that failed at the port. */
export function adminSiteOf(
  { server, settings: _, ...shown }: Shown,
  { host }: AdminAddress,
  failures: () => AdminServer["handshakeFailures"],
): AdminSite {
  const tls = (): TlsView => tlsView(shown.running.loaded.config, { listen: server.handshakeFailures, admin: failures() });
  return {
    ...shown,
    clock: systemClock,
    files: readPageFiles(),
    listen: { host: server.host, port: server.port },
    clientConnections: () => server.connections,
    acceptPauses: () => server.pauses ?? 0,
    tls,
    access() {
      const { tokens = [], isReadOnly = true } = shown.running.loaded.config.admin ?? {};
      return { tokens, isReadOnly, isOpenToNetwork: !isLoopback(host) };
    },
  };
}

/** Where an admin port of this config listens. */
export function addressOf({ host, port, isPortShared, tls: ownTls, hosts }: AdminAddress, limits: Limits) {
  return { host, port, isPortShared, ownTls, hosts, limits };
}

/** Says what people need of an admin port that has just been opened. */
export function openedAdmin(admin: AdminServer, { host, tls }: AdminAddress, log: Log): OpenAdmin {
  if (!isLoopback(host))
    log.warn("The admin port is open to the network: everyone who reaches it can see models, replicas and decisions", { host });
  const url = urlOf(host, admin.port, tls !== undefined);
  return { ...admin, url, greeting: `Status page: ${url}/  Metrics: ${url}/metrics\n` };
}

/** Rejects with an Error that says what to change where `opened` rejects because of its address. */
export async function withPortError<Result>(address: AdminAddress, opened: Promise<Result>): Promise<Result> {
  try {
    return await opened;
  } catch (thrown) {
    throw await adminPortError(thrown, address);
  }
}

const adminPortError = (thrown: unknown, address: AdminAddress) =>
  portError(thrown, address, "--admin-port", "spec.admin.host", " (admin: false in the config goes without)");

/** Reads the status page's files. */
export function readPageFiles(): PageFiles {
  return pageFiles((name) => ownFile(`apps/admin/page/${name}`));
}
