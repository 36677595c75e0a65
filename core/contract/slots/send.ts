import type { RouterError } from "../errors.ts";
import type { RequestRun } from "./request-run.ts";

/**
 * How is a request sent that several endpoints serve together? Called when its decision has more than one leg; undefined: the first leg is
 * sent as if it were alone. At most one feature is asked. Only features of the router's own fill this slot: they send with `Forward`.
 *
 * @example
 * send: () => undefined
 */
export interface SendSlot {
  send?(run: RequestRun, owner: ForwardOwner): Sending | undefined;
}

/** Who ends the request. */
export interface ForwardOwner {
  /** No connection needs the request's body any more, and it is not sent again. Called at most once. */
  bodyDelivered(): void;
  /** The whole response was passed on. */
  completed(): void;
  /** There is no response, or it broke off after it began. */
  failed(error: RouterError): void;
  /** No replica took the request, the last ones because they could not be reached: it may be tried again later. Else it fails so. */
  unreached(error: RouterError): void;
  /** The first token came through a gateway, which sends the request itself. */
  promptProcessed?(nowMs: number): void;
  /** The last endpoint does not have the target, and did not process the request: another one may be chosen. */
  missedTarget(): void;
  /**
   * A replica responds with this status because it is full, and no other one is tried: whether the request goes on in another pool. Then
   * the sending was closed, and the response is not read.
   */
  leaves?(status: number): boolean;
}

/** One way of getting a request to a replica and its response back: the router sends it (Forward), or a gateway does (Handover). */
export interface Sending {
  begin(nowMs: number): void;
  /** Goes on with the ticket's newest decision, after `missedTarget`. */
  beginAgain(nowMs: number): void;
  /** The client can take more bytes. */
  drained(): void;
  /**
   * Ends what is under way. `result`: the replica's status, where that is the reason. Returns whether it is certain that no connection
   * needs the request's body any more.
   */
  close(result?: number): boolean;
  /** Whether an error event can follow what was passed on. */
  readonly takesErrorEvent: boolean;
}
