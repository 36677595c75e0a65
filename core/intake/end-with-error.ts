import type { ActiveConfig } from "../active-config.ts";
import type { Dialect, RouterError } from "../contract/errors.ts";
import type { Outcome } from "../contract/outcome.ts";
import { errorEvent } from "../errors/dialects.ts";
import { respondWithError } from "../errors/error-response.ts";
import type { Forward } from "../forward/forward.ts";
import type { ResponseWriter } from "../host/response-writer.ts";
import type { Ticket } from "../request/ticket.ts";
import { corsLines } from "../wire/cors.ts";
import type { Head } from "../wire/head.ts";

/**
 * Sends an error response. If a response has begun, aborts it so that no client can take it for complete. Returns how the request ends.
 */
export function endWithError(
  error: RouterError,
  dialect: Dialect,
  head: Head,
  { settings }: ActiveConfig,
  ticket: Ticket,
  response: ResponseWriter,
  forward: Pick<Forward, "takesErrorEvent"> | undefined,
): Outcome["ending"] {
  if (!response.hasStarted) {
    respondWithError(response, error, dialect, ticket.id, corsLines(head, settings.cors));
    ticket.status = error.status;
    return "complete";
  }
  response.abort(forward?.takesErrorEvent ? errorEvent(error, dialect, ticket.id) : "");
  return "broken";
}
