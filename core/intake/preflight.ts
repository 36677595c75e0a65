import type { ActiveConfig } from "../active-config.ts";
import { RouterError } from "../contract/errors.ts";
import type { Run } from "../run.ts";
import { preflightLines } from "../wire/cors.ts";
import type { Head } from "../wire/head.ts";
import { methodsOf } from "./served-routes.ts";

type Cors = ActiveConfig["settings"]["cors"];

/** Whether the request is a browser's preflight that the router answers: may a page send the real request? */
export function isPreflight(head: Head, cors: Cors): cors is NonNullable<Cors> {
  if (cors === undefined || head.method !== "OPTIONS") return false;
  return head.get("access-control-request-method") !== undefined && head.get("origin") !== undefined;
}

/**
 * Answers a preflight with `lines` and what pages may do. Returns the status. Throws RouterError (403) for an origin that is not
 * listed.
 */
export function answerPreflight({ ticket, head, config, response }: Run, cors: NonNullable<Cors>, lines: string): number {
  if (cors.origins !== undefined && !cors.origins.has(head.get("origin") ?? ""))
    throw new RouterError(
      "origin_not_allowed",
      "Pages of this origin may not call the router; add it to spec.listen.cors.origins.",
    );
  const methods = methodsOf(ticket.path, config) || "GET, HEAD, POST";
  const asked = head.get("access-control-request-headers");
  response.start(204, "No Content", lines + preflightLines(asked, methods, cors), 0);
  response.end();
  return 204;
}
