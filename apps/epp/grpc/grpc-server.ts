import { createServer, type Server } from "node:net";
import type { MemoryBudget } from "../../../core/body/memory-budget.ts";
import type { Clock } from "../../../core/contract/clock.ts";
import type { Limits } from "../../../core/settings.ts";
import { Deadlines, sweepPeriodMs } from "../../../core/wire/deadlines.ts";
import { Call, type CallReader, GRPC } from "./call.ts";
import { Http2Connection } from "./http2-connection.ts";
import type { Http2Stream, StreamReader } from "./http2-stream.ts";
import { Unsent } from "./unsent.ts";
import { WatchedConnection } from "./watched-connection.ts";

/** Serves one call; undefined where it has ended it at once. */
type Method = (call: Call) => CallReader | undefined;

export interface GrpcServerOptions {
  readonly host: string;
  readonly port: number;
  /** Whether other processes may listen on the same port. */
  readonly isPortShared?: boolean;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly memory: MemoryBudget;
  /** By path: "/package.Service/Method". */
  readonly methods: ReadonlyMap<string, Method>;
}

export interface GrpcServer {
  readonly port: number;
  /** Open connections. */
  readonly connections: number;
  /** Takes other limits for connections and calls that begin from now on. */
  useLimits(limits: Limits): void;
  /** Takes no more calls; `cut` is called if some are still under way after `timeoutMs`. Resolves when the last connection is closed. */
  drain(timeoutMs: number, cut: () => void): Promise<void>;
}

/** Serves gRPC over HTTP/2 without TLS. Rejects with the error of `listen`. */
export async function startGrpcServer(options: GrpcServerOptions): Promise<GrpcServer> {
  const { clock, memory, methods } = options;
  let { limits } = options;
  const deadlines = new Deadlines(clock, sweepMs(limits));
  const connections = new Map<Http2Connection, WatchedConnection>();

  const server = createServer({ noDelay: true, allowHalfOpen: false, pauseOnConnect: true }, (socket) => {
    if (connections.size >= limits.clientConnections) return void socket.destroy();
    const unsent = new Unsent(memory);
    const connection: Http2Connection = new Http2Connection(socket, {
      headBytes: limits.headBytes,
      unsent,
      maxStreams: limits.clientConnections,
      nowMs: () => clock.now(),
      accept: (path, stream) => accepted(path, stream, connection),
      closed() {
        connections.get(connection)?.close();
        connections.delete(connection);
      },
    });
    unsent.owner = connection;
    connections.set(connection, new WatchedConnection(connection, deadlines, limits, memory));
  });
  server.on("error", () => {});

  const accepted = (path: string, stream: Http2Stream, connection: Http2Connection): StreamReader => {
    const call = new Call(stream, connection, memory, limits.bodyBytes);
    const method = methods.get(path);
    if (method === undefined) call.end(GRPC.unimplemented, "There is no such method here");
    else call.reader = method(call);
    return call;
  };

  const port = await listen(server, options);
  return {
    port,
    get connections() {
      return connections.size;
    },
    useLimits(next) {
      limits = next;
      deadlines.retime(sweepMs(next));
    },
    async drain(timeoutMs, cut) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const connection of [...connections.keys()]) connection.drain();
      const cancel = clock.after(timeoutMs, () => {
        cut();
        for (const connection of [...connections.keys()]) connection.destroy();
      });
      await closed;
      cancel();
      deadlines.close();
    },
  };
}

function sweepMs({ headTimeoutMs, writeTimeoutMs }: Limits): number {
  return sweepPeriodMs([headTimeoutMs, writeTimeoutMs]);
}

function listen(server: Server, { host, port, isPortShared = false }: GrpcServerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, reusePort: isPortShared }, () => {
      server.removeListener("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}
