import { RouterError } from "../../../core/contract/errors.ts";

export function lineFull(retryAfterS: number): RouterError {
  const message = "So many requests wait for a replica that no more can; send the request again when some of them have gone on.";
  return new RouterError("queue_full", message, { retryAfterS });
}

export function waitedTooLong(retryAfterS: number): RouterError {
  const message = "No replica had room for the request in the time that it may wait; send it again later.";
  return new RouterError("queue_timeout", message, { retryAfterS });
}
