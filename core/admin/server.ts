import { respondWithError } from "../errors/error-response.ts";
import { ADMIN_CONNECTIONS } from "../runtime/open-file-limit.ts";
import type { Limits } from "../settings.ts";
import { startWireServer } from "../wire/server.ts";
import { allowedHosts } from "./allowed-hosts.ts";
import { type AdminSite, adminRequests } from "./requests.ts";

export interface AdminOptions extends AdminSite {
  readonly host: string;
  readonly port: number;
  /** Names with a dot that it may be asked by, beside its host. */
  readonly hosts: readonly string[];
  readonly limits: Limits;
}

export interface AdminServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves the pages of the admin port; rejects when the address can't be had. */
export async function startAdmin(options: AdminOptions): Promise<AdminServer> {
  const { host, port, hosts, limits, clock } = options;
  const server = await startWireServer({
    host,
    port,
    limits: { ...limits, clientConnections: ADMIN_CONNECTIONS, perClientConnections: 0 },
    clock,
    memory: { unreadBytes: 0 },
    start: adminRequests(options, allowedHosts([host, ...hosts])),
    refuse: (response, error) => respondWithError(response, error, "openai", "none"),
  });
  return { port: server.port, close: () => server.drain(0) };
}
