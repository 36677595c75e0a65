import type { Socket } from "node:net";
import { MemoryBudget } from "../../core/body/memory-budget.ts";
import { ScanTurns } from "../../core/body/scan-turns.ts";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import { silentLog } from "../../core/contract/log.ts";
import { respondWithError } from "../../core/errors/error-response.ts";
import { intake } from "../../core/intake/starter.ts";
import { PluginFaults } from "../../core/plugin-watch/plugin-faults.ts";
import { PluginTimes } from "../../core/plugin-watch/plugin-times.ts";
import { LivePool } from "../../core/pool/live-pool.ts";
import type { RouterParts } from "../../core/router-parts.ts";
import { afterOthersReads } from "../../core/runtime/next-turn.ts";
import { ServerConnection } from "../../core/server/server-connection.ts";
import type { ServerShared } from "../../core/server/server-shared.ts";
import { factsOf } from "../../core/state/facts.ts";
import type { LoadTable } from "../../core/state/load.ts";
import { ClientCounts } from "../../core/wire/client-counts.ts";
import { Deadlines } from "../../core/wire/deadlines.ts";
import { UpstreamPool } from "../../core/wire/upstream-pool.ts";
import { type CleanRequest, takeCleanRequest } from "./clean-request.ts";
import { FakeClock } from "./fake-clock.ts";
import { asSocket, FakeSocket } from "./fake-socket.ts";
import { MemoryConnections } from "./memory-connections.ts";
import type { TestRouter } from "./router.ts";
import { jsonAnswer } from "./scripted-replica.ts";

/** What the replica in memory does with a request: bytes that arrive in these reads, then perhaps the connection's end. */
export interface MemoryAnswer {
  readonly pieces: readonly Buffer[];
  readonly ending?: "end" | "reset" | undefined;
}

/** Everything there was to see at both ends of one exchange. */
export interface Exchange {
  /** What the client received, as latin1. */
  readonly received: string;
  /** The router ended the client's connection. */
  readonly isClosed: boolean;
  /** What the replica parsed, by its own strict parser. */
  readonly requests: readonly CleanRequest[];
  /** Connections to the replica that may carry another request. */
  readonly keptUpstream: number;
}

/** "burst": the pieces arrive one after the other at once. "paced": everything settles after each of them. */
export type Pace = "burst" | "paced";

const OK: MemoryAnswer = { pieces: [Buffer.from(jsonAnswer('{"choices":[{"index":0}],"ok":true}'))] };
/** More turns than any exchange needs. */
const MAX_TURNS = 1000;
/** More turns than a connection may rest for: others that rest may be before it. */
const MOST_RESTS = 50;

/**
 * The whole way of a request through a running router, with its facts and its plugins, but over sockets in memory on both
 * sides: the test says what each read brings, and nothing waits for a clock or a kernel.
 */
export class MemoryRouter {
  answer: (request: CleanRequest) => MemoryAnswer = () => OK;
  /** What all deadlines go by. */
  readonly clock = new FakeClock();
  readonly #shared: ServerShared;
  readonly #load: LoadTable;
  readonly #slot: number;
  readonly #upstream: UpstreamPool;
  readonly #replica = new MemoryReplica((request) => this.answer(request));

  constructor(router: TestRouter) {
    const { config } = router.router;
    const { limits } = config.settings;
    const { clock } = this;
    const deadlines = new Deadlines(clock, 250);
    // As the only one of a new pool has it.
    const endpoint = { ...router.router.pool.facts.endpoints[0]!, slot: 0, generation: 0 };
    const upstream = new ReplicaUpstream(endpoint, limits, deadlines, this.#replica);
    const pool = new LivePool(
      config.settings,
      { clock, random: Math.random, log: silentLog },
      () => new MemoryConnections(() => upstream),
    );
    pool.publish(factsOf([endpoint]));
    const unobserved = { ...config, observers: [] };
    const parts: RouterParts = {
      services: { clock, random: () => 0.5, log: silentLog },
      configs: { take: () => unobserved, giveBack() {} },
      gate: {
        clients: new ClientCounts(0),
        memory: new MemoryBudget(2 ** 30, clock),
        scanTurns: new ScanTurns(clock, (run) => run()),
      },
      pool,
      plugins: { times: new PluginTimes(clock, silentLog), faults: new PluginFaults(clock, silentLog) },
      // The id is always the same, so that responses can be compared as they are.
      identity: { startedAtS: 0, isStopping: false, nextRequestId: () => "req-1" },
    };
    this.#load = pool.load;
    this.#slot = endpoint.slot;
    this.#upstream = upstream;
    this.#shared = {
      limits,
      clock,
      clients: parts.gate.clients,
      memory: parts.gate.memory,
      deadlines,
      ended() {},
      isDraining: false,
      start: intake(parts),
      refuse: (response, error) => respondWithError(response, error, "openai", "req-1"),
    };
  }

