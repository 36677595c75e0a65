import { isServing } from "../contract/endpoint.ts";
import { respondWithJson } from "../errors/error-response.ts";
import { isProbePath } from "../own-routes.ts";
import type { Run } from "../run.ts";
import { endpointsElsewhere } from "../slots.ts";
import { answerPreflight, isPreflight } from "./preflight.ts";

/**
 * Responds to what asks how the router is, and to browsers' preflights; `lines` are header lines of every response. Returns the status;
 * 0 for any other request.
 */
export function respondLocally(run: Run, lines: string): number {
  const { ticket, head, config } = run;
  const { cors } = config.settings;
  if (isPreflight(head, cors)) return answerPreflight(run, cors, lines);
  if ((head.method !== "GET" && head.method !== "HEAD") || !isProbePath(ticket.path)) return 0;
  return ticket.path === "/health" ? respond(run, 200, lines, {}) : respondReady(run, lines);
}

function respondReady(run: Run, lines: string): number {
  const { pool, identity } = run.parts;
  const { isStopping } = identity;
  const endpoints = [...pool.facts.endpoints, ...endpointsElsewhere(run.config.modules)];
  const ready = endpoints.filter(isServing).length;
  const document = { ready, endpoints: endpoints.length, ...(isStopping && { stopping: true }) };
  if (ready > 0 && !isStopping) return respond(run, 200, lines, document);
  return respond(run, 503, `${lines}retry-after: 1\r\n`, document);
}

function respond({ response }: Run, status: number, lines: string, document: unknown): number {
  respondWithJson(response, status, lines, JSON.stringify(document));
  return status;
}
