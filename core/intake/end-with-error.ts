import type { Dialect, RouterError } from "../contract/errors.ts";
import type { Outcome } from "../contract/outcome.ts";
import { errorEvent } from "../errors/dialects.ts";
import { respondWithError } from "../errors/error-response.ts";
import type { Forward } from "../forward/forward.ts";
import { linesBesideId, type OwnAnswer } from "./own-lines.ts";

/**
 * Sends an error response. If a response has begun, aborts it so that no client can take it for complete. Returns how the request ends.
 */
export function endWithError(
  error: RouterError,
  dialect: Dialect,
  answer: OwnAnswer,
  forward: Pick<Forward, "takesErrorEvent"> | undefined,
): Outcome["ending"] {
  const { ticket, response } = answer;
  if (!response.hasStarted) {
    respondWithError(response, error, dialect, ticket.id, linesBesideId(answer, dialect));
    ticket.status = error.status;
    return "complete";
  }
  response.abort(forward?.takesErrorEvent ? errorEvent(error, dialect, ticket.id) : "");
  return "broken";
}
