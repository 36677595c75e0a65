import { connect, type Socket } from "node:net";

// A gRPC client on a plain socket, which shares no code with the server: every frame is written here, so tests can send what no
// library would.

const TYPE = { data: 0, headers: 1, rstStream: 3, settings: 4, ping: 6, goaway: 7, windowUpdate: 8, continuation: 9 };
const END_STREAM = 1;
const END_HEADERS = 4;
const HEAD_BYTES = 9;
/** Of a connection, and of each stream, before the peer says another one (RFC 9113, 6.9.2). */
const FIRST_WINDOW = 65_535;
const WINDOW = 2 ** 24;

/** One call, as its caller sees it. */
export interface ClientCall {
  readonly id: number;
  /** Messages that came. */
  readonly messages: readonly Buffer[];
  /** From the trailers; undefined before. */
  readonly status: number | undefined;
  /** Code of RST_STREAM; undefined if none came. */
  readonly resetCode: number | undefined;
  send(message: Uint8Array): void;
  /** Sends bytes as they are, in a DATA frame. */
  sendData(bytes: Uint8Array): void;
  end(): void;
  reset(code?: number): void;
}

interface OpenCall extends ClientCall {
  held: Buffer;
  messages: Buffer[];
  status: number | undefined;
  resetCode: number | undefined;
}

/** A connection to a gRPC server. */
export class GrpcClient {
  readonly socket: Socket;
  isClosed = false;
  goawayCode: number | undefined;
  /** PINGs of ours that were answered. */
  pongs = 0;
  readonly #isBegun: boolean;
  readonly #calls = new Map<number, OpenCall>();
  #held = Buffer.alloc(0);
  #next = 1;
  readonly #heedsCalls: boolean;
  /** Data that the server takes, on the connection; and on each call, by its id. */
  #window = FIRST_WINDOW;
  readonly #windows = new Map<number, number>();
  #waiting: { readonly id: number; readonly piece: Uint8Array }[] = [];

  /** `heedsCalls`: it waits for windows of calls too, which most tests don't need, and some overrun. */
  constructor(
    port: number,
    options: { readonly isBegun?: boolean; readonly streamWindow?: number; readonly heedsCalls?: boolean } = {},
  ) {
    const { isBegun = true, streamWindow = WINDOW, heedsCalls = false } = options;
    this.#heedsCalls = heedsCalls;
    this.#isBegun = isBegun;
    this.socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.socket.on("data", (chunk: Buffer) => this.#read(chunk));
    this.socket.on("error", () => {});
    this.socket.on("close", () => {
      this.isClosed = true;
    });
    if (!isBegun) return;
    this.socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    const settings = Buffer.alloc(6);
    settings.writeUInt16BE(4, 0);
    settings.writeUInt32BE(streamWindow, 2);
    this.frame(TYPE.settings, 0, 0, settings);
    this.frame(TYPE.windowUpdate, 0, 0, number32(WINDOW));
  }

  frame(type: number, flags: number, stream: number, payload: Uint8Array = new Uint8Array(0)): void {
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUIntBE(payload.length, 0, 3);
    head[3] = type;
    head[4] = flags;
    head.writeUInt32BE(stream, 5);
    this.socket.write(Buffer.concat([head, payload]));
  }

  /** Begins a call of a method, "/package.Service/Method". A header of `others` may be any. */
  call(path: string, others: readonly (readonly [name: string, value: string])[] = []): ClientCall {
    const id = this.#next;
    this.#next += 2;
    const headers = { ":method": "POST", ":scheme": "http", ":path": path, "content-type": "application/grpc", te: "trailers" };
    const block = Buffer.concat([...Object.entries(headers), ...others].map(([name, value]) => literal(name, value)));
    this.frame(TYPE.headers, END_HEADERS, id, block);
    const call: OpenCall = {
      id,
      held: Buffer.alloc(0),
      messages: [],
      status: undefined,
      resetCode: undefined,
      send: (message) => call.sendData(Buffer.concat([Buffer.from([0]), number32(message.length), message])),
      sendData: (bytes) => this.#data(id, bytes),
      end: () => this.frame(TYPE.data, END_STREAM, id),
      reset: (code = 8) => this.frame(TYPE.rstStream, 0, id, number32(code)),
    };
    this.#calls.set(id, call);
    return call;
  }

  close(): void {
    this.socket.destroy();
  }

  #data(id: number, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += 16_384) this.#waiting.push({ id, piece: bytes.subarray(at, at + 16_384) });
    this.#sendWaiting();
  }

  /** Sends what the windows let through, in the order of each call. */
  #sendWaiting(): void {
    const stuck = new Set<number>();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const data of waiting) {
      const { id, piece } = data;
      const window = this.#heedsCalls ? (this.#windows.get(id) ?? FIRST_WINDOW) : Number.POSITIVE_INFINITY;
      if (stuck.has(id) || piece.length > Math.min(window, this.#window)) {
        stuck.add(id);
        this.#waiting.push(data);
        continue;
      }
      this.#window -= piece.length;
      this.#windows.set(id, window - piece.length);
      this.frame(TYPE.data, 0, id, piece);
    }
  }

  #read(chunk: Buffer): void {
    this.#held = Buffer.concat([this.#held, chunk]);
    while (this.#held.length >= HEAD_BYTES && this.#held.length >= HEAD_BYTES + this.#held.readUIntBE(0, 3)) {
      const end = HEAD_BYTES + this.#held.readUIntBE(0, 3);
      const frame = this.#held.subarray(0, end);
      this.#held = this.#held.subarray(end);
      this.#take(frame[3]!, frame[4]!, frame.readUInt32BE(5), Buffer.from(frame.subarray(HEAD_BYTES)));
    }
  }

  #take(type: number, flags: number, id: number, payload: Buffer): void {
    const call = this.#calls.get(id);
    if (type === TYPE.settings && flags === 0 && this.#isBegun) this.frame(TYPE.settings, 1, 0);
    if (type === TYPE.ping && flags === 1) this.pongs += 1;
    if (type === TYPE.goaway) this.goawayCode = payload.readUInt32BE(4);
    if (type === TYPE.windowUpdate) this.#widen(id, payload.readUInt32BE(0));
    if (call === undefined) return;
    if (type === TYPE.rstStream) call.resetCode = payload.readUInt32BE(0);
    if (type === TYPE.headers && (flags & END_STREAM) !== 0) call.status = statusIn(payload);
    if (type !== TYPE.data) return;
    call.held = Buffer.concat([call.held, payload]);
    while (call.held.length >= 5 && call.held.length >= 5 + call.held.readUInt32BE(1)) {
      const end = 5 + call.held.readUInt32BE(1);
      call.messages.push(call.held.subarray(5, end));
      call.held = call.held.subarray(end);
    }
  }

  #widen(id: number, bytes: number): void {
    if (id === 0) this.#window += bytes;
    else this.#windows.set(id, (this.#windows.get(id) ?? FIRST_WINDOW) + bytes);
    this.#sendWaiting();
  }
}

function number32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value, 0);
  return bytes;
}

/** A header that is in no table. */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)]);
}

/** The server writes it without a table, too. */
function statusIn(block: Buffer): number {
  return Number(/grpc-status.(\d+)/s.exec(block.toString("latin1"))?.[1] ?? Number.NaN);
}
