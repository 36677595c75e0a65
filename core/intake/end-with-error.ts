import type { RouterError } from "../contract/errors.ts";
import type { Outcome } from "../contract/outcome.ts";
import { errorEvent } from "../errors/dialects.ts";
import { respondWithError } from "../errors/error-response.ts";
import type { Run } from "../run.ts";
import { linesBesideId } from "./own-lines.ts";

/**
 * Sends an error response. If a response has begun, aborts it so that no client can take it for complete; `takesErrorEvent`: after an
 * event with the error. Returns how the request ends.
 */
export function endWithError(error: RouterError, run: Run, takesErrorEvent: boolean): Outcome["ending"] {
  const { ticket, dialect, response } = run;
  if (!response.hasStarted) {
    respondWithError(response, error, dialect, ticket.id, linesBesideId(run));
    ticket.status = error.status;
    return "complete";
  }
  response.abort(takesErrorEvent ? errorEvent(error, dialect, ticket.id) : "");
  return "broken";
}
