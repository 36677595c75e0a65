import type { RequestRun } from "../../../core/contract/slots/request-run.ts";
import type { Tap, TappedResponse } from "../../../core/contract/slots/tap.ts";
import { FirstIdTap } from "../../../core/stream/first-id-tap.ts";

/** Whether the replica stores the response, so that the next turn may name it. */
export function isStored({ ticket, parsed }: RequestRun): boolean {
  return ticket.api === "responses" && parsed?.isRepeatable === false;
}

/** Reads the id of a response that passes. */
export function responseIdTap({ status, isEventStream }: TappedResponse, found: (id: string) => void): Tap | undefined {
  return status >= 300 ? undefined : new FirstIdTap(isEventStream, found);
}
