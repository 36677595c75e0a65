import type { Clock } from "../contract/clock.ts";
import type { RouterError } from "../contract/errors.ts";
import { type Log, silentLog } from "../contract/log.ts";
import type { RequestStarter } from "../intake/request-receiver.ts";
import type { ResponseWriter } from "../intake/response-writer.ts";
import { affordableClients } from "../runtime/open-file-limit.ts";
import type { Limits } from "../settings.ts";
import { ClientCounts } from "./client-counts.ts";
import { Crowding } from "./crowding.ts";
import { Deadlines, sweepPeriodMs } from "./deadlines.ts";
import { startListener } from "./listener.ts";
import { ServerConnection } from "./server-connection.ts";
import type { UnreadCounter } from "./write-progress.ts";

export interface WireServerOptions {
  readonly host: string;
  readonly port: number;
  readonly limits: Limits;
  readonly clock: Clock;
  /** Is told how many bytes of responses wait for their clients. */
  readonly memory: UnreadCounter;
  /** Is told when no more connections are taken. */
  readonly log?: Pick<Log, "warn">;
  readonly start: RequestStarter;
  /** Answers a request whose head is broken or that took too long; there is no path to name a dialect. */
  readonly refuse: (response: ResponseWriter, error: RouterError) => void;
}

export interface WireServer {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  /** How often there were times in which no more connections were taken. */
  readonly pauses: number;
  /**
   * Stops accepting, lets requests under way finish, closes idle connections within a second.
   * Resolves when the last one is gone; after `timeoutMs` the rest are ended by force.
   */
  drain(timeoutMs: number): Promise<void>;
}

/** When a drain begins: how long connections that the kernel has already taken, with their requests, are still accepted. */
const LAST_ACCEPT_MS = 100;

/** Listens and serves HTTP/1.1; rejects when the address can't be had. */
export async function startWireServer(options: WireServerOptions): Promise<WireServer> {
  const { host, port, limits, clock, log = silentLog } = options;
  const deadlines = new Deadlines(
    clock,
    sweepPeriodMs([limits.headTimeoutMs, limits.bodyTimeoutMs, limits.idleTimeoutMs, limits.writeTimeoutMs]),
  );
  const connections = new Set<ServerConnection>();
  const clients = new ClientCounts(limits.perClientConnections);
  const crowding = new Crowding(log);
  const shared = { ...options, clients, deadlines, connections, isDraining: false };
  const listener = await startListener({
    host,
    port,
    clock,
    maxConnections: Math.min(limits.clientConnections, affordableClients()),
    connectionCount: () => connections.size,
    crowding,
    accept(socket) {
      if (clients.enter(socket.remoteAddress ?? "")) connections.add(new ServerConnection(socket, shared));
      else socket.destroy();
    },
  }).catch((thrown) => {
    deadlines.close();
    throw thrown;
  });

  const drain = async (timeoutMs: number): Promise<void> => {
    shared.isDraining = true;
    if (timeoutMs > 0) await new Promise<void>((resolve) => clock.after(LAST_ACCEPT_MS, resolve));
    const closed = listener.close();
    for (const connection of connections) connection.beginDrain();
    const cancel = clock.after(timeoutMs, () => {
      for (const connection of connections) connection.cut();
    });
    await closed;
    cancel();
    deadlines.close();
  };

  return {
    host,
    port: listener.port,
    get connections() {
      return connections.size;
    },
    get pauses() {
      return crowding.pauses;
    },
    drain,
  };
}
