import type { ActiveConfig } from "../active-config.ts";
import { RouterError } from "../contract/errors.ts";
import { LOCAL_PATHS } from "./local-routes.ts";

/** The error for a path that is not served (404), or not with this method (405). */
export function noSuchRoute(path: string, { routes }: ActiveConfig): RouterError {
  const local = LOCAL_PATHS.includes(path) ? ["GET", "HEAD"] : [];
  const allowed = [...local, ...(routes.get(path)?.keys() ?? [])].join(", ");
  if (allowed !== "") return new RouterError("method_not_allowed", `Use ${allowed} for this path.`, { allow: allowed });
  return new RouterError("unknown_path", `This router does not serve that path; it serves ${servedPaths(routes)}.`);
}

function servedPaths(routes: ActiveConfig["routes"]): string {
  const parsed = [...routes].flatMap(([path, methods]) => [...methods.keys()].map((method) => `${method} ${path}`));
  return [...parsed, ...LOCAL_PATHS.map((path) => `GET ${path}`)].join(", ");
}
