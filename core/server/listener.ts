import { createServer, type Server, type Socket } from "node:net";
import type { Clock } from "../contract/clock.ts";
import { acceptEndsAtFileLimit } from "../runtime/accept-limit.ts";
import type { Crowding } from "./crowding.ts";
import { quietMoment } from "./quiet-moment.ts";
import type { WaitingRoom } from "./waiting-room.ts";

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Whether other processes may listen on the same port. */
  readonly isPortShared?: boolean | undefined;
  readonly clock: Clock;
  /** Connections beyond this number wait. */
  readonly maxConnections: () => number;
  /** Open connections now. */
  readonly connectionCount: () => number;
  /** Tries to end a connection, so that the newcomer has its place; returns whether it did. */
  readonly makeRoom?: (newcomer: Socket) => boolean;
  /** Where they wait; those that find no place there are closed. */
  readonly waitingRoom: WaitingRoom;
  /** Is told of connections that are not taken. */
  readonly crowding: Crowding;
  /** Called with each accepted connection; its socket is paused. */
  readonly accept: (socket: Socket) => void;
  /** Whether to reopen the listener each time that `maxConnections` was reached; by default where the runtime needs it. */
  readonly isRenewed?: boolean;
}

export interface Listener {
  readonly port: number;
  /** A connection has ended: the next one that waits is taken. */
  ended(): void;
  /** Stops accepting, and closes connections that wait; resolves when the last connection is gone. */
  close(): Promise<void>;
}

/** How often the listener looks at those that wait, and whether it must be reopened. */
const RENEWAL_PERIOD_MS = 1_000;

/** Listens until it is closed. Rejects with the error of `listen` when it can't have the address. */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const {
    clock,
    isPortShared = false,
    maxConnections,
    connectionCount,
    makeRoom = () => false,
    waitingRoom,
    crowding,
    accept,
    isRenewed = acceptEndsAtFileLimit,
  } = options;
  let wasFull = false;
  let accepted = 0;
  const open = (port: number): Promise<Server> => {
    const server = createServer({ noDelay: true, allowHalfOpen: false, pauseOnConnect: true }, (socket) => {
      accepted += 1;
      if (waitingRoom.size === 0 && (connectionCount() < maxConnections() || makeRoom(socket))) return accept(socket);
      wasFull = true;
      crowding.turnedAway("connections");
      waitingRoom.enter(socket, clock.now());
    });
    // A failed accept is no reason to stop: the next one may work.
    server.on("error", () => {
      if (!server.listening) return;
      wasFull = true;
      crowding.turnedAway("descriptors");
    });
    return listen(server, { host: options.host, port, reusePort: isPortShared });
  };
  let server = await open(options.port);
  const port = portOf(server);
  let closing: Promise<unknown> = Promise.resolve();

  const renew = async () => {
    closing = Promise.all([closing, close(server)]);
    // The port may stay taken for a moment; then the next turn tries again.
    server = await open(port).catch(() => {
      wasFull = true;
      return server;
    });
  };
  let renewal = Promise.resolve();
  const takeWaiting = () => {
    while (connectionCount() < maxConnections()) {
      const socket = waitingRoom.next();
      if (socket === undefined) return;
      accept(socket);
    }
  };
  const stopRenewal = clock.every(RENEWAL_PERIOD_MS, () => {
    waitingRoom.sweep(clock.now());
    takeWaiting();
    const hasRoom = connectionCount() < maxConnections();
    crowding.period(hasRoom);
    if (!isRenewed || !wasFull || !hasRoom) return;
    wasFull = false;
    renewal = renewal.then(renew);
  });

  return {
    port,
    ended: takeWaiting,
    async close() {
      stopRenewal();
      await renewal;
      await quietMoment(clock, () => accepted);
      waitingRoom.close();
      await Promise.all([closing, close(server)]);
    },
  };
}

function listen(server: Server, address: { host: string; port: number; reusePort: boolean }): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ ...address, backlog: 4096 }, () => {
      server.removeListener("error", reject);
      resolve(server);
    });
  });
}

/** Resolves at once if the server is closed already. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
