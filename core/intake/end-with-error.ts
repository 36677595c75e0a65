import type { Dialect, RouterError } from "../contract/errors.ts";
import type { Outcome } from "../contract/outcome.ts";
import { errorEvent } from "../errors/dialects.ts";
import { respondWithError } from "../errors/error-response.ts";
import type { Forward } from "../forward/forward.ts";
import type { RouterParts } from "../router-parts.ts";
import type { Run } from "../run.ts";
import { corsLines } from "../wire/cors.ts";
import type { Head } from "../wire/head.ts";

/** A request that has ended, perhaps before the pipeline knew of it. */
interface Ended extends Pick<Run, "ticket" | "config" | "response"> {
  readonly head: Head;
  readonly parts: Pick<RouterParts, "features">;
}

/**
 * Sends an error response. If a response has begun, aborts it so that no client can take it for complete. Returns how the request ends.
 */
export function endWithError(
  error: RouterError,
  dialect: Dialect,
  { head, config, ticket, response, parts }: Ended,
  forward: Pick<Forward, "takesErrorEvent"> | undefined,
): Outcome["ending"] {
  if (!response.hasStarted) {
    const limits = ticket.principal === undefined ? "" : (parts.features.access?.lines(ticket, dialect) ?? "");
    respondWithError(response, error, dialect, ticket.id, corsLines(head, config.settings.cors) + limits);
    ticket.status = error.status;
    return "complete";
  }
  response.abort(forward?.takesErrorEvent ? errorEvent(error, dialect, ticket.id) : "");
  return "broken";
}
