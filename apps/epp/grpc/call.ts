import type { MemoryBudget } from "../../../core/body/memory-budget.ts";
import type { RouterError } from "../../../core/contract/errors.ts";
import { errorOf } from "../../../core/errors/wire-errors.ts";
import type { Http2Connection } from "./http2-connection.ts";
import { HEADROOM, type Http2Stream, type StreamReader } from "./http2-stream.ts";
import { MessageReader, type MessageSink } from "./message-reader.ts";

/** Why a call ends (the codes of gRPC). */
export const GRPC = {
  ok: 0,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const;

/** Bytes that a message leaves free in front, for the heads of its frame and of itself. */
export const MESSAGE_HEADROOM = HEADROOM + 5;

/** :status 200, content-type application/grpc, as a header block. */
const HEADERS = Buffer.concat([Buffer.from([0x88, 0x0f, 0x10, 16]), Buffer.from("application/grpc")]);

/** Who serves a call. Nothing is called after `gone`. */
export interface CallReader {
  /** One message; its bytes are overwritten once this returns. */
  message(bytes: Buffer): void;
  /** A message is too large, or there is no memory for it. */
  failed(error: RouterError): void;
  /** The peer sends no more. */
  ended(): void;
  /** The peer has gone. */
  gone(): void;
  /** After `send` returned false: there is room again. */
  drained(): void;
}

/** One call of a peer: messages in, messages out. */
export class Call implements StreamReader, MessageSink {
  reader: CallReader | undefined;
  readonly #stream: Http2Stream;
  readonly #connection: Http2Connection;
  readonly #messages: MessageReader;
  #isBegun = false;
  #isOver = false;

  constructor(stream: Http2Stream, connection: Http2Connection, memory: MemoryBudget, maxBodyBytes: number) {
    this.#stream = stream;
    this.#connection = connection;
    this.#messages = new MessageReader(this, memory, maxBodyBytes);
  }

  /** Sends the message that stands in `framed` behind MESSAGE_HEADROOM bytes. False when the caller should wait for `drained`. */
  send(framed: Buffer): boolean {
    if (this.#isOver) return true;
    this.#begin();
    framed[HEADROOM] = 0;
    framed.writeUInt32BE(framed.length - MESSAGE_HEADROOM, HEADROOM + 1);
    return this.#stream.send(framed);
  }

  /** Ends the call; nothing is read any more. `message` says why, for the peer's log. */
  end(status: number, message = ""): void {
    if (this.#isOver) return;
    this.#begin();
    this.#over();
    this.#stream.end(trailers(status, message));
  }

  /** Has the peer wait (true) until it may go on. */
  hold(isHeld: boolean): void {
    this.#connection.hold(this.#stream, isHeld);
  }

  data(chunk: Buffer, start: number, end: number): void {
    if (this.#isOver) return;
    try {
      this.#messages.push(chunk, start, end);
    } catch (thrown) {
      this.reader?.failed(errorOf(thrown));
    }
  }

  message(bytes: Buffer): void {
    this.reader?.message(bytes);
  }

  compressed(): void {
    this.end(GRPC.unimplemented, "Compressed messages are not supported");
    this.reader?.gone();
  }

  failed(error: RouterError): void {
    this.reader?.failed(error);
  }

  ended(): void {
    if (!this.#isOver) this.reader?.ended();
  }

  gone(): void {
    if (this.#isOver) return;
    this.#over();
    this.reader?.gone();
  }

  drained(): void {
    if (!this.#isOver) this.reader?.drained();
  }

  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.#stream.headers(HEADERS);
  }

  #over(): void {
    this.#isOver = true;
    this.#messages.close();
  }
}

const OK_TRAILERS = trailersOf(GRPC.ok, "");

function trailers(status: number, message: string): Buffer {
  return status === GRPC.ok && message === "" ? OK_TRAILERS : trailersOf(status, message);
}

function trailersOf(status: number, message: string): Buffer {
  const block = literal("grpc-status", String(status));
  return message === "" ? block : Buffer.concat([block, literal("grpc-message", encodeURI(message))]);
}

/** A header that is not put into the table (RFC 7541, 6.2.2). */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value.slice(0, 120))]);
}

/** At most 126 characters of ASCII. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([value.length]), Buffer.from(value, "latin1")]);
}
