import type { RouterError } from "../contract/errors.ts";
import type { Head } from "../wire/head.ts";
import type { ResponseWriter } from "./response-writer.ts";

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

/** Starts one request; called when its head is complete. `bodyLength` is in bytes: -1 for a chunked body, 0 for none. */
export type RequestStarter = (head: Head, bodyLength: number, response: ResponseWriter, peer: string) => RequestReceiver;
