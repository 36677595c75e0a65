import type { Dialect } from "../contract/errors.ts";
import { idLines } from "../errors/error-response.ts";
import type { RouterParts } from "../router-parts.ts";
import type { Run } from "../run.ts";
import { corsLines } from "../wire/cors.ts";
import type { Head } from "../wire/head.ts";

/** A request that the router itself responds to, perhaps before the pipeline knows of it. */
export interface OwnAnswer extends Pick<Run, "ticket" | "config" | "response"> {
  readonly head: Head;
  readonly parts: Pick<RouterParts, "features">;
}

/** Header lines of every response that no replica gives. */
export function ownLines(answer: OwnAnswer, dialect: Dialect): string {
  return idLines(answer.ticket.id) + linesBesideId(answer, dialect);
}

/** The same without the request's id. */
export function linesBesideId({ head, config, ticket, parts }: OwnAnswer, dialect: Dialect): string {
  const limits = parts.features.access?.lines(ticket, dialect) ?? "";
  return corsLines(head, config.settings.cors) + limits;
}
