import type { EndpointUrl } from "../../../../core/contract/endpoint.ts";
import { openSocket } from "../../../../core/wire/open-socket.ts";
import { commandFrame, FrameReader, messageFrame } from "./frames.ts";

/** As ZeroMQ names the two kinds of sockets that this end can be. */
export type SocketType = "SUB" | "DEALER";

export interface ZmtpOptions {
  readonly url: EndpointUrl;
  readonly type: SocketType;
  /** Of one message. */
  readonly maxBytes: number;
}

export interface ZmtpOwner {
  /** Messages may be sent now. */
  opened(): void;
  /** The parts are overwritten when it returns. What it throws ends the connection. */
  message(parts: readonly Uint8Array[]): void;
  /** It has ended, not by `close`; `why` is what a sentence about the peer ends with. */
  ended(why: string): void;
}

const GREETING_BYTES = 64;
const MECHANISM = "NULL";
const MECHANISM_AT = 12;
const MECHANISM_BYTES = 20;
const KEEP_ALIVE_MS = 15_000;
/** Beyond it the peer takes nothing. */
const MAX_UNSENT_BYTES = 1 << 20;

const PEERS: Readonly<Record<SocketType, readonly string[]>> = { SUB: ["PUB", "XPUB"], DEALER: ["ROUTER", "DEALER", "REP"] };

const encoder = new TextEncoder();
const decoder = new TextDecoder("latin1");

/** One connection to a ZeroMQ socket, by ZMTP 3.0 (RFC 23) without a security mechanism. Peers of 3.1 speak it with those of 3.0. */
export class ZmtpConnection {
  readonly #owner: ZmtpOwner;
  readonly #type: SocketType;
  readonly #socket: ReturnType<typeof openSocket>;
  readonly #frames: FrameReader;
  readonly #greeting = new Uint8Array(GREETING_BYTES);
  #greeted = 0;
  #isReady = false;
  #isOver = false;

