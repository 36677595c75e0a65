import { createServer, type Server, type Socket } from "node:net";

// The other end of ZMTP, written anew for the tests: a PUB socket, and a ROUTER socket that answers for what was missed.

const GREETING = Buffer.concat([
  Buffer.from([0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 3, 1]),
  Buffer.from("NULL".padEnd(20, "\0")),
  Buffer.alloc(32),
]);

export interface EventPublisherOptions {
  /** Whether missed events can be asked for; default true. */
  readonly hasReplay?: boolean;
  /** Batches that are kept for that. */
  readonly keeps?: number;
  /** Whether a replay's answers have the topic, as newer ones of vLLM. */
  readonly hasTopic?: boolean;
  /** Sends the greeting byte by byte, each in a packet of its own. */
  readonly isSlow?: boolean;
}

/** Publishes batches of events as an engine does. */
export class EventPublisher {
  readonly #options: EventPublisherOptions;
  readonly #pub: Server;
  readonly #router: Server;
  readonly #sockets = new Set<Socket>();
  readonly #subscribers = new Set<Socket>();
  readonly #kept: { readonly sequence: number; readonly payload: Buffer }[] = [];
  #next = 0;
  /** What was asked for: the first number of each replay. */
  readonly replays: number[] = [];
  /** The contexts of the answers to pings. */
  readonly pongs: string[] = [];

  private constructor(options: EventPublisherOptions) {
    this.#options = options;
    this.#pub = createServer((socket) => this.#meet(socket, "PUB", (body) => this.#subscribed(socket, body)));
    this.#router = createServer((socket) => {
      let parts: Buffer[] = [];
      this.#meet(socket, "ROUTER", (body, hasMore) => {
        parts.push(body);
        if (hasMore) return;
        const from = Number(parts.at(-1)!.readBigUInt64BE());
        parts = [];
        this.#replay(socket, from);
      });
    });
  }

  static async start(options: EventPublisherOptions = {}): Promise<EventPublisher> {
    const publisher = new EventPublisher(options);
    await Promise.all(
      [publisher.#pub, publisher.#router].map((server) => new Promise<void>((done) => server.listen(0, "127.0.0.1", done))),
    );
    return publisher;
  }

  get port(): number {
    return portOf(this.#pub);
  }

  get replayPort(): number {
    return portOf(this.#router);
  }

  get subscribers(): number {
    return this.#subscribers.size;
  }

  /** What GET /kv_event_sources says of it, as vLLM 0.32 does. */
  get sources(): string {
    const replay = this.#options.hasReplay === false ? null : `tcp://*:${this.replayPort}`;
    const source = { enable_kv_cache_events: true, publisher: "zmq", endpoint: `tcp://*:${this.port}`, replay_endpoint: replay };
    return JSON.stringify({ 0: source });
  }

  /** Publishes a batch; a lost one is only kept for replays. */
  publish(payload: Buffer, isLost = false): void {
    const sequence = this.#next++;
    this.#kept.push({ sequence, payload });
    if (this.#kept.length > (this.#options.keeps ?? 1_000)) this.#kept.shift();
    if (!isLost) this.send(Buffer.from("kv"), numberBytes(sequence), payload);
  }

  /** Sends a message as it is. */
  send(...parts: readonly Buffer[]): void {
    for (const socket of this.#subscribers) write(socket, parts);
  }

  /** Sends bytes as they are. */
  sendBytes(bytes: Buffer): void {
    for (const socket of this.#subscribers) socket.write(bytes);
  }

  /** The engine is a new process: its numbers begin again. */
  restart(): void {
    this.#kept.length = 0;
    this.#next = 0;
    this.disconnect();
  }

  disconnect(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.disconnect();
    await Promise.all([this.#pub, this.#router].map((server) => new Promise((done) => server.close(done))));
  }

  #meet(socket: Socket, type: string, message: (body: Buffer, hasMore: boolean) => void): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#sockets.delete(socket);
      this.#subscribers.delete(socket);
    });
    const ready = command("READY", property("Socket-Type", type));
    if (this.#options.isSlow) for (const byte of Buffer.concat([GREETING, ready])) socket.write(Buffer.from([byte]));
    else socket.write(Buffer.concat([GREETING, ready]));
    let rest = Buffer.alloc(0);
    let isGreeted = false;
    socket.on("data", (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      if (!isGreeted && rest.length >= 64) {
        isGreeted = true;
        rest = rest.subarray(64);
      }
      // Clients send short frames only.
      while (isGreeted && rest.length >= 2 && rest.length >= 2 + rest[1]!) {
        const [flags, body] = [rest[0]!, rest.subarray(2, 2 + rest[1]!)];
        rest = rest.subarray(2 + rest[1]!);
        if (flags === 4 && body.toString("latin1", 1, 5) === "PONG") this.pongs.push(body.toString("latin1", 5));
        if ((flags & 4) === 0) message(Buffer.from(body), (flags & 1) !== 0);
      }
    });
  }

  #subscribed(socket: Socket, body: Buffer): void {
    if (body[0] === 1) this.#subscribers.add(socket);
  }

  #replay(socket: Socket, from: number): void {
    this.replays.push(from);
    if (this.#options.hasReplay === false) return;
    const topic = this.#options.hasTopic === false ? [] : [Buffer.from("kv")];
    for (const { sequence, payload } of this.#kept)
      if (sequence >= from) write(socket, [Buffer.alloc(0), ...topic, numberBytes(sequence), payload]);
    write(socket, [Buffer.alloc(0), ...topic, Buffer.alloc(8, 0xff), Buffer.alloc(0)]);
  }
}

function write(socket: Socket, parts: readonly Buffer[]): void {
  for (const [at, part] of parts.entries()) {
    const more = at < parts.length - 1 ? 1 : 0;
    const head = Buffer.alloc(part.length > 255 ? 9 : 2);
    head[0] = more | (part.length > 255 ? 2 : 0);
    if (part.length > 255) head.writeBigUInt64BE(BigInt(part.length), 1);
    else head[1] = part.length;
    socket.write(Buffer.concat([head, part]));
  }
}

function command(name: string, rest: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from([name.length]), Buffer.from(name), rest]);
  return Buffer.concat([Buffer.from([4, body.length]), body]);
}

function property(name: string, value: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(value.length);
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), length, Buffer.from(value)]);
}

function numberBytes(sequence: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(sequence));
  return bytes;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Something that takes connections and says these bytes. */
export async function startTalker(bytes: Buffer): Promise<{ readonly port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.write(bytes);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    port: portOf(server),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

/** A port that nobody listens at. */
export async function closedPort(): Promise<number> {
  const talker = await startTalker(Buffer.alloc(0));
  await talker.close();
  return talker.port;
}
