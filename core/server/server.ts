import type { Socket } from "node:net";
import { type Log, silentLog } from "../contract/log.ts";
import { affordableClients } from "../runtime/open-file-limit.ts";
import type { Limits, ServerTls } from "../settings.ts";
import { ClientCounts } from "../wire/client-counts.ts";
import { Deadlines, sweepPeriodMs } from "../wire/deadlines.ts";
import { Crowding } from "./crowding.ts";
import { displacedBy } from "./displaced.ts";
import { HandshakeFailures } from "./handshake-failures.ts";
import { type Listener, startListener } from "./listener.ts";
import { ServerConnection } from "./server-connection.ts";
import type { OpenConnection, ServerParts } from "./server-shared.ts";
import { TlsGate } from "./tls-gate.ts";
import { WaitingRoom } from "./waiting-room.ts";

export interface WireServerOptions extends ServerParts {
  readonly host: string;
  readonly port: number;
  /** Whether other processes may listen on the same port. */
  readonly isPortShared?: boolean;
  /**
   * What becomes of connections beyond the limit: they wait for others to end, or each takes the place of one that owes bytes of a
   * request. Default "wait".
   */
  readonly whenFull?: "wait" | "displace";
  /** Is told when no more connections are taken. */
  readonly log?: Log;
  /** Undefined: plain HTTP. */
  readonly tls?: ServerTls | undefined;
}

export interface WireServer {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  /** How often there were times in which no more connections were taken. */
  readonly pauses: number;
  /**
   * Takes other limits. Those of time and of `bodyBytes` hold from each connection's next step, bounds on connections from the
   * next connection, `headBytes`, `headerCount` and `writeTimeoutMs` for connections that begin later.
   */
  useLimits(limits: Limits): void;
  /** Takes other certificates, for connections that begin later. Throws, and changes nothing, where they can't be used. */
  useTls(tls: ServerTls): void;
  /** TLS handshakes that failed, by reason; undefined for a server without TLS. */
  readonly handshakeFailures: HandshakeFailures["counts"] | undefined;
  /**
   * Stops accepting, lets requests under way finish, and closes idle connections within a second. After `timeoutMs` it ends the
   * requests that are left with an error. Resolves when the last connection is closed.
   */
  drain(timeoutMs: number): Promise<void>;
}

/** How long a drain still accepts: the kernel may have completed connections, with requests on them, before the drain began. */
const LAST_ACCEPT_MS = 100;

/** Listens and serves HTTP/1.1. Rejects with the error of `listen` (EADDRINUSE, EACCES) when it can't have the address. */
export async function startWireServer(options: WireServerOptions): Promise<WireServer> {
  const { host, port, isPortShared, limits, clock, log = silentLog, whenFull = "wait" } = options;
  const failures = new HandshakeFailures(clock, log, `${host}:${port}`);
  const gate = options.tls && new TlsGate(options.tls, failures);
  const deadlines = new Deadlines(clock, clientSweepMs(limits));
  const connections = new Map<OpenConnection, Socket>();
  const crowding = new Crowding(log);
  const affordable = affordableClients();
  let listener: Listener | undefined;
  const ended = (connection: OpenConnection) => {
    connections.delete(connection);
    listener?.ended();
  };
  const shared = { ...options, clients: new ClientCounts(limits.perClientConnections), deadlines, ended, isDraining: false };
  const waitingRoom = new WaitingRoom(whenFull === "wait" ? affordable.waiting : 0, limits.headTimeoutMs);
  /** What was under way has been cut. */
  let isCut = false;
  const started = await startListener({
    host,
    port,
    isPortShared,
    clock,
    maxConnections: () => Math.min(shared.limits.clientConnections, affordable.served),
    connectionCount: () => connections.size,
    makeRoom: ({ remoteAddress = "" }) => whenFull === "displace" && displaceOne(connections, remoteAddress),
    waitingRoom,
    crowding,
    accept(socket) {
      const peer = socket.remoteAddress ?? "";
      if (isCut || !shared.clients.enter(peer)) return void socket.destroy();
      const connection = new ServerConnection(gate === undefined ? socket : gate.secure(socket), shared, peer);
      connections.set(connection, socket);
      // Accepted in the last moments before the port closes.
      if (shared.isDraining) connection.beginDrain();
    },
  }).catch((thrown) => {
    deadlines.close();
    throw thrown;
  });
  listener = started;

  const drain = async (timeoutMs: number): Promise<void> => {
    shared.isDraining = true;
    if (timeoutMs > 0) await new Promise<void>((resolve) => clock.after(LAST_ACCEPT_MS, resolve));
    const closed = started.close();
    for (const connection of connections.keys()) connection.beginDrain();
    const cancel = clock.after(timeoutMs, () => {
      isCut = true;
      for (const connection of connections.keys()) connection.cut();
    });
    await closed;
    cancel();
    deadlines.close();
  };

  return {
    host,
    port: started.port,
    get connections() {
      return connections.size;
    },
    get pauses() {
      return crowding.pauses;
    },
    useLimits(next) {
      shared.limits = next;
      shared.clients = shared.clients.bounded(next.perClientConnections);
      waitingRoom.longestMs = next.headTimeoutMs;
      deadlines.retime(clientSweepMs(next));
    },
    useTls: (tls) => gate?.use(tls),
    handshakeFailures: gate && failures.counts,
    drain,
  };
}

/** Closes one connection for the newcomer's. Returns whether there was one to close. */
function displaceOne(connections: Map<OpenConnection, Socket>, newcomer: string): boolean {
  const connection = displacedBy(newcomer, [...connections.keys()]);
  if (connection === undefined) return false;
  const socket = connections.get(connection);
  // Now, because its end is told later.
  connections.delete(connection);
  socket?.destroy();
  return true;
}

function clientSweepMs({ headTimeoutMs, bodyTimeoutMs, idleTimeoutMs, writeTimeoutMs }: Limits): number {
  return sweepPeriodMs([headTimeoutMs, bodyTimeoutMs, idleTimeoutMs, writeTimeoutMs]);
}