  constructor({ url, type, maxBytes }: ZmtpOptions, owner: ZmtpOwner) {
    this.#owner = owner;
    this.#type = type;
    this.#frames = new FrameReader(
      { message: (parts) => this.#message(parts), command: (body) => this.#command(body) },
      maxBytes,
    );
    this.#socket = openSocket(
      url,
      () => {
        this.#socket.setKeepAlive(true, KEEP_ALIVE_MS);
        this.#write(ownGreeting());
        this.#write(commandFrame(ready(type)));
      },
      (chunk) => this.#read(chunk),
    );
    this.#socket.on("error", (error: Error & { readonly code?: string }) => this.#end(whyOf(error)));
    this.#socket.once("end", () => this.#end("it closed the connection"));
    this.#socket.once("close", () => this.#end("the connection ended"));
  }

  /** Sends one message. */
  send(...parts: readonly Uint8Array[]): void {
    for (const [at, part] of parts.entries()) this.#write(messageFrame(part, at < parts.length - 1));
  }

  close(): void {
    this.#isOver = true;
    this.#socket.destroy();
  }

  #read(chunk: Uint8Array): void {
    if (this.#isOver) return;
    try {
      const rest = this.#greeted < GREETING_BYTES ? this.#greet(chunk) : chunk;
      if (rest.length > 0) this.#frames.push(rest);
    } catch (thrown) {
      this.#end(thrown instanceof Error ? thrown.message : "what it sent can't be read");
    }
  }

  /** Takes the greeting's bytes, and returns what is behind them. */
  #greet(chunk: Uint8Array): Uint8Array {
    const taken = chunk.subarray(0, GREETING_BYTES - this.#greeted);
    this.#greeting.set(taken, this.#greeted);
    this.#greeted += taken.length;
    checkGreeting(this.#greeting.subarray(0, this.#greeted));
    return chunk.subarray(taken.length);
  }

  #message(parts: readonly Uint8Array[]): void {
    if (!this.#isReady) throw new Error("it sent a message before it was ready");
    // What an earlier message of the same read led to may have closed it.
    if (!this.#isOver) this.#owner.message(parts);
  }

  #command(body: Uint8Array): void {
    const nameLength = body[0] ?? 0;
    const name = decoder.decode(body.subarray(1, 1 + nameLength));
    const rest = body.subarray(1 + nameLength);
    if (name === "READY") this.#peerReady(rest);
    // A ping has a time to live in two bytes, and a context that the pong repeats.
    else if (name === "PING") this.#write(commandFrame(named("PONG", rest.subarray(2, 18))));
    else if (name === "ERROR") throw new Error("it refused the connection");
  }

  #peerReady(properties: Uint8Array): void {
    const type = property(properties, "socket-type");
    if (!PEERS[this.#type].includes(type)) throw new Error(`its socket is not of the type ${PEERS[this.#type][0]}`);
    if (this.#isReady) return;
    this.#isReady = true;
    this.#owner.opened();
  }

  #write(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#socket.write(bytes);
    if (this.#socket.writableLength > MAX_UNSENT_BYTES) this.#end("it takes nothing");
  }

  #end(why: string): void {
    if (this.#isOver) return;
    this.close();
    this.#owner.ended(why);
  }
}

function ownGreeting(): Uint8Array {
  const bytes = new Uint8Array(GREETING_BYTES);
  bytes[0] = 0xff;
  bytes[9] = 0x7f;
  bytes[10] = 3;
  bytes.set(encoder.encode(MECHANISM), MECHANISM_AT);
  return bytes;
}

/** Throws an Error if these first bytes of a greeting are none that this end can talk to. */
function checkGreeting(bytes: Uint8Array): void {
  const isSigned = bytes[0] === 0xff && (bytes.length < 10 || (bytes[9]! & 1) === 1);
  if (!isSigned) throw new Error("it does not speak ZMTP: the port is another service's");
  if (bytes.length > 10 && bytes[10]! < 3) throw new Error(`it speaks ZMTP ${bytes[10]}, and 3 is needed`);
  if (bytes.length < MECHANISM_AT + MECHANISM_BYTES) return;
  const name = decoder.decode(bytes.subarray(MECHANISM_AT, MECHANISM_AT + MECHANISM_BYTES)).replace(/\0+$/, "");
  if (name !== MECHANISM) throw new Error("it asks for a security mechanism of ZeroMQ, and only NULL is supported");
}

function ready(type: SocketType): Uint8Array {
  const property = (name: string, value: string) => {
    const bytes = new Uint8Array(1 + name.length + 4 + value.length);
    bytes[0] = name.length;
    bytes.set(encoder.encode(name), 1);
    new DataView(bytes.buffer).setUint32(1 + name.length, value.length);
    bytes.set(encoder.encode(value), 5 + name.length);
    return bytes;
  };
  const identity = type === "DEALER" ? property("Identity", "") : new Uint8Array(0);
  return named("READY", joined(property("Socket-Type", type), identity));
}

/** A command's body: its name, and what is behind it. */
function named(name: string, rest: Uint8Array): Uint8Array {
  return joined(Uint8Array.of(name.length), joined(encoder.encode(name), rest));
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(one.length + other.length);
  bytes.set(one);
  bytes.set(other, one.length);
  return bytes;
}

/** The value of a property of a READY command; "" if it is not there. `name` is in lower case. */
function property(bytes: Uint8Array, name: string): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; ) {
    const nameEnd = at + 1 + bytes[at]!;
    if (nameEnd + 4 > bytes.length) break;
    const end = nameEnd + 4 + view.getUint32(nameEnd);
    if (end > bytes.length) break;
    if (decoder.decode(bytes.subarray(at + 1, nameEnd)).toLowerCase() === name)
      return decoder.decode(bytes.subarray(nameEnd + 4, end));
    at = end;
  }
  return "";
}

function whyOf({ code = "" }: { readonly code?: string }): string {
  if (code === "ECONNREFUSED") return "nobody listens at its address";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "its host name can't be found";
  return `the connection failed${code === "" ? "" : ` (${code})`}`;
}
