import { createServer, type Server, type Socket } from "node:net";
import type { Clock } from "../clock.ts";
import type { RouterError } from "../errors.ts";
import type { Reply, RequestStarter } from "../reply.ts";
import type { Limits } from "../settings.ts";
import { Deadlines, sweepPeriodMs } from "./deadlines.ts";
import { affordableClients } from "./open-file-limit.ts";
import { ServerConnection } from "./server-connection.ts";

export interface WireServerOptions {
  readonly host: string;
  readonly port: number;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly start: RequestStarter;
  /** Answers a request whose head is broken or that took too long; there is no path to name a dialect. */
  readonly refuse: (reply: Reply, error: RouterError) => void;
}

export interface WireServer {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  /**
   * Stops accepting, lets requests under way finish, closes idle connections within a second.
   * Resolves when the last one is gone; after `timeoutMs` the rest are ended by force.
   */
  drain(timeoutMs: number): Promise<void>;
}

/** When a drain begins: how long connections that the kernel has already taken, with their requests, are still accepted. */
const LAST_ACCEPT_MS = 100;

/** Listens and serves HTTP/1.1; rejects when the address can't be had. */
export function startWireServer(options: WireServerOptions): Promise<WireServer> {
  const { limits, clock } = options;
  const deadlines = new Deadlines(
    clock,
    sweepPeriodMs([limits.headTimeoutMs, limits.bodyTimeoutMs, limits.idleTimeoutMs, limits.writeTimeoutMs]),
  );
  const connections = new Set<ServerConnection>();
  const shared = { ...options, deadlines, connections, isDraining: false };
  const server = createServer({ noDelay: true, allowHalfOpen: false }, (socket: Socket) => {
    connections.add(new ServerConnection(socket, shared));
  });
  server.maxConnections = Math.min(limits.clientConnections, affordableClients());

  const drain = async (timeoutMs: number): Promise<void> => {
    shared.isDraining = true;
    if (timeoutMs > 0) await new Promise<void>((resolve) => clock.after(LAST_ACCEPT_MS, resolve));
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const connection of connections) connection.beginDrain();
    const cancel = clock.after(timeoutMs, () => {
      for (const connection of connections) connection.cut();
    });
    await closed;
    cancel();
    deadlines.close();
  };

  return listen(server, options).then(() => ({
    host: options.host,
    port: portOf(server),
    get connections() {
      return connections.size;
    },
    drain,
  }));
}

function listen(server: Server, { host, port }: WireServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, backlog: 4096 }, () => {
      server.removeListener("error", reject);
      // A failed accept (out of file descriptors) is not a reason to die: the next one may work.
      server.on("error", () => {});
      resolve();
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
