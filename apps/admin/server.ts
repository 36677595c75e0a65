import { OverlayExpiry } from "../../config/running/overlay-expiry.ts";
import type { Clock } from "../../core/contract/clock.ts";
import type { Log } from "../../core/contract/log.ts";
import { respondWithError } from "../../core/errors/error-response.ts";
import type { RequestStarter } from "../../core/host/request-starter.ts";
import { ADMIN_CONNECTIONS } from "../../core/runtime/open-file-limit.ts";
import { startWireServer, type WireServer } from "../../core/server/server.ts";
import type { Limits, ServerTls } from "../../core/settings.ts";
import { allowedHosts, type HostRule } from "./allowed-hosts.ts";
import { routerApi } from "./api/routes.ts";
import { EventStreams } from "./event-streams.ts";
import { adminRequests } from "./requests.ts";
import type { AdminSite } from "./site.ts";
import { turns } from "./turns.ts";

/** Where an admin port listens. */
export interface AdminAddressOptions {
  readonly host: string;
  readonly port: number;
  /** Whether other processes may listen on the same port. */
  readonly isPortShared?: boolean;
  /** Undefined: plain HTTP. */
  readonly ownTls?: ServerTls | undefined;
  /** Accepted host names with a dot, beside `host`. */
  readonly hosts: readonly string[];
  readonly limits: Limits;
  readonly clock: Clock;
  readonly log: Log;
}

export interface AdminOptions extends AdminSite, AdminAddressOptions {}

export interface AdminServer {
  readonly port: number;
  useLimits(limits: Limits): void;
  /** Takes other certificates, as WireServer does. */
  useTls(tls: ServerTls): void;
  readonly handshakeFailures: WireServer["handshakeFailures"];
  close(): Promise<void>;
}

/** What the admin port serves. */
export interface AdminFace {
  readonly start: RequestStarter;
  close(): void;
}

/** The pages and the API of a router, for any server. */
export function adminFace(site: AdminSite, isAllowed: HostRule): AdminFace {
  const { router, clock, running, log } = site;
  const overlayExpiry = new OverlayExpiry(running, clock);
  const streams = new EventStreams({ observers: () => router.config.observers, clock, log });
  const turn = turns();
  return {
    start: adminRequests(site, routerApi({ ...site, overlayExpiry, streams, turn }), isAllowed, turn),
    close() {
      overlayExpiry.close();
      streams.close();
    },
  };
}

/** Serves the pages and the API of a router. Rejects with the system's error when the address can't be listened on. */
export function startAdmin(options: AdminOptions): Promise<AdminServer> {
  return listenForAdmin(options, adminFace(options, allowedHosts([options.host, ...options.hosts])));
}

/** Serves what `face` does at an admin port. Rejects as `startAdmin`. */
export async function listenForAdmin(options: AdminAddressOptions, face: AdminFace): Promise<AdminServer> {
  const { host, port, isPortShared = false, ownTls, limits, clock, log } = options;
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
    start: face.start,
    refuse: (response, error) => respondWithError(response, error, "openai", "none"),
  });
  return {
    port: server.port,
    useLimits: (next) => server.useLimits(adminLimits(next)),
    useTls: (next) => server.useTls(next),
    handshakeFailures: server.handshakeFailures,
    close() {
      face.close();
      return server.drain(0);
    },
  };
}

function adminLimits(limits: Limits): Limits {
  return { ...limits, clientConnections: ADMIN_CONNECTIONS, perClientConnections: 0 };
}
