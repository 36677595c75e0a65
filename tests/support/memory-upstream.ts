import type { Socket } from "node:net";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { Limits } from "../../core/settings.ts";
import type { Deadlines } from "../../core/wire/deadlines.ts";
import { UpstreamPool } from "../../core/wire/upstream-pool.ts";
import { asSocket, FakeSocket } from "./fake-socket.ts";

/** The router's connections to one replica, in memory: the replica does what the test says, when it says so. */
export class MemoryUpstream extends UpstreamPool {
  /** Every connection so far, the oldest first. */
  readonly sockets: FakeSocket[] = [];
  readonly #opened: (() => void)[] = [];

  constructor(endpoint: Endpoint, limits: Limits, deadlines: Deadlines) {
    super(endpoint.url, limits, deadlines, () => {});
  }

  override open(opened: () => void, read: (chunk: Buffer) => void): Socket {
    const socket = new FakeSocket();
    socket.on("data", (chunk: Buffer) => {
      read(chunk);
      // A real connection reads the next bytes into the same memory.
      chunk.fill("X");
    });
    this.sockets.push(socket);
    this.#opened.push(opened);
    return asSocket(socket);
  }

  /** The newest connection. */
  get socket(): FakeSocket {
    const socket = this.sockets.at(-1);
    if (socket === undefined) throw new Error("The router has not connected to this replica");
    return socket;
  }

  /** The replica accepts a connection. */
  accept(socket = this.socket): FakeSocket {
    this.#opened[this.sockets.indexOf(socket)]?.();
    return socket;
  }

  /** It refuses the newest one. */
  refuse(): void {
    this.socket.receiveReset();
  }

  /** Bytes arrive on a connection, which is accepted first if need be. */
  send(bytes: string, socket = this.socket): void {
    this.accept(socket).receive(Buffer.from(bytes));
  }
}
