import type { Snapshot } from "../active-config.ts";
import { respondWithJson } from "../errors/error-response.ts";
import type { ResponseWriter } from "./response-writer.ts";

/** Paths that need no replica, by GET and HEAD. */
export const LOCAL_PATHS: readonly string[] = ["/v1/models", "/health", "/ready"];

/** Answers what needs no replica; returns the status, or 0 for a path or method that is not its own. */
export function answerLocally(
  method: string,
  path: string,
  snapshot: Snapshot,
  response: ResponseWriter,
  requestId: string,
): number {
  if (method !== "GET" && method !== "HEAD") return 0;
  const lines = `x-request-id: ${requestId}\r\nrequest-id: ${requestId}\r\n`;
  if (path === "/health") return answer(response, 200, lines, {});
  if (path === "/v1/models") return answer(response, 200, lines, modelList(snapshot));
  if (path === "/ready") return answerReady(response, lines, snapshot);
  return 0;
}

function answer(response: ResponseWriter, status: number, lines: string, document: unknown): number {
  respondWithJson(response, status, lines, JSON.stringify(document));
  return status;
}

function answerReady(response: ResponseWriter, lines: string, snapshot: Snapshot): number {
  const ready = snapshot.endpoints.filter((endpoint) => endpoint.phase === "ready").length;
  const document = { ready, endpoints: snapshot.endpoints.length };
  return ready > 0 ? answer(response, 200, lines, document) : answer(response, 503, `${lines}retry-after: 1\r\n`, document);
}

/** Every name a client may ask for now: what ready replicas serve, and the names of exact rewrites. */
function modelList(snapshot: Snapshot): unknown {
  const names = new Set(snapshot.served);
  for (const { plugin } of snapshot.rewriters) for (const name of plugin.clientModels) names.add(name);
  const data = [...names].map((id) => ({ id, object: "model", created: snapshot.startedAtS, owned_by: "signalbox" }));
  return { object: "list", data };
}
