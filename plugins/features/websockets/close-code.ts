import { CLOSE } from "../../../core/wire/websocket/close-codes.ts";

/** The code for an error that came as the answer to a first message. */
export function closeCodeOf(status: number): number {
  if (status === 413) return CLOSE.tooBig;
  if (status === 429 || status === 503) return CLOSE.tryAgainLater;
  return status >= 500 ? CLOSE.internalError : CLOSE.policy;
}
