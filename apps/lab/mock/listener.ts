import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "../../../core/contract/clock.ts";

/** Connections that wait to be accepted, as model servers have them: a gateway may open hundreds at once. */
const BACKLOG = 2048;

/** One client connection; `uses` counts its requests. */
export interface Connection {
  readonly number: number;
  uses: number;
  cancelIdle: () => void;
}

type OnUpgrade = (request: IncomingMessage, socket: Duplex, ahead: Buffer) => void;
type OnRequest = (request: IncomingMessage, response: ServerResponse, connection: Connection) => void;

interface ListenerSettings {
  readonly host: string;
  readonly keepAliveMs: number;
  readonly clock: Clock;
}

/** The replica's port. It stays the same for the replica's life, and can be closed and opened again. */
export class Listener {
  readonly #settings: ListenerSettings;
  readonly #onRequest: OnRequest;
  readonly #onUpgrade: OnUpgrade;
  /** Those that carry another protocol by now. */
  readonly #switched = new Set<Duplex>();
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #servers = new Set<Server>();
  #current: Server | undefined;
  #count = 0;
  #port = 0;

  constructor(settings: ListenerSettings, onRequest: OnRequest, onUpgrade: OnUpgrade) {
    this.#settings = settings;
    this.#onRequest = onRequest;
    this.#onUpgrade = onUpgrade;
  }

  get port(): number {
    return this.#port;
  }

  /** Listens on the port, by default the one it had before. */
  async open(port = this.#port): Promise<void> {
    if (this.#current) return;
    const server = createServer((request, response) => this.#accept(request, response));
    server.on("upgrade", (request, socket, ahead) => this.#switch(request, socket, ahead));
    this.#current = server;
    this.#servers.add(server);
    // Disable the runtime's time limits: they differ between runtimes, and some faults need a silent connection.
    Object.assign(server, { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0, timeout: 0 });
    try {
      await once(server.listen({ port, host: this.#settings.host, backlog: BACKLOG }), "listening");
    } catch (error) {
      this.#current = undefined;
      this.#servers.delete(server);
      // Bun does not say which port it was.
      throw Object.assign(error as Error, { port });
    }
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Refuses new connections and closes idle ones; requests in progress continue. */
  shut(): void {
    const server = this.#current;
    if (!server) return;
    this.#current = undefined;
    server.close(() => this.#servers.delete(server));
    server.closeIdleConnections();
  }

  /** Ends every connection. */
  close(): void {
    this.shut();
    for (const server of this.#servers) server.closeAllConnections();
    for (const socket of this.#switched) socket.destroy();
  }

  #switch(request: IncomingMessage, socket: Duplex, ahead: Buffer): void {
    this.#connectionOf(request.socket).cancelIdle();
    this.#switched.add(socket);
    socket.on("close", () => this.#switched.delete(socket));
    this.#onUpgrade(request, socket, ahead);
  }

  #accept(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#connectionOf(request.socket);
    connection.cancelIdle();
    connection.uses += 1;
    response.on("close", () => this.#idle(request.socket, connection));
    this.#onRequest(request, response, connection);
  }

  #connectionOf(socket: Socket): Connection {
    const known = this.#connections.get(socket);
    if (known) return known;
    const connection: Connection = { number: ++this.#count, uses: 0, cancelIdle: () => {} };
    this.#connections.set(socket, connection);
    // The request in progress learns of a broken connection through its response.
    socket.on("error", () => {});
    socket.on("close", () => connection.cancelIdle());
    return connection;
  }

  #idle(socket: Socket, connection: Connection): void {
    const { keepAliveMs, clock } = this.#settings;
    if (keepAliveMs === 0 || socket.destroyed) return;
    connection.cancelIdle = clock.after(keepAliveMs, () => socket.destroy());
  }
}
