import { createHash, randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import type { Script } from "./scripted-replica.ts";

/** A frame of a WebSocket as it came, without its mask. */
export interface Frame {
  readonly isFinal: boolean;
  readonly opcode: number;
  readonly isMasked: boolean;
  readonly payload: Buffer;
}

export const TEXT = 1;
export const BINARY = 2;
const CLOSE = 8;
export const PING = 9;
export const PONG = 10;

/** Written with no code of the router's. */
export function frameBytes(opcode: number, payload: Buffer | string, isMasked: boolean, isFinal = true): Buffer {
  const body = Buffer.from(payload);
  const { length } = body;
  const lengthBytes = Buffer.alloc(length < 126 ? 1 : length < 65_536 ? 3 : 9);
  if (length < 126) lengthBytes[0] = length;
  else if (length < 65_536) lengthBytes.writeUInt16BE(length, 1);
  else lengthBytes.writeBigUInt64BE(BigInt(length), 1);
  if (length >= 126) lengthBytes[0] = length < 65_536 ? 126 : 127;
  if (isMasked) lengthBytes[0]! |= 0x80;
  const first = Buffer.of((isFinal ? 0x80 : 0) | opcode);
  if (!isMasked) return Buffer.concat([first, lengthBytes, body]);
  const mask = randomBytes(4);
  return Buffer.concat([first, lengthBytes, mask, body.map((byte, at) => byte ^ mask[at & 3]!)]);
}

export function closeBytes(code: number, reason: string, isMasked: boolean): Buffer {
  return frameBytes(CLOSE, Buffer.concat([Buffer.of(code >> 8, code & 0xff), Buffer.from(reason)]), isMasked);
}

/** Takes frames out of the bytes that come. */
class FrameTaker {
  #held: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): Frame[] {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const frames: Frame[] = [];
    for (let frame = this.#take(); frame !== undefined; frame = this.#take()) frames.push(frame);
    return frames;
  }

  #take(): Frame | undefined {
    const held = this.#held;
    if (held.length < 2) return undefined;
    const short = held[1]! & 0x7f;
    const isMasked = (held[1]! & 0x80) !== 0;
    const maskAt = short < 126 ? 2 : short === 126 ? 4 : 10;
    const start = maskAt + (isMasked ? 4 : 0);
    if (held.length < start) return undefined;
    const length = short < 126 ? short : short === 126 ? held.readUInt16BE(2) : Number(held.readBigUInt64BE(2));
    if (held.length < start + length) return undefined;
    const payload = Buffer.from(held.subarray(start, start + length));
    if (isMasked) for (let at = 0; at < length; at++) payload[at]! ^= held[maskAt + (at & 3)]!;
    this.#held = held.subarray(start + length);
    return { isFinal: (held[0]! & 0x80) !== 0, opcode: held[0]! & 0x0f, isMasked, payload };
  }
}

/** One end of a WebSocket: the client's or the replica's. */
export class WebSocketEnd {
  readonly socket: Socket;
  /** What the peer sent before the frames: the answer to the handshake, or the request. */
  head = "";
  readonly frames: Frame[] = [];
  receivedBytes = 0;
  isClosed = false;
  /** Frames are counted, and not kept. */
  countsOnly = false;
  readonly #isClient: boolean;
  readonly #taker = new FrameTaker();
  readonly #waiters = new Set<() => void>();

  constructor(socket: Socket, isClient: boolean) {
    this.socket = socket;
    this.#isClient = isClient;
    socket.on("error", () => {});
    socket.on("close", () => {
      this.isClosed = true;
      this.#wake();
    });
  }

  read(chunk: Buffer): void {
    this.receivedBytes += chunk.length;
    if (!this.countsOnly) this.frames.push(...this.#taker.push(chunk));
    this.#wake();
  }

  answered(head: string): void {
    this.head = head;
    this.#wake();
  }

  get status(): number {
    return Number(/^HTTP\/1\.1 (\d+)/.exec(this.head)?.[1] ?? 0);
  }

  get texts(): string[] {
    return this.frames.filter(({ opcode }) => opcode === TEXT).map(({ payload }) => payload.toString());
  }

  /** The Close that came, as "1001 reason"; "" if none did. */
  get closing(): string {
    const frame = this.frames.find(({ opcode }) => opcode === CLOSE);
    if (frame === undefined) return "";
    return frame.payload.length < 2 ? "none" : `${frame.payload.readUInt16BE(0)} ${frame.payload.toString("utf8", 2)}`;
  }

  say(payload: Buffer | string, opcode = typeof payload === "string" ? TEXT : BINARY, isFinal = true): boolean {
    return this.socket.write(frameBytes(opcode, payload, this.#isClient, isFinal));
  }

  close(code = 1000, reason = ""): void {
    this.socket.write(closeBytes(code, reason, this.#isClient));
  }

  /** Resolves when it holds, or the connection is closed. */
  until(isTrue: (end: this) => boolean): Promise<this> {
    return new Promise((resolve) => {
      const check = () => {
        if (!this.isClosed && !isTrue(this)) return;
        this.#waiters.delete(check);
        resolve(this);
      };
      this.#waiters.add(check);
      check();
    });
  }

  gone(): Promise<this> {
    return this.until(() => false);
  }

  #wake(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }
}

export interface OpenOptions {
  /** Further header lines, each with its CRLF. */
  readonly lines?: string;
  readonly key?: string;
  /** In place of those that a handshake has. */
  readonly handshake?: string;
  /** Sent in the same write. */
  readonly ahead?: Buffer;
  /** Default a new connection without TLS. */
  readonly socket?: Socket;
}

export const KEY = "dGhlIHNhbXBsZSBub25jZQ==";
/** What RFC 6455 1.3 has for that key. */
export const ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/** Opens a WebSocket, and resolves when the handshake is answered, however that is. */
export async function openWebSocket(port: number, path: string, options: OpenOptions = {}): Promise<WebSocketEnd> {
  const { lines = "", key = KEY, ahead = Buffer.alloc(0) } = options;
  const handshake =
    options.handshake ??
    `Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n`;
  const { socket = connect({ port, host: "127.0.0.1", noDelay: true }) } = options;
  const end = new WebSocketEnd(socket, true);
  let held = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    if (end.head !== "") return end.read(chunk);
    held = Buffer.concat([held, chunk]);
    const headEnd = held.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const head = held.toString("latin1", 0, headEnd);
    if (!head.startsWith("HTTP/1.1 101")) {
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (held.length < headEnd + 4 + length) return;
      end.answered(held.toString("latin1"));
      return;
    }
    end.answered(head);
    if (held.length > headEnd + 4) end.read(held.subarray(headEnd + 4));
  });
  const request = `GET ${path} HTTP/1.1\r\nHost: router.test\r\n${handshake}${lines}\r\n`;
  socket.write(Buffer.concat([Buffer.from(request), ahead]));
  return end.until(({ head }) => head !== "");
}

/** A replica's script that answers handshakes, and hands each session over when it is open. */
export function webSocketScript(opened: (end: WebSocketEnd) => void, lines = ""): Script {
  return (request, socket) => {
    const end = new WebSocketEnd(socket, false);
    end.answered(request.head);
    socket.removeAllListeners("data");
    socket.on("data", (chunk: Buffer) => end.read(chunk));
    const accept = createHash("sha1").update(`${request.headers.get("sec-websocket-key")}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept.digest("base64")}\r\n${lines}\r\n`,
    );
    opened(end);
  };
}
