import { idLines } from "../errors/error-response.ts";
import { linesOf } from "../forward/response-lines.ts";
import type { Run } from "../run.ts";
import { corsLines } from "../wire/cors.ts";

/** Header lines of every response that no replica gives. */
export function ownLines(run: Run): string {
  return idLines(run.ticket.id) + linesBesideId(run);
}

/** The same without the request's id. */
export function linesBesideId(run: Run): string {
  return corsLines(run.head, run.config.settings.cors) + linesOf(run);
}
