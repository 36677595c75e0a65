import type { ActiveConfig } from "../active-config.ts";
import { isServing } from "../contract/endpoint.ts";
import type { DataPlane } from "../data-plane.ts";
import { respondWithJson } from "../errors/error-response.ts";
import type { Facts } from "../state/facts.ts";
import { corsLines } from "../wire/cors.ts";
import type { Head } from "../wire/head.ts";
import { answerPreflight, isPreflight } from "./preflight.ts";
import type { ResponseWriter } from "./response-writer.ts";

/** Paths that ask how the router is. Who asks is a machine, every few seconds, so observers are not told of it. */
const PROBE_PATHS: ReadonlySet<string> = new Set(["/health", "/ready"]);

export function isProbePath(path: string): boolean {
  return PROBE_PATHS.has(path);
}

/**
 * Responds to a request that needs no replica, preflights included. Returns the status; 0 for any other path or method.
 */
export function respondLocally(
  head: Head,
  path: string,
  config: ActiveConfig,
  { facts, startedAtS, isStopping }: Pick<DataPlane, "facts" | "startedAtS" | "isStopping">,
  response: ResponseWriter,
  requestId: string,
): number {
  const { method } = head;
  const { cors } = config.settings;
  const lines = `x-request-id: ${requestId}\r\nrequest-id: ${requestId}\r\n${corsLines(head, cors)}`;
  if (isPreflight(head, cors)) return answerPreflight(head, path, cors, config.routes, response, lines);
  if (method !== "GET" && method !== "HEAD") return 0;
  if (path === "/health") return respond(response, 200, lines, {});
  if (path === "/v1/models") return respond(response, 200, lines, modelList(config, facts, startedAtS));
  if (path === "/ready") return respondReady(response, lines, facts, isStopping);
  return 0;
}

function respond(response: ResponseWriter, status: number, lines: string, document: unknown): number {
  respondWithJson(response, status, lines, JSON.stringify(document));
  return status;
}

function respondReady(response: ResponseWriter, lines: string, { endpoints }: Facts, isStopping: boolean): number {
  const ready = endpoints.filter(isServing).length;
  const document = { ready, endpoints: endpoints.length, ...(isStopping && { stopping: true }) };
  return ready > 0 && !isStopping
    ? respond(response, 200, lines, document)
    : respond(response, 503, `${lines}retry-after: 1\r\n`, document);
}

/** Every name that a client may ask for now: the models of available endpoints, and the names of exact rewrites. */
function modelList({ rewriters }: ActiveConfig, { served }: Facts, startedAtS: number): unknown {
  const names = new Set(served);
  for (const { plugin } of rewriters) for (const name of plugin.clientModels) names.add(name);
  const data = [...names].map((id) => ({ id, object: "model", created: startedAtS, owned_by: "signalbox" }));
  return { object: "list", data };
}
