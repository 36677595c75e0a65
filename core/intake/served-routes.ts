import type { ActiveConfig } from "../active-config.ts";
import { RouterError } from "../contract/errors.ts";
import { ADAPTER_PATHS } from "./adapter-routes.ts";

/** The list of models; each is at a path below it. */
export const MODELS_PATH = "/v1/models";

/** Paths that need no replica, for GET and HEAD. */
const LOCAL_PATHS: readonly string[] = [MODELS_PATH, "/health", "/ready"];

/** The error for a path that is not served (404), or not with this method (405). */
export function noSuchRoute(path: string, { routes }: ActiveConfig): RouterError {
  const allowed = methodsOf(path, routes);
  if (allowed !== "") return new RouterError("method_not_allowed", `Use ${allowed} for this path.`, { allow: allowed });
  return new RouterError("unknown_path", `This router does not serve that path; it serves ${servedPaths(routes)}.`);
}

/** The methods with which a path is served, such as "GET, HEAD"; "" for a path that is not served. */
export function methodsOf(path: string, routes: ActiveConfig["routes"]): string {
  const isLocal = LOCAL_PATHS.includes(path) || path.startsWith(`${MODELS_PATH}/`);
  const local = isLocal ? ["GET", "HEAD"] : ADAPTER_PATHS.includes(path) ? ["POST"] : [];
  return [...new Set([...local, ...(routes.get(path)?.keys() ?? [])])].join(", ");
}

function servedPaths(routes: ActiveConfig["routes"]): string {
  const parsed = [...routes].flatMap(([path, methods]) => [...methods.keys()].map((method) => `${method} ${path}`));
  return [...parsed, ...LOCAL_PATHS.map((path) => `GET ${path}`)].join(", ");
}