  /** The router's end of a new client connection. */
  connect(): FakeSocket {
    const client = new FakeSocket();
    new ServerConnection(asSocket(client), this.#shared);
    return client;
  }

  /** Opens a connection, sends the pieces, each as one read, and waits until nothing happens any more. */
  async exchange(pieces: readonly Buffer[], pace: Pace = "burst"): Promise<Exchange> {
    const client = this.connect();
    for (const piece of pieces) {
      client.receive(piece);
      if (pace === "paced") await this.settle([client]);
    }
    await this.settle([client]);
    const exchange = {
      received: client.takeWritten().toString("latin1"),
      isClosed: client.isEnded || client.destroyed,
      requests: this.takeRequests(),
      keptUpstream: this.#upstream.size,
    };
    client.destroy();
    this.#upstream.close();
    await this.settle([client]);
    const [inFlight, prefillTokens] = [this.#load.inFlight[this.#slot], this.#load.prefillTokens[this.#slot]];
    if (inFlight !== 0 || prefillTokens !== 0)
      throw new Error(`${inFlight} requests and ${prefillTokens} tokens are still counted`);
    return exchange;
  }

  /** What the replica parsed since the last call. */
  takeRequests(): CleanRequest[] {
    return this.#replica.takeRequests();
  }

  /** Waits until nothing happens any more. */
  async settle(clients: readonly FakeSocket[]): Promise<void> {
    let idleTurns = 0;
    let seen = -1;
    for (let turn = 0; idleTurns < (this.#hasUnread(clients) ? MOST_RESTS : 2); turn++) {
      if (turn === MAX_TURNS) throw new Error("The exchange does not come to an end");
      // A connection that rests after a long read goes on in a turn of the event loop.
      if (this.#hasUnread(clients)) await new Promise<void>(afterOthersReads);
      else await undefined;
      this.#replica.turn();
      let activity = this.#replica.activity;
      for (const { bytesWritten, unread } of clients) activity += bytesWritten - unread;
      idleTurns = activity === seen ? idleTurns + 1 : 0;
      seen = activity;
    }
  }

  #hasUnread(clients: readonly FakeSocket[]): boolean {
    return [...clients, ...this.#replica.sockets].some(({ unread }) => unread > 0);
  }
}

class ReplicaUpstream extends UpstreamPool {
  readonly #replica: MemoryReplica;

  constructor(endpoint: Endpoint, limits: ServerShared["limits"], deadlines: Deadlines, replica: MemoryReplica) {
    super(endpoint.url, limits, deadlines, () => {});
    this.#replica = replica;
  }

  override open(opened: () => void, read: (chunk: Buffer) => void): Socket {
    const socket = this.#replica.open(opened);
    socket.on("data", (chunk: Buffer) => {
      const lent = Buffer.from(chunk);
      read(lent);
      // A real connection reads the next bytes into the same memory.
      lent.fill("X");
    });
    return asSocket(socket);
  }
}

interface MemoryConnection {
  readonly socket: FakeSocket;
  opened: (() => void) | undefined;
  held: Buffer;
}

/** Takes requests apart by its own strict parser, keeps them, and answers as told. */
class MemoryReplica {
  activity = 0;
  readonly #answer: (request: CleanRequest) => MemoryAnswer;
  #connections: MemoryConnection[] = [];
  #requests: CleanRequest[] = [];

  constructor(answer: (request: CleanRequest) => MemoryAnswer) {
    this.#answer = answer;
  }

  open(opened: () => void): FakeSocket {
    const socket = new FakeSocket();
    this.#connections.push({ socket, opened, held: Buffer.alloc(0) });
    return socket;
  }

  get sockets(): FakeSocket[] {
    return this.#connections.map(({ socket }) => socket);
  }

  takeRequests(): CleanRequest[] {
    const requests = this.#requests;
    this.#requests = [];
    return requests;
  }

  /** Does what falls due: opens connections, reads, answers. */
  turn(): void {
    for (const connection of this.#connections) {
      const { opened } = connection;
      connection.opened = undefined;
      if (opened !== undefined) this.activity++;
      opened?.();
      this.#read(connection);
    }
    this.#connections = this.#connections.filter(({ socket, held }) => !socket.destroyed || held.length > 0);
  }

  #read(connection: MemoryConnection): void {
    const written = connection.socket.takeWritten();
    if (written.length === 0) return;
    this.activity += written.length;
    connection.held = Buffer.concat([connection.held, written]);
    for (let taken = takeCleanRequest(connection.held); taken !== undefined; taken = takeCleanRequest(connection.held)) {
      connection.held = taken.rest;
      this.#requests.push(taken.request);
      const { pieces, ending } = this.#answer(taken.request);
      for (const piece of pieces) connection.socket.receive(piece);
      if (ending === "end") connection.socket.receiveEnd();
      if (ending === "reset") connection.socket.receiveReset();
    }
    if (connection.held.length > 0) throw new Error("The router wrote something that is no whole request");
  }
}
