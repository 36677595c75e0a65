import type { RouterError } from "../contract/errors.ts";
import type { Head } from "../wire/head.ts";
import type { ResponseWriter } from "./response-writer.ts";

/**
 * What a host calls as one request goes on. The receiver ends the request and writes its response; a host only reports what
 * happens to it. After `clientGone`, `refuse` or `stop` no call of `body` or `bodyEnd` counts.
 */
export interface RequestReceiver {
  /** `chunk` is the caller's again once this returns: copy what must stay. */
  body(chunk: Uint8Array, start: number, end: number): void;
  bodyEnd(): void;
  /** The host can't read the request to its end: broken framing, a body that takes too long. The receiver responds with `error`. */
  refuse(error: RouterError): void;
  /** Nobody waits for the response any more. It may come at any time, and is then the last call. */
  clientGone(): void;
  /** The client takes bytes again after `write` returned false. */
  drained(): void;
  /** The host is stopping by force: respond with an error, or break a started response off. */
  stop(): void;
}

/** Starts one request; called when its head is complete. `bodyLength` is -1 for chunked, 0 for none. */
export type RequestStarter = (head: Head, bodyLength: number, response: ResponseWriter, peer: string) => RequestReceiver;
