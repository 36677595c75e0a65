import type { RouterError } from "../errors.ts";
import type { HeaderView } from "../request.ts";
import type { RequestRun } from "./request-run.ts";

/**
 * Can the router read a body that comes with Content-Encoding? Called where a parser reads the body of such a request. What is returned gets
 * the body in place of `receiver`, and passes it on to that one decoded; the first decoder counts, and without one the request gets 415. The
 * replica gets the decoded body without that header, or the `original` with it. Only features of the router's own fill this slot.
 *
 * @example
 * decode: (run, receiver) => (run.head.get("content-encoding") === "plain" ? receiver : undefined)
 */
export interface DecodeSlot {
  decode?(run: RequestRun, receiver: RequestReceiver): BodyDecoder | undefined;
  /** The same for the whole body of a request that is not sent. Rejects with the RouterError that a client would get. */
  decodeWhole?(head: HeaderView, body: Uint8Array, mostBytes: number): Promise<Uint8Array>;
}

export interface BodyDecoder extends RequestReceiver {
  /** The body as it came, once all of it has: replicas get it, unless something is written into their body. Undefined: they never do. */
  readonly original?: Uint8Array | undefined;
}

/**
 * What a host calls while one request arrives. The receiver ends the request and writes its response; the host only reports what
 * happens. After `clientGone`, `refuse` or `stop`, calls of `body` and `bodyEnd` have no effect.
 */
export interface RequestReceiver {
  /** Body bytes chunk[start, end). The host may reuse `chunk` after the call, so the receiver copies what it keeps. */
  body(chunk: Uint8Array, start: number, end: number): void;
  bodyEnd(): void;
  /** The host can't read the whole request (broken framing, a body that takes too long). The receiver responds with `error`. */
  refuse(error: RouterError): void;
  /** The client has left. May be called at any time; it is then the last call. */
  clientGone(): void;
  /** After `write` returned false: the client can take more bytes. */
  drained(): void;
  /** The host must stop now: respond with an error, or abort a started response. */
  stop(): void;
}
