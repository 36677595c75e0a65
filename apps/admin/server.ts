import { OverlayExpiry } from "../../config/running/overlay-expiry.ts";
import { respondWithError } from "../../core/errors/error-response.ts";
import { ADMIN_CONNECTIONS } from "../../core/runtime/open-file-limit.ts";
import { startWireServer, type WireServer } from "../../core/server/server.ts";
import type { Limits, ServerTls } from "../../core/settings.ts";
import { allowedHosts } from "./allowed-hosts.ts";
import { routerApi } from "./api/routes.ts";
import { EventStreams } from "./event-streams.ts";
import { adminRequests } from "./requests.ts";
import type { AdminSite } from "./site.ts";
import { turns } from "./turns.ts";

export interface AdminOptions extends AdminSite {
  readonly host: string;
  readonly port: number;
  /** Whether other processes may listen on the same port. */
  readonly isPortShared?: boolean;
  /** Undefined: plain HTTP. */
  readonly ownTls?: ServerTls | undefined;
  /** Accepted host names with a dot, beside `host`. */
  readonly hosts: readonly string[];
  readonly limits: Limits;
}

export interface AdminServer {
  readonly port: number;
  useLimits(limits: Limits): void;
  /** Takes other certificates, as WireServer does. */
  useTls(tls: ServerTls): void;
  readonly handshakeFailures: WireServer["handshakeFailures"];
  close(): Promise<void>;
}

/** Serves the pages and the API of the admin port. Rejects with the system's error when the address can't be listened on. */
export async function startAdmin(options: AdminOptions): Promise<AdminServer> {
  const { host, port, isPortShared = false, ownTls, hosts, limits, router, clock, running, log } = options;
  const overlayExpiry = new OverlayExpiry(running, clock);
  const streams = new EventStreams({ observers: () => router.config.observers, clock, log });
  const turn = turns();
  const server = await startWireServer({
    host,
    port,
    isPortShared,
    tls: ownTls,
    log,
    limits: adminLimits(limits),
    clock,
    // Its descriptors are for these connections only.
    whenFull: "displace",
    memory: { unreadBytes: 0 },
    start: adminRequests(options, routerApi({ ...options, overlayExpiry, streams, turn }), allowedHosts([host, ...hosts]), turn),
    refuse: (response, error) => respondWithError(response, error, "openai", "none"),
  });
  return {
    port: server.port,
    useLimits: (next) => server.useLimits(adminLimits(next)),
    useTls: (next) => server.useTls(next),
    handshakeFailures: server.handshakeFailures,
    close() {
      overlayExpiry.close();
      streams.close();
      return server.drain(0);
    },
  };
}

function adminLimits(limits: Limits): Limits {
  return { ...limits, clientConnections: ADMIN_CONNECTIONS, perClientConnections: 0 };
}
